/* SPDX-License-Identifier: BSD-2-Clause */
#include "fault_runs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_SECONDS 1800 /* a run that takes longer counts as hung */
#define NAME_BYTES 64u

static void put(int fd, const char *path, int flags)
{
    const int opened = open(path, flags, 0666);
    if (opened < 0 || dup2(opened, fd) < 0) {
        perror(path);
        _exit(127);
    }
    (void)close(opened);
}

/* Sets up the run as a shell would. */
static void become(const char *number, const sigset_t *mask)
{
    char name[NAME_BYTES], value[NAME_BYTES], report[NAME_BYTES];
    const char *suffix = getenv("GPUME_FAULT_SUFFIX");
    snprintf(value, sizeof value, "%s%s", number, suffix ? suffix : "");
    snprintf(name, sizeof name, "%s.err", number);
    put(STDIN_FILENO, "/dev/null", O_RDONLY);
    put(STDOUT_FILENO, "out", O_WRONLY | O_CREAT | O_TRUNC);
    put(STDERR_FILENO, name, O_WRONLY | O_CREAT | O_TRUNC);
    snprintf(report, sizeof report, "../%s.report", number);
    if (chdir(number) != 0) {
        perror(number);
        _exit(127);
    }
    setenv(getenv("GPUME_FAULT_COUNTER"), value, 1);
    setenv("GPUME_FAULT_REPORT", report, 1);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Waits until the run ends or is killed, and appends its status to the report. */
static void await(pid_t child, const char *number, const sigset_t *ends)
{
    char path[NAME_BYTES];
    int how = 0;
    const bool ended =
        sigtimedwait(ends, NULL, &(struct timespec){.tv_sec = RUN_SECONDS}) == SIGCHLD;
    if (!ended) {
        (void)kill(child, SIGKILL);
    }
    (void)waitpid(child, &how, 0);
    snprintf(path, sizeof path, "%s.report", number);
    FILE *report = fopen(path, "a");
    if (!report) {
        perror(path);
        _exit(127);
    }
    fprintf(report, "status %d\n", WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how));
    fclose(report);
}

void fault_runs(void)
{
    char *list = getenv("GPUME_FAULT_RUNS"), *rest = NULL;
    sigset_t ends, mask;
    if (!list) {
        return;
    }
    unsetenv("LD_PRELOAD"); /* not for programs that the run starts */
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, &mask);
    for (char *number = strtok_r(list, " ", &rest); number; number = strtok_r(NULL, " ", &rest)) {
        const pid_t child = fork();
        if (child < 0) {
            perror("fork");
            _exit(127);
        }
        if (child == 0) {
            become(number, &mask);
            return;
        }
        await(child, number, &ends);
    }
    _exit(0);
}
