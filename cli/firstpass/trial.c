/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pipe2, environ */
#include "firstpass/trial.h"

#include "base/os.h"
#include "files/out.h"
#include "files/path.h"
#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TAIL_BYTES 600u /* of a program's messages, which are shown if it fails */
#define TAIL_LINES 3u
#define POLL_MS 50         /* between looks at signals */
#define ROOM_BYTES 4096    /* that a file takes which was not cut: no full disk has them left */
#define STATUS_UNKNOWN 127 /* of a program that could not be started after all */

enum { ENCODER, FEED, PROGRAMS }; /* the feed's output is the encoder's input */

struct program {
    char *const *argv; /* NULL: there is none */
    int messages;      /* its standard error, and of the encoder standard output; -1: closed */
    char tail[TAIL_BYTES + 1];
    size_t tail_bytes;
    bool runs;
    int status; /* of waitpid, when it has ended */
};

struct trial_run {
    const struct gpume_trial_pass *pass;
    int fd; /* of the encoded video */
    struct program programs[PROGRAMS];
    struct gpume_progress progress;
};

/* What has to be ended and removed if the program ends in the middle. A process is waited for with
 * the mutex locked, so its number cannot be another one's when it is ended. */
static struct {
    pthread_mutex_t mutex; /* no function of job.h is called with it: `leave` takes it last */
    pid_t pids[PROGRAMS];  /* 0: none */
    char *output;
} running = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void kill_programs(int number)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (running.pids[i] > 0) {
            (void)kill(running.pids[i], number);
        }
    }
}

/* The mutex stays locked: nothing is started any more. */
static void leave(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&running.mutex);
    kill_programs(SIGKILL);
    (void)unlink(running.output);
}

/* --- programs */

static bool has_program(const char *name)
{
    const char *folders = getenv("PATH");
    struct stat info;
    char path[4096];
    while (folders && *folders) {
        const int length = (int)strcspn(folders, ":");
        const int bytes =
            snprintf(path, sizeof(path), "%.*s%s%s", length, folders, length > 0 ? "/" : "", name);
        if (bytes < (int)sizeof(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
            access(path, X_OK) == 0) {
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

static enum gpume_exit refuse_missing_program(
    enum gpume_exit status, const char *option, const char *name)
{
    return gpume_refuse(status, "%s: the program %s is not installed; install it, or leave out %s",
        option, name, option);
}

enum gpume_exit gpume_trial_check_program(const char *option, const char *name)
{
    return has_program(name) ? GPUME_EXIT_DONE
                             : refuse_missing_program(GPUME_EXIT_USAGE, option, name);
}

enum gpume_exit gpume_trial_check_video(enum gpume_exit status, const char *option,
    const struct gpume_encoder *encoder, const struct gpume_pass_video *video)
{
    return !encoder->program_reads || encoder->program_reads(video)
               ? GPUME_EXIT_DONE
               : (enum gpume_exit)gpume_refuse((int)status,
                     "%s: the program %s reads no pictures of %" PRIu32 "x%" PRIu32 " at %" PRIu32
                     "/%" PRIu32 " per second; leave out %s",
                     option, encoder->name, video->width, video->height, video->rate_num,
                     video->rate_den, option);
}

int gpume_trial_check_input(const char *option, const char *input)
{
    return gpume_text_is_special(input)
               ? gpume_refuse(GPUME_INVALID,
                     "%s: %s cannot be read again by the encodes; give a file, or leave it out",
                     option, strcmp(input, "-") == 0 ? "standard input" : input)
               : GPUME_OK;
}

void gpume_trial_begin(void)
{
    gpume_signals_keep();
    gpume_signals_end();
    gpume_signals_set_left("the files are complete, the printed lines are not");
}

/* Adds a program's messages; what is in front of the last ones is dropped. */
static void add_messages(struct program *program, const char *text, size_t bytes)
{
    if (bytes > TAIL_BYTES) {
        text += bytes - TAIL_BYTES;
        bytes = TAIL_BYTES;
    }
    const size_t kept =
        program->tail_bytes + bytes > TAIL_BYTES ? TAIL_BYTES - bytes : program->tail_bytes;
    memmove(program->tail, program->tail + program->tail_bytes - kept, kept);
    memcpy(program->tail + kept, text, bytes);
    program->tail_bytes = kept + bytes;
    program->tail[program->tail_bytes] = '\0';
}

/* Reads what is there without waiting. */
static void read_messages(struct program *program)
{
    char text[4096];
    ssize_t bytes = -1;
    while (program->messages >= 0 && (bytes = read(program->messages, text, sizeof(text))) > 0) {
        add_messages(program, text, (size_t)bytes);
    }
    if (program->messages >= 0 && (bytes == 0 || (errno != EAGAIN && errno != EINTR))) {
        (void)close(program->messages);
        program->messages = -1;
    }
}

static void make_printable(char *text)
{
    for (; *text; text++) {
        *text = strchr("\r\n", *text) ? ';' : iscntrl((unsigned char)*text) ? '?' : *text;
    }
}

/* The last lines of its messages, as one line. Status lines end in a carriage return. */
static const char *join_messages(struct program *program)
{
    char *tail = program->tail, *begin = tail + program->tail_bytes;
    unsigned lines = 0;
    while (begin > tail && strchr("\r\n ", begin[-1])) {
        *--begin = '\0';
    }
    for (; begin > tail; begin--) {
        if (strchr("\r\n", begin[-1]) && ++lines == TAIL_LINES) {
            break;
        }
    }
    make_printable(begin);
    return *begin ? begin : "no message";
}

/* What the new process has instead of gpume's: its streams, and no signals that wait or are
 * ignored because gpume takes or ignores them. */
static int start(struct program *program, pid_t *pid, int input, int output, int messages)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = input >= 0 ? posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
                           : posix_spawn_file_actions_addopen(
                                 &actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        error = error ? error : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        error = error ? error : posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
        error = error ? error
                      : posix_spawnattr_setflags(
                            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        error = error ? error : posix_spawnattr_setsigmask(&attributes, &none);
        error = error ? error : posix_spawnattr_setsigdefault(&attributes, &usual);
        error = error ? error
                      : posix_spawnp(
                            pid, program->argv[0], &actions, &attributes, program->argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void close_ends(const int ends[2])
{
    for (size_t i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            (void)close(ends[i]);
        }
    }
}

/* Starts one of the programs; frames: the pipe between them, or -1. */
static enum gpume_exit start_program(struct trial_run *trial, size_t index, const int frames[2])
{
    struct program *program = &trial->programs[index];
    const char *option = trial->pass->option;
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        close_ends(ends);
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: no pipe: %s", option, strerror(errno));
    }
    pthread_mutex_lock(&running.mutex);
    const int error = start(program, &running.pids[index], index == FEED ? -1 : frames[0],
        index == FEED ? frames[1] : ends[1], ends[1]);
    running.pids[index] = error == 0 ? running.pids[index] : 0;
    pthread_mutex_unlock(&running.mutex);
    (void)close(ends[1]);
    program->messages = ends[0];
    program->runs = error == 0;
    if (error == ENOENT) {
        return refuse_missing_program(GPUME_EXIT_FAILED, option, program->argv[0]);
    }
    return error ? gpume_refuse(GPUME_EXIT_FAILED, "%s: %s cannot be started: %s", option,
                       program->argv[0], strerror(error))
                 : GPUME_EXIT_DONE;
}

static enum gpume_exit start_programs(struct trial_run *trial)
{
    int frames[2] = {-1, -1};
    const bool is_fed = trial->programs[FEED].argv != NULL;
    if (is_fed && pipe2(frames, O_CLOEXEC) != 0) {
        return gpume_refuse(
            GPUME_EXIT_FAILED, "%s: no pipe: %s", trial->pass->option, strerror(errno));
    }
    enum gpume_exit result = start_program(trial, ENCODER, frames);
    result = result || !is_fed ? result : start_program(trial, FEED, frames);
    close_ends(frames);
    return result;
}

/* Notes programs that have ended; false: all have. */
static bool reap_programs(struct trial_run *trial)
{
    bool any = false;
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct program *program = &trial->programs[i];
        pthread_mutex_lock(&running.mutex);
        program->runs = program->runs && waitpid(running.pids[i], &program->status, WNOHANG) == 0;
        running.pids[i] = program->runs ? running.pids[i] : 0;
        pthread_mutex_unlock(&running.mutex);
        any |= program->runs;
    }
    return any;
}

/* The last status line of the encoder, on a terminal. */
static void show_status(struct trial_run *trial)
{
    const struct program *encoder = &trial->programs[ENCODER];
    size_t end = encoder->tail_bytes;
    while (end > 0 && strchr("\r\n ", encoder->tail[end - 1])) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && !strchr("\r\n", encoder->tail[begin - 1])) {
        begin--;
    }
    if (trial->progress.shown && trial->progress.rewrite && end > begin) {
        char line[256];
        snprintf(line, sizeof(line), "%s: %.*s", encoder->argv[0], (int)(end - begin),
            encoder->tail + begin);
        make_printable(line);
        gpume_console_status(line, true);
    }
}

/* Until both have ended. Where one cannot be started, or after a signal, they are ended. */
static void wait_for_programs(struct trial_run *trial, bool stops)
{
    while (reap_programs(trial)) {
        struct pollfd fds[PROGRAMS];
        for (size_t i = 0; i < PROGRAMS; i++) {
            fds[i] = (struct pollfd){.fd = trial->programs[i].messages, .events = POLLIN};
        }
        if (stops || gpume_signals_caught()) {
            const int number = stops || gpume_signals_overdue() ? SIGKILL : SIGTERM;
            pthread_mutex_lock(&running.mutex);
            kill_programs(number);
            pthread_mutex_unlock(&running.mutex);
        }
        (void)poll(fds, PROGRAMS, POLL_MS);
        for (size_t i = 0; i < PROGRAMS; i++) {
            read_messages(&trial->programs[i]);
        }
        show_status(trial);
    }
    for (size_t i = 0; i < PROGRAMS; i++) {
        read_messages(&trial->programs[i]);
    }
}

static enum gpume_exit check_program(struct trial_run *trial, size_t index)
{
    struct program *program = &trial->programs[index];
    const char *option = trial->pass->option;
    if (!program->argv || program->status == 0) {
        return GPUME_EXIT_DONE;
    }
    if (WIFSIGNALED(program->status)) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: signal %d ended %s; its last messages: %s",
            option, WTERMSIG(program->status), program->argv[0], join_messages(program));
    }
    const int status = WEXITSTATUS(program->status);
    if (status == STATUS_UNKNOWN && program->tail_bytes == 0) {
        return refuse_missing_program(GPUME_EXIT_FAILED, option, program->argv[0]);
    }
    return gpume_refuse(GPUME_EXIT_FAILED, "%s: %s failed with status %d; its last messages: %s",
        option, program->argv[0], status, join_messages(program));
}

/* A feed that cannot write any more fails because of the encoder, which may have taken all that it
 * wanted. */
static enum gpume_exit check_programs(struct trial_run *trial)
{
    const struct program *feed = &trial->programs[FEED];
    const bool is_cut = (WIFSIGNALED(feed->status) && WTERMSIG(feed->status) == SIGPIPE) ||
                        strstr(feed->tail, "Broken pipe");
    const enum gpume_exit result = is_cut ? GPUME_EXIT_DONE : check_program(trial, FEED);
    return result ? result : check_program(trial, ENCODER);
}

enum gpume_exit gpume_trial_check_room(const char *option, int fd, const char *path)
{
    static const char probe[ROOM_BYTES];
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return GPUME_EXIT_DONE; /* the encoder's own message has to do */
    }
    ssize_t put = pwrite(fd, probe, sizeof(probe), info.st_size);
    const bool some = put > 0;
    if (some && (size_t)put < sizeof(probe)) { /* the rest says why it does not fit */
        const size_t rest = sizeof(probe) - (size_t)put;
        put = pwrite(fd, probe, rest, info.st_size + put);
    }
    const int error = errno;
    /* A limit on file sizes has not cut a file that ends before it. */
    const bool fits = put >= 0 || (some && error == EFBIG);
    (void)!ftruncate(fd, info.st_size);
    return fits ? GPUME_EXIT_DONE
                : gpume_refuse(GPUME_EXIT_FAILED, "%s: %s: cannot be written: %s; %s", option, path,
                      strerror(error), gpume_out_remedy(error));
}

static enum gpume_exit run_programs(struct trial_run *trial)
{
    gpume_progress_init(&trial->progress, &trial->pass->video->common, 0);
    enum gpume_exit result = start_programs(trial);
    wait_for_programs(trial, result != GPUME_EXIT_DONE);
    gpume_console_status(NULL, true);
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (trial->programs[i].messages >= 0) {
            (void)close(trial->programs[i].messages);
        }
    }
    result = result ? result : gpume_job_result(GPUME_EXIT_DONE);
    result =
        result ? result : gpume_trial_check_room(trial->pass->option, trial->fd, running.output);
    return result ? result : check_programs(trial);
}

/* --- the comparison */

struct trial_comparison {
    const struct trial_run *trial;
    struct gpume_source *encoded;
    struct gpume_luma_view view;
    struct gpume_fidelity *fidelity;
    uint64_t frames;
};

static int refuse_frames(const struct trial_comparison *comparison, bool has_more)
{
    const struct gpume_trial_pass *pass = comparison->trial->pass;
    return gpume_refuse(GPUME_IO,
        "%s: %s wrote %s frames than %s has; only %" PRIu64 " can be compared", pass->option,
        pass->entry->encoder.items[0], has_more ? "more" : "fewer", pass->video->common.inputs[0],
        comparison->frames);
}

static int compare_encoded_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct trial_comparison *comparison = opaque;
    const struct gpume_trial_pass *pass = comparison->trial->pass;
    struct gpume_fidelity_frame frame;
    const int status = gpume_source_view(comparison->encoded, &comparison->view, &time_us);
    if (status != GPUME_OK) {
        return status == GPUME_EOF ? refuse_frames(comparison, false) : status;
    }
    gpume_fidelity_add(comparison->fidelity, luma, &comparison->view.plane, &frame);
    if (pass->frames && comparison->frames < pass->frames_max) {
        pass->frames[comparison->frames] = frame;
    }
    comparison->frames++;
    return GPUME_OK;
}

/* Opens the encoded video, whose frames must be like those of the source. */
static enum gpume_exit open_encoded(
    struct trial_comparison *comparison, const struct gpume_source_info *source)
{
    const struct gpume_trial_pass *pass = comparison->trial->pass;
    char scaling[64];
    snprintf(scaling, sizeof(scaling), "scale=%" PRIu32 ":%" PRIu32 ":flags=bicubic", source->width,
        source->height);
    const struct gpume_source_options options = {.paths = {running.output},
        .path_count = 1,
        .filter = pass->restored ? scaling : NULL,
        .stream = -1,
        .threads = pass->video->params.threads,
        .log = gpume_console};
    const struct gpume_fidelity_params params = {source->width, source->height, source->bits,
        pass->entry->video.rate_num, pass->entry->video.rate_den, gpume_console};
    struct gpume_source_info info;
    if (gpume_source_open(&comparison->encoded, &options, &info) != GPUME_OK) {
        gpume_console_error_about(pass->option);
        return GPUME_EXIT_FAILED;
    }
    if (info.width != source->width || info.height != source->height || info.bits != source->bits) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "%s: %s wrote pictures of %" PRIu32 "x%" PRIu32 " with %" PRIu32
            " bits, not of %" PRIu32 "x%" PRIu32 " with %" PRIu32 "; leave out %s",
            pass->option, pass->entry->encoder.items[0], info.width, info.height, info.bits,
            source->width, source->height, source->bits, pass->option);
    }
    return gpume_luma_view_open(&comparison->view, &info) &&
                   gpume_fidelity_open(&comparison->fidelity, &params) == GPUME_OK
               ? GPUME_EXIT_DONE
               : gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", pass->option);
}

static enum gpume_exit compare_frames(
    struct trial_comparison *comparison, struct gpume_cli_job *job)
{
    int64_t time_us;
    enum gpume_exit result = open_encoded(comparison, &job->info);
    result = result ? result : gpume_job_read(job, compare_encoded_frame, comparison);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    const int status = gpume_source_read(comparison->encoded, NULL, &time_us);
    return status == GPUME_EOF  ? GPUME_EXIT_DONE
           : status == GPUME_OK ? gpume_exit_of_engine(refuse_frames(comparison, true))
                                : GPUME_EXIT_FAILED;
}

/* What the feed makes of the source, for a second reading; if the encoded video is restored, but
 * for scaling. For free(); *failed: without memory. */
static char *make_graph(const struct gpume_trial_pass *pass, bool *failed)
{
    const struct gpume_argv *feed = &pass->entry->feed;
    const struct gpume_source_info *restored = pass->restored;
    const char *format = NULL, *filter = NULL;
    for (size_t i = 0; i + 1 < feed->count; i++) {
        format = strcmp(feed->items[i], "-pix_fmt") == 0 ? feed->items[i + 1] : format;
        filter = strcmp(feed->items[i], "-vf") == 0 ? feed->items[i + 1] : filter;
    }
    *failed = false;
    if (!format) { /* the encoder reads the source itself */
        return NULL;
    }
    char *own = restored ? gpume_command_scaling(
                               pass->video->source.filter, restored->width, restored->height, false)
                         : NULL; /* to the size that it has: nothing */
    filter = restored ? own : filter;
    const size_t bytes = (filter ? strlen(filter) : 0) + strlen(format) + 16;
    char *graph = filter || !restored ? malloc(bytes) : NULL;
    if (graph) {
        snprintf(graph, bytes, "%s%sformat=%s", filter ? filter : "", filter ? "," : "", format);
    }
    free(own);
    *failed = !graph;
    return graph;
}

static enum gpume_exit compare(const struct trial_run *trial, struct gpume_trial_measured *measured)
{
    bool failed;
    struct gpume_video_options video = *trial->pass->video;
    char *graph = make_graph(trial->pass, &failed);
    if (failed) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", trial->pass->option);
    }
    video.source.filter = graph ? graph : video.source.filter;
    struct trial_comparison comparison = {.trial = trial};
    struct gpume_cli_job job = gpume_job_of(&video);
    job.wanted = gpume_source_options_make(job.common, job.choice, job.params);
    job.wanted.log = gpume_console_errors; /* warnings were printed before */
    enum gpume_exit result = gpume_job_open_video(&job, true);
    result = result ? result : compare_frames(&comparison, &job);
    result = gpume_job_result(result);
    if (result == GPUME_EXIT_DONE) {
        measured->scores = gpume_fidelity_scores(comparison.fidelity);
    }
    gpume_fidelity_close(&comparison.fidelity);
    gpume_luma_view_close(&comparison.view);
    gpume_source_close(&comparison.encoded);
    gpume_job_close(&job);
    free(graph);
    return result;
}

/* --- a trial */

/* The arguments with the name of the output and NULL at the end. *failed: without memory. */
static char **make_argv(const struct gpume_argv *argv, bool *failed)
{
    char **items = argv->count > 0 ? calloc(argv->count + 1, sizeof(*items)) : NULL;
    for (size_t i = 0; items && i < argv->count; i++) {
        const bool is_output = strcmp(argv->items[i], GPUME_COMMAND_OUTPUT) == 0;
        items[i] = is_output ? running.output : argv->items[i];
    }
    *failed |= argv->count > 0 && !items;
    return items;
}

static enum gpume_exit try_pass(struct trial_run *trial, struct gpume_trial_measured *measured)
{
    const struct gpume_firstpass_entry *entry = trial->pass->entry;
    bool failed = false;
    char **encoder = make_argv(&entry->encoder, &failed), **feed = make_argv(&entry->feed, &failed);
    enum gpume_exit result = GPUME_EXIT_DONE;
    if (failed) {
        result = gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", trial->pass->option);
    } else {
        const uint64_t start_ns = gpume_clock_ns();
        struct stat info;
        trial->programs[ENCODER] = (struct program){.argv = encoder, .messages = -1};
        trial->programs[FEED] = (struct program){.argv = feed, .messages = -1};
        result = run_programs(trial);
        measured->seconds = (double)(gpume_clock_ns() - start_ns) / 1e9;
        measured->bytes = stat(running.output, &info) == 0 ? (uint64_t)info.st_size : 0;
        if (result == GPUME_EXIT_DONE && measured->bytes == 0) {
            result = gpume_refuse(GPUME_EXIT_FAILED, "%s: %s wrote nothing; its last messages: %s",
                trial->pass->option, encoder[0], join_messages(&trial->programs[ENCODER]));
        }
    }
    free(encoder);
    free(feed);
    return result ? result : compare(trial, measured);
}

enum gpume_exit gpume_trial_run(
    const struct gpume_trial_pass *pass, struct gpume_trial_measured *measured)
{
    const struct gpume_firstpass_entry *entry = pass->entry;
    struct trial_run trial = {.pass = pass};
    struct gpume_temporary id;
    const enum gpume_exit checked =
        gpume_trial_check_video(GPUME_EXIT_FAILED, pass->option, pass->encoder, &entry->video);
    if (checked != GPUME_EXIT_DONE) {
        return checked;
    }
    gpume_temporary_clear(entry->name, NULL, NULL);
    const int fd = gpume_temporary_create(entry->name, &id, &running.output);
    if (fd < 0) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "%s: no file can be made beside %s: %s; choose another folder, by -o or, for 'gpume "
            "ladder', by TMPDIR",
            pass->option, entry->name, strerror(errno));
    }
    /* Where it is ignored, as some programs leave it, nothing would be known of how others end. */
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    (void)sigaction(SIGCHLD, &usual, NULL);
    *measured = (struct gpume_trial_measured){0};
    gpume_signals_keep();
    gpume_signals_set_leave(leave, NULL);
    trial.fd = fd;
    enum gpume_exit result = try_pass(&trial, measured);
    gpume_signals_set_leave(NULL, NULL);
    (void)unlink(running.output);
    (void)close(fd);
    free(running.output);
    running.output = NULL;
    if (result == GPUME_EXIT_DONE) {
        const double frames = (double)measured->scores.frames;
        measured->bitrate =
            (double)measured->bytes * 8 * entry->video.rate_num / (frames * entry->video.rate_den);
    }
    return result;
}
