/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files/inputs: what is read is never replaced or removed, under whatever name; files/out: one file
 * under two names is no two outputs; files/path: what a terminal would obey. Works in its own
 * folder below the current one.
 */
#include "files/out.h"
#include "files/path.h"
#include "harness.h"
#include "logged.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void make(const char *name)
{
    FILE *file = fopen(name, "w");
    REQUIRE(file && fputs(name, file) >= 0 && fclose(file) == 0);
}

static bool holds(const char *name, const char *text)
{
    char data[64] = "";
    FILE *file = fopen(name, "r");
    const size_t bytes = file ? fread(data, 1, sizeof data - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    return bytes == strlen(text) && strcmp(data, text) == 0;
}

/* Opens an output that would replace the file; the status of that. */
static int opens(const char *name)
{
    struct gpume_out_set set = {.overwrite = true, .alone = true};
    struct gpume_out *out = NULL;
    const int status = gpume_out_open_in(&out, &set, name, &counting_log);
    gpume_out_close(&out);
    return status;
}

/* One kind of name each: what it stands for is refused as an output, and no other file is. */
static void test_names(void)
{
    static const struct {
        const char *name, *files; /* that it stands for */
    } cases[] = {
        {"a", "a"},
        {"./a", "a"},
        {"file:a", "a"},
        {"link", "a"},
        {"hard", "a"},
        {"p%02d.png", "p07.png p08.png"},
        {"sub/q%d.png", "sub/q3.png"},
        {"sub", "sub/vectors.csv"},
        {"concat:a|b", "a b"},
        {"crypto:b", "b"},
        {"none", ""},
        {"http://host/a", ""},
    };
    static const char *const all[] = {
        "a", "b", "p07.png", "p08.png", "p9.png", "sub/q3.png", "sub/vectors.csv"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        REQUIRE_EQUAL(gpume_inputs_add(cases[i].name), GPUME_OK);
        for (size_t j = 0; j < sizeof all / sizeof all[0]; j++) {
            const char *found = strstr(cases[i].files, all[j]);
            const size_t length = strlen(all[j]);
            const bool wanted = found && (found[length] == ' ' || found[length] == '\0') &&
                                (found == cases[i].files || found[-1] == ' ');
            if (opens(all[j]) != (wanted ? GPUME_AGAIN : GPUME_OK)) {
                fprintf(stderr, "%s: %s\n", cases[i].name, all[j]);
                REQUIRE(false);
            }
        }
        gpume_inputs_forget();
    }
}

static void test_other_names(void)
{
    REQUIRE_EQUAL(gpume_inputs_add_all("sub"), GPUME_OK);
    REQUIRE_EQUAL(opens("sub/q3.png"), GPUME_AGAIN);
    REQUIRE_EQUAL(opens("sub/vectors.csv"), GPUME_AGAIN);
    REQUIRE_EQUAL(gpume_inputs_add_all("a"), GPUME_OK);
    REQUIRE_EQUAL(opens("link"), GPUME_AGAIN);
    REQUIRE_EQUAL(opens("hard"), GPUME_AGAIN);
    REQUIRE_EQUAL(opens("sub/../a"), GPUME_AGAIN);
    struct gpume_out_set set = {.overwrite = true, .over_input = true};
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(gpume_out_open_in(&out, &set, "a", &counting_log), GPUME_OK);
    gpume_out_close(&out);
    gpume_inputs_forget();
    REQUIRE_EQUAL(opens("a"), GPUME_OK);
}

/* A descriptor, as the shell gives: of standard input, and of the output itself. */
static void test_descriptors(void)
{
    const int standard = dup(STDIN_FILENO), file = open("b", O_RDWR);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", file);
    REQUIRE(standard >= 0 && file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    REQUIRE_EQUAL(opens(name), GPUME_OK);
    REQUIRE_EQUAL(gpume_inputs_add("-"), GPUME_OK);
    REQUIRE_EQUAL(opens("b"), GPUME_AGAIN);
    REQUIRE_EQUAL(opens(name), GPUME_AGAIN);
    REQUIRE(dup2(standard, STDIN_FILENO) == STDIN_FILENO && close(standard) == 0);
    REQUIRE(close(file) == 0);
    gpume_inputs_forget();
}

/* Texts of which some are names: not "-" and ".", which have another meaning there. */
static void test_texts(void)
{
    const int standard = dup(STDIN_FILENO), file = open("b", O_RDWR);
    REQUIRE(standard >= 0 && file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    static const char *const texts[] = {"", "-", "sub", "file:sub", "iw/2", "1:2", "%d"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        REQUIRE_EQUAL(gpume_inputs_add_text(texts[i]), GPUME_OK);
    }
    REQUIRE_EQUAL(opens("a"), GPUME_OK);
    REQUIRE_EQUAL(opens("b"), GPUME_OK);
    REQUIRE_EQUAL(opens("sub/vectors.csv"), GPUME_OK);
    REQUIRE_EQUAL(gpume_inputs_add_text("link"), GPUME_OK);
    REQUIRE_EQUAL(gpume_inputs_add_text("p%02d.png"), GPUME_OK);
    REQUIRE_EQUAL(opens("a"), GPUME_AGAIN);
    REQUIRE_EQUAL(opens("p07.png"), GPUME_AGAIN);
    REQUIRE_EQUAL(opens("b"), GPUME_OK);
    REQUIRE(dup2(standard, STDIN_FILENO) == STDIN_FILENO && close(standard) == 0);
    REQUIRE(close(file) == 0);
    gpume_inputs_forget();
}

/* An input that becomes known only while the output is written. */
static void test_late(void)
{
    struct gpume_out_set set = {.overwrite = true};
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(gpume_out_open_in(&out, &set, "a", &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_text(out, "new"), GPUME_OK);
    REQUIRE_EQUAL(gpume_inputs_add("hard"), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_IO);
    gpume_out_close(&out);
    REQUIRE(holds("a", "a"));
    gpume_inputs_forget();
}

/* What a killed run has left may be the input. */
static void test_temporaries(void)
{
    make(".a.gpume-1-0.tmp");
    make(".a.gpume-1-1.tmp");
    REQUIRE_EQUAL(gpume_inputs_add(".a.gpume-1-0.tmp"), GPUME_OK);
    REQUIRE_EQUAL(opens("a"), GPUME_OK);
    REQUIRE(access(".a.gpume-1-0.tmp", F_OK) == 0 && access(".a.gpume-1-1.tmp", F_OK) != 0);
    gpume_inputs_forget();
    REQUIRE_EQUAL(opens("a"), GPUME_OK);
    REQUIRE(access(".a.gpume-1-0.tmp", F_OK) != 0);
}

/* By a link, and by a folder's other name. */
static void test_two_names(void)
{
    static const char *const others[] = {"late", "./new", "sub/../new", "folder/../new"};
    REQUIRE(symlink("new", "late") == 0 && symlink("sub", "folder") == 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct gpume_out_set set = {.overwrite = true, .alone = true, .together = true};
        struct gpume_out *out = NULL, *other = NULL;
        REQUIRE_EQUAL(gpume_out_open_in(&out, &set, "new", &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_open_in(&other, &set, others[i], &counting_log), GPUME_AGAIN);
        REQUIRE(strstr(logged.last, "named for two outputs") != NULL);
        REQUIRE_EQUAL(gpume_out_open_in(&other, &set, "b", &counting_log), GPUME_OK);
        gpume_out_close(&other);
        gpume_out_close(&out);
    }
    REQUIRE(unlink("late") == 0 && unlink("folder") == 0);
}

static void test_visible(void)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"a.mp4", "a.mp4"}, {"a\033[31mb", "a?[31mb"}, {"\n\r\t\177x", "????x"},
        {"\xc2\x9b"
         "31m",
            "?31m"}, /* CSI in UTF-8 */
        {"\x9b"
         "31m",
            "?31m"}, /* and alone */
        {"\xc3\x9b \xe2\x82\x9b \xf0\x9f\x98\x80", "\xc3\x9b \xe2\x82\x9b \xf0\x9f\x98\x80"},
        {"\xc3", "\xc3"},               /* cut */
        {"\xe2\x82\x1b[m", "\xe2??[m"}, /* cut by one */
        {"\xe0\x82\x9bm", "\xe0??m"},   /* longer than it must be: no character */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].name);
        gpume_visible_clean(text);
        if (strcmp(text, cases[i].shown) != 0) {
            fprintf(stderr, "case %zu: %s\n", i, text);
            REQUIRE(false);
        }
        FILE *file = fopen("shown", "w+");
        gpume_visible_put(cases[i].name, file);
        REQUIRE(fclose(file) == 0 && holds("shown", cases[i].shown));
    }
    REQUIRE(unlink("shown") == 0);
}

int main(void)
{
    char folder[] = "test_inputs.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("sub", 0700) != 0) {
        return 1;
    }
    static const char *const files[] = {
        "a", "b", "p07.png", "p08.png", "p9.png", "sub/q3.png", "sub/vectors.csv"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        make(files[i]);
    }
    REQUIRE(symlink("a", "link") == 0 && link("a", "hard") == 0);
    test_names();
    test_other_names();
    test_descriptors();
    test_texts();
    test_late();
    test_temporaries();
    test_two_names();
    test_visible();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        REQUIRE(unlink(files[i]) == 0);
    }
    REQUIRE(unlink("link") == 0 && unlink("hard") == 0 && rmdir("sub") == 0);
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
