/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target without a fuzzer, with every file of the given folders. Fails if a folder is
 * empty, so that a lost corpus is noticed.
 */
#include "fuzz.h"

#include <dirent.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define INPUT_BYTES_MAX ((size_t)1024 * 1024)

static uint8_t bytes[INPUT_BYTES_MAX];

static int replay_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* Exactly the file's size, so that sanitizers detect reads past its end. */
    uint8_t *copy = malloc(count > 0 ? count : 1);
    FUZZ_REQUIRE(copy);
    memcpy(copy, bytes, count);
    printf("%s\n", name);
    fflush(stdout); /* the last name printed is the file that failed */
    LLVMFuzzerTestOneInput(copy, count);
    free(copy);
    return 0;
}

static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    unsigned count = 0, failed = 0;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (entry->d_name[0] != '.') {
            failed += replay_file(folder, entry->d_name) != 0;
            count++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    printf("%s: %u inputs\n", folder, count);
    return count == 0 || failed > 0;
}

int main(int argc, char **argv)
{
    int status = argc < 2;
    for (int i = 1; i < argc; i++) {
        status |= replay_folder(argv[i]);
    }
    return status;
}
