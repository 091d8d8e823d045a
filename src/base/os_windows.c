/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <windows.h>

uint32_t gpume_os_processors(void)
{
    const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count < 1 ? 1 : (uint32_t)count;
}

void gpume_os_prefer_large_pages(void *memory, size_t bytes)
{
    (void)memory; /* only for users whom an administrator has allowed it */
    (void)bytes;
}

/* --- time */

uint64_t gpume_clock_ns(void)
{
    LARGE_INTEGER now, second; /* neither fails since Windows XP */
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    const uint64_t ticks = (uint64_t)now.QuadPart, per_second = (uint64_t)second.QuadPart;
    return ticks / per_second * 1000000000u + ticks % per_second * 1000000000u / per_second;
}

/* GetThreadTimes counts in steps of 16 ms, in which workers do several steps: wall time, which
 * counts what others do too, tells more. */
uint64_t gpume_clock_thread_ns(void)
{
    return gpume_clock_ns();
}

/* --- files */

#define PATH_UNITS 4096 /* longer paths have no files */

static bool widen(const char *path, wchar_t wide[PATH_UNITS])
{
    errno = EINVAL;
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, PATH_UNITS) > 0;
}

static void set_errno(DWORD error)
{
    const bool missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    errno = missing                         ? ENOENT
            : error == ERROR_ALREADY_EXISTS ? EEXIST
            : error == ERROR_DISK_FULL      ? ENOSPC
                                            : EACCES;
}

/* For the return values of Windows. */
static bool check(BOOL done)
{
    if (!done) {
        set_errno(GetLastError());
    }
    return done;
}

const char *gpume_os_separator(const char *path)
{
    const char *found = NULL;
    for (; *path; path++) {
        found = *path == '/' || *path == '\\' ? path : found;
    }
    return found;
}

bool gpume_os_make_folder(const char *path)
{
    wchar_t wide[PATH_UNITS];
    return widen(path, wide) && check(CreateDirectoryW(wide, NULL));
}

#define NO_FILE (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DEVICE)

bool gpume_os_is_other(const char *path)
{
    wchar_t wide[PATH_UNITS];
    const DWORD is = widen(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    return is != INVALID_FILE_ATTRIBUTES && (is & NO_FILE);
}

static bool is_file(HANDLE handle)
{
    BY_HANDLE_FILE_INFORMATION info;
    return GetFileType(handle) == FILE_TYPE_DISK && GetFileInformationByHandle(handle, &info) &&
           !(info.dwFileAttributes & NO_FILE);
}

static HANDLE open_handle(
    const char *path, DWORD access, DWORD share, DWORD disposition, DWORD flags)
{
    wchar_t wide[PATH_UNITS];
    if (!widen(path, wide)) {
        return INVALID_HANDLE_VALUE;
    }
    HANDLE handle = CreateFileW(wide, access, share, NULL, disposition, flags, NULL);
    check(handle != INVALID_HANDLE_VALUE);
    return handle;
}

/* A stream for a handle, which is closed if that fails. */
static FILE *windows_stream(HANDLE handle, int flags, const char *mode)
{
    const int fd = _open_osfhandle((intptr_t)handle, flags | _O_BINARY);
    FILE *file = fd >= 0 ? _fdopen(fd, mode) : NULL;
    if (!file && fd >= 0) {
        _close(fd);
    } else if (!file) {
        CloseHandle(handle);
    }
    return file;
}

FILE *gpume_os_open(const char *path, uint64_t *bytes)
{
    HANDLE handle =
        open_handle(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL);
    if (handle == INVALID_HANDLE_VALUE) {
        return NULL;
    }
    LARGE_INTEGER size = {.QuadPart = -1};
    *bytes = is_file(handle) && GetFileSizeEx(handle, &size) ? (uint64_t)size.QuadPart : UINT64_MAX;
    return windows_stream(handle, _O_RDONLY, "rb");
}

/* Who shares no writing is the only writer. It shares deletion, since Windows takes a new name for
 * that. */
FILE *gpume_os_create(const char *path)
{
    HANDLE handle = open_handle(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
        OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT);
    if (handle == INVALID_HANDLE_VALUE) {
        return NULL;
    }
    if (!is_file(handle) || !check(SetEndOfFile(handle))) {
        CloseHandle(handle);
        return NULL;
    }
    return windows_stream(handle, _O_WRONLY, "wb");
}

/* Fails while a program reads the other file; the next entry of the cache then takes its place. */
bool gpume_os_rename(const char *from, const char *to)
{
    wchar_t wide_from[PATH_UNITS], wide_to[PATH_UNITS];
    return widen(from, wide_from) && widen(to, wide_to) &&
           check(MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING));
}

void gpume_os_remove(const char *path)
{
    wchar_t wide[PATH_UNITS];
    if (widen(path, wide)) {
        DeleteFileW(wide);
    }
}

/* --- the Vulkan loader */

const char gpume_os_vulkan[] = "vulkan-1.dll";
const char gpume_os_vulkan_package[] = "it comes with the driver of a GPU";

/* Not from the current folder, where anybody may have put one. */
void *gpume_os_load(const char *name)
{
    return LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

/* memcpy, as C has no cast from data to functions. */
bool gpume_os_find(void *library, const char *name, void *function)
{
    FARPROC found = library ? GetProcAddress(library, name) : NULL;
    memcpy(function, &found, sizeof(found));
    return found;
}
