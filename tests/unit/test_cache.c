/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base/cache in folders that are missing, inaccessible or full of invalid files; and what
 * gpume_open stores there with Vulkan, if there is a device.
 */
#include "base/cache.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "logged.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "/tmp/gpume-test-XXXXXX";

/* A path below the scratch folder, good for the next 31 calls. */
static const char *place(const char *name)
{
    static char paths[32][256];
    static unsigned next;
    char *path = paths[next++ % 32];
    snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
    return path;
}

static size_t read_file(const char *path, char *data, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(data, 1, bytes, file) : 0;
    if (file) {
        fclose(file);
    }
    return got;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file && fwrite(data, 1, bytes, file) == bytes);
    if (file) {
        fclose(file);
    }
}

static bool holds(
    const struct gpume_cache *cache, const char *name, const void *wanted, size_t bytes)
{
    void *data = NULL;
    size_t got = 0;
    bool found = gpume_cache_load(cache, name, &data, &got);
    bool same = found && got == bytes && memcmp(data, wanted, bytes) == 0;
    free(data);
    return same;
}

static bool absent(const struct gpume_cache *cache, const char *name)
{
    void *data = NULL;
    size_t bytes = 0;
    bool found = gpume_cache_load(cache, name, &data, &bytes);
    free(data);
    return !found && !data && bytes == 0;
}

static void test_entries(void)
{
    const struct gpume_cache cache = {place("made/gpume"), &counting_log};
    struct stat info;
    REQUIRE(absent(&cache, "one"));
    REQUIRE(gpume_cache_store(&cache, "one", "first", 5));
    REQUIRE(stat(place("made"), &info) == 0 && (info.st_mode & 0777) == 0700);
    REQUIRE(stat(place("made/gpume"), &info) == 0 && (info.st_mode & 0777) == 0700);
    REQUIRE(holds(&cache, "one", "first", 5));
    REQUIRE(gpume_cache_store(&cache, "one", "another", 7));
    REQUIRE(holds(&cache, "one", "another", 7));
    REQUIRE(gpume_cache_store(&cache, "two", "", 0));
    REQUIRE(holds(&cache, "two", "", 0));
    REQUIRE_EQUAL(rename(place("made/gpume/one"), place("made/gpume/two")), 0);
    REQUIRE(absent(&cache, "one"));
    REQUIRE(absent(&cache, "two")); /* it was stored as "one" */
    char *large = calloc(1, GPUME_CACHE_BYTES_MAX + 1);
    REQUIRE(gpume_cache_store(&cache, "large", large, GPUME_CACHE_BYTES_MAX));
    REQUIRE(holds(&cache, "large", large, GPUME_CACHE_BYTES_MAX));
    REQUIRE(!gpume_cache_store(&cache, "large", large, GPUME_CACHE_BYTES_MAX + 1));
    free(large);
    const struct gpume_cache none = {NULL, &counting_log};
    REQUIRE(absent(&none, "one"));
    REQUIRE(!gpume_cache_store(&none, "one", "first", 5));
    REQUIRE_EQUAL(logged.errors + logged.warnings, 0);
}

/* Any changed byte, any missing part, any additional byte. */
static void test_damage(void)
{
    const struct gpume_cache cache = {place("damage"), &counting_log};
    char path[256], good[128], bad[128];
    REQUIRE(gpume_cache_store(&cache, "entry", "sixteen or so...", 16));
    snprintf(path, sizeof(path), "%s", place("damage/entry"));
    size_t bytes = read_file(path, good, sizeof(good));
    REQUIRE(bytes > 16 && bytes < sizeof(good));
    for (size_t i = 0; i < bytes; i++) {
        memcpy(bad, good, bytes);
        bad[i] = (char)(bad[i] ^ 0x10);
        write_file(path, bad, bytes);
        REQUIRE(absent(&cache, "entry"));
        write_file(path, good, i);
        REQUIRE(absent(&cache, "entry"));
    }
    memcpy(bad, good, bytes);
    bad[bytes] = 0;
    write_file(path, bad, bytes + 1);
    REQUIRE(absent(&cache, "entry"));
    write_file(path, good, bytes);
    REQUIRE(holds(&cache, "entry", "sixteen or so...", 16));
    write_file(path, "rubbish", 7);
    REQUIRE_EQUAL(truncate(path, (off_t)1 << 40), 0); /* sparse */
    REQUIRE(absent(&cache, "entry"));
    REQUIRE(gpume_cache_store(&cache, "entry", "new", 3));
    REQUIRE(holds(&cache, "entry", "new", 3));
    REQUIRE_EQUAL(logged.errors + logged.warnings, 0);
}

/* Anything but a regular file is neither read nor replaced, and not waited for. */
static void test_places(void)
{
    const struct gpume_cache cache = {place("places"), &counting_log};
    struct stat info;
    REQUIRE(gpume_cache_store(&cache, "file", "x", 1));
    REQUIRE_EQUAL(mkfifo(place("places/fifo"), 0600), 0);
    REQUIRE_EQUAL(mkdir(place("places/folder"), 0700), 0);
    REQUIRE_EQUAL(symlink("elsewhere", place("places/link")), 0);
    static const char *const names[] = {"fifo", "folder", "link"};
    for (size_t i = 0; i < 3; i++) {
        REQUIRE(absent(&cache, names[i]));
        REQUIRE(!gpume_cache_store(&cache, names[i], "x", 1));
    }
    REQUIRE(lstat(place("places/fifo"), &info) == 0 && S_ISFIFO(info.st_mode));
    REQUIRE(lstat(place("places/elsewhere"), &info) != 0);
    const char *const folders[] = {
        place("places/file"), place("no/such/home"), "/proc/gpume", "/dev/null/x"};
    for (size_t i = 0; i < 4; i++) {
        const struct gpume_cache shut = {folders[i], &counting_log};
        logged.debugs = 0;
        REQUIRE(absent(&shut, "entry"));
        REQUIRE(!gpume_cache_store(&shut, "entry", "x", 1));
        REQUIRE_EQUAL(logged.debugs, 1);
    }
    REQUIRE(lstat(place("no"), &info) != 0);
    REQUIRE_EQUAL(logged.errors + logged.warnings, 0);
}

/* Finds the only entry of a folder; false if there are none or several. */
static bool only_entry(const char *folder, char name[256])
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
            snprintf(name, 256, "%.200s", entry->d_name);
            count++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return count == 1;
}

/* Counts messages, apart from the list of stages and the check of the sort, which the first context
 * of a process makes. */
static void count_line(void *opaque, enum gpume_log_level level, const char *line)
{
    if (strncmp(line, "stage ", 6) != 0 && strncmp(line, "sort checked", 12) != 0) {
        logged_line(opaque, level, line);
    }
}

/* Opens and closes a context; returns the number of its debug messages that count_line counts. */
static unsigned open_once(const char *folder, uint32_t block)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = 64;
    params.block = block;
    params.backend = GPUME_BACKEND_VULKAN;
    params.log = count_line;
    params.cache_dir = folder;
    params.search = "quads"; /* even on hardware, nothing is tried or stored */
    logged.debugs = 0;
    gpume *ctx = NULL;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    REQUIRE_EQUAL(logged.errors + logged.warnings, 0);
    return logged.debugs;
}

static ino_t inode(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

static void test_pipelines(void)
{
    char folder[256], name[256], path[600];
    snprintf(folder, sizeof(folder), "%s", place("pipelines"));
    const struct gpume_cache cache = {folder, &counting_log};
    REQUIRE_EQUAL(open_once(NULL, 8), 1); /* with its time */
    REQUIRE_EQUAL(open_once(folder, 8), 1);
    if (!only_entry(folder, name)) { /* as with lavapipe of Mesa 26.2, which cuts the data */
        const char *vulkan = getenv("GPUME_TEST_VULKAN");
        REQUIRE(!vulkan || strcmp(vulkan, "required") != 0);
        printf("this driver gives no pipelines to store: they are not tested\n");
        return;
    }
    REQUIRE(strncmp(name, "pipelines-", 10) == 0);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    ino_t cold = inode(path);
    REQUIRE_EQUAL(open_once(folder, 8), 1);
    REQUIRE(cold != 0 && inode(path) == cold); /* warm: nothing to write */

    void *data = NULL;
    size_t bytes = 0;
    REQUIRE(gpume_cache_load(&cache, name, &data, &bytes) && bytes >= 32);
    if (!data) {
        return;
    }
    REQUIRE_EQUAL(truncate(path, 40), 0);
    REQUIRE_EQUAL(open_once(folder, 8), 2);
    REQUIRE(inode(path) != cold && !absent(&cache, name)); /* replaced */
    /* Another device's data, and data shorter than their header: valid as cache entries. */
    static const size_t at[] = {8, 12, 16, 31, 0};
    for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
        ((char *)data)[at[i]] ^= 1;
        REQUIRE(gpume_cache_store(&cache, name, data, bytes));
        REQUIRE_EQUAL(open_once(folder, 8), 1);
        REQUIRE(!holds(&cache, name, data, bytes));
        ((char *)data)[at[i]] ^= 1;
    }
    REQUIRE(gpume_cache_store(&cache, name, data, 31));
    REQUIRE_EQUAL(open_once(folder, 8), 1);
    REQUIRE(!holds(&cache, name, data, 31));
    REQUIRE_EQUAL(open_once(folder, 16), 1);
    REQUIRE(only_entry(folder, name));
    free(data);
    REQUIRE_EQUAL(open_once("/proc/gpume", 8), 2);
    REQUIRE_EQUAL(open_once("/dev/null", 8), 2);
}

int main(void)
{
    REQUIRE(mkdtemp(scratch));
    test_entries();
    test_damage();
    test_places();
    uint32_t devices = 0;
    REQUIRE_EQUAL(gpume_list_devices(NULL, 0, &devices), GPUME_OK);
    if (devices > 0) {
        test_pipelines();
    } else {
        printf("no Vulkan device: pipelines are not tested\n");
    }
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", scratch);
    REQUIRE_EQUAL(system(command), 0);
    return harness_verdict();
}
