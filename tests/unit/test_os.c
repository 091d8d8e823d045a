/* SPDX-License-Identifier: BSD-2-Clause */
/* What base/os.h promises, on every system; and base/cache over it. Files lie in a folder that it
 * makes in the current one. */
#include "base/cache.h"
#include "base/os.h"
#include "harness.h"
#include "logged.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* A name that no 8-bit code page has whole, as the library and as the system's own calls take it.
 */
#define FOLDER "os-test-\u00e9\u65e5"
#if defined(_WIN32)
#define OWN L""
#define own_open(path) _wfopen(path, L"rb")
#define own_remove_folder _wrmdir
#else
#define OWN u8""
#define own_open(path) fopen(path, "rb")
#define own_remove_folder rmdir
#endif
static const char folder[] = u8"" FOLDER;
static const char draft[] = u8"" FOLDER "/draft.new", name[] = u8"" FOLDER "/draft";

/* Bytes that streams of text would change or end at. */
static const char bytes[] = "one\r\ntwo\n\x1a\xff three\r";

static void write_draft(const char *text, size_t length)
{
    FILE *file = gpume_os_create(draft);
    REQUIRE(file != NULL);
    if (file) {
        REQUIRE(gpume_os_create(draft) == NULL); /* one writer at a time */
        REQUIRE(fwrite(text, 1, length, file) == length && fflush(file) == 0);
        REQUIRE(gpume_os_rename(draft, name));
        REQUIRE_EQUAL(fclose(file), 0);
    }
}

static void require_file(FILE *file, const char *text, size_t length)
{
    char got[64];
    REQUIRE(file != NULL);
    if (file) {
        REQUIRE(fread(got, 1, sizeof(got), file) == length && memcmp(got, text, length) == 0);
        fclose(file);
    }
}

static void test_files(void)
{
    uint64_t size = 0;
    REQUIRE(!gpume_os_make_folder(u8"" FOLDER "/no/folder") && errno == ENOENT);
    REQUIRE(gpume_os_make_folder(folder));
    REQUIRE(!gpume_os_make_folder(folder) && errno == EEXIST);
    REQUIRE(gpume_os_is_other(folder) && !gpume_os_is_other(name));
    REQUIRE(gpume_os_open(name, &size) == NULL && errno == ENOENT);
    REQUIRE(!gpume_os_rename(draft, name) && errno == ENOENT);
    FILE *file = gpume_os_open(folder, &size);
    REQUIRE(!file || size == UINT64_MAX);
    if (file) {
        fclose(file);
    }
    REQUIRE(gpume_os_create(folder) == NULL);
    write_draft(bytes, sizeof(bytes));
    REQUIRE(!gpume_os_is_other(name));
    require_file(gpume_os_open(name, &size), bytes, sizeof(bytes));
    REQUIRE_EQUAL(size, sizeof(bytes));
    require_file(own_open(OWN FOLDER "/draft"), bytes, sizeof(bytes));
    write_draft("new", 3); /* in place of the other */
    require_file(gpume_os_open(name, &size), "new", 3);
    REQUIRE_EQUAL(size, 3);
    file = gpume_os_create(name); /* empties it */
    REQUIRE(file && fclose(file) == 0);
    require_file(gpume_os_open(name, &size), "", 0);
    gpume_os_remove(name);
    REQUIRE(gpume_os_open(name, &size) == NULL);
}

static void test_cache(void)
{
    const struct gpume_cache cache = {u8"" FOLDER "/made/gpume", &counting_log};
    const struct gpume_cache far = {u8"" FOLDER "/no/such/home", &counting_log};
    void *data = NULL;
    size_t length = 0;
    for (uint32_t i = 0; i < 2; i++) { /* the second takes the place of the first */
        REQUIRE(gpume_cache_store(&cache, "entry", bytes + i, sizeof(bytes) - i));
        REQUIRE(gpume_cache_load(&cache, "entry", &data, &length));
        REQUIRE(length == sizeof(bytes) - i && memcmp(data, bytes + i, length) == 0);
        free(data);
    }
    REQUIRE_EQUAL(logged.debugs, 0);
    REQUIRE(!gpume_cache_store(&far, "entry", bytes, sizeof(bytes)));
    REQUIRE(!gpume_cache_store(&cache, "../gpume", bytes, sizeof(bytes))); /* a folder */
    REQUIRE_EQUAL(logged.debugs, 2);
    gpume_os_remove(u8"" FOLDER "/made/gpume/entry");
    REQUIRE_EQUAL(own_remove_folder(OWN FOLDER "/made/gpume"), 0);
    REQUIRE_EQUAL(own_remove_folder(OWN FOLDER "/made"), 0);
}

static void test_system(void)
{
    const char path[] = "some/where";
    void (*function)(void) = test_cache;
    REQUIRE(gpume_os_separator(path) == path + 4 && gpume_os_separator("some") == NULL);
    REQUIRE(gpume_os_processors() >= 1);
    REQUIRE(gpume_os_load("no-such-library") == NULL);
    REQUIRE(!gpume_os_find(NULL, "main", &function) && !function);
    /* Processor time grows while a thread works, however coarse its clock is. */
    const uint64_t work = gpume_clock_thread_ns(), start = gpume_clock_ns();
    while (gpume_clock_thread_ns() - work < 1000000) {
    }
    REQUIRE(gpume_clock_ns() - start >= 500000);
}

int main(void)
{
    test_files();
    test_cache();
    REQUIRE_EQUAL(own_remove_folder(OWN FOLDER), 0);
    test_system();
    return harness_verdict();
}
