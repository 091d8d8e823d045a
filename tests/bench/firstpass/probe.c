/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the analysis decides about a clip, for the ladder and the fit: a table with one line per
 * frame in coded order, and the QP offsets in the form of an encoder's file. Frame types can be
 * those of an encoder's statistics, and vectors can be distorted (distort.h).
 *
 * The linker puts __wrap_gpume_types_decide in the place of the analysis's own function, which thus
 * needs no such switch.
 */
#include "distort.h"
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "encode/spectrum.h"
#include "encode/types.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe {
    const char *types_path, *out;
    struct gpume_analysis_params params;
    FILE *table, *offsets;
};

static struct {
    enum gpume_frame_type *types; /* in display order; NULL: the analysis decides */
    uint64_t type_count;
} control;

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "firstpass_probe: %s: %s\n", what, detail);
    exit(1);
}

static void *grow(void *memory, size_t count, size_t size)
{
    void *grown = realloc(memory, count * size);
    if (grown == NULL) {
        die("memory", "none left");
    }
    return grown;
}

static enum gpume_frame_type type_of(char letter, const char *line)
{
    for (enum gpume_frame_type type = GPUME_FRAME_IDR; type <= GPUME_FRAME_B; type++) {
        if (gpume_frame_letter(type) == letter) {
            return type;
        }
    }
    die("unknown frame type", line);
    return GPUME_FRAME_P;
}

/* Types from statistics: lines "in:DISPLAY out:CODED type:LETTER ...". */
static void read_types(const char *path)
{
    char line[4096];
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        die("cannot open", path);
    }
    while (fgets(line, sizeof line, in) != NULL) {
        uint64_t display;
        char letter;
        if (sscanf(line, "in:%" SCNu64 " out:%*u type:%c", &display, &letter) != 2) {
            continue;
        }
        const enum gpume_frame_type type = type_of(letter, line);
        if (display >= control.type_count) {
            control.types = grow(control.types, display + 1, sizeof *control.types);
            for (; control.type_count <= display; control.type_count++) {
                control.types[control.type_count] = GPUME_FRAME_P;
            }
        }
        control.types[display] = type;
    }
    fclose(in);
}

int __real_gpume_types_decide(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided);
int __wrap_gpume_types_decide(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided);

int __wrap_gpume_types_decide(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided)
{
    if (control.types == NULL) {
        return __real_gpume_types_decide(types, last, count, decisions, decided);
    }
    *decided = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t frame = last + 1 + i;
        decisions[i] = frame < control.type_count ? control.types[frame] : GPUME_FRAME_P;
        if (*decided == 0 && (i + 1 == count || !gpume_type_is_b(decisions[i]))) {
            *decided = i + 1;
        }
    }
    return GPUME_OK;
}

/* One record of .mbtree (big endian) or .cutree (little endian): a byte for the slice's type and
 * the offsets. */
static void write_offsets(const struct probe *probe, const struct gpume_decision *decision)
{
    const struct gpume_encoder *encoder = probe->params.options.encoder;
    const bool big = encoder->offsets_big_endian;
    fputc(encoder->offset_codes[decision->type], probe->offsets);
    for (uint64_t i = 0; i < (uint64_t)decision->blocks_x * decision->blocks_y; i++) {
        const uint16_t bits = (uint16_t)decision->offsets[i];
        fputc(big ? bits >> 8 : bits & 255, probe->offsets);
        fputc(big ? bits & 255 : bits >> 8, probe->offsets);
    }
}

/* In one column. */
static void write_counts(FILE *table, const uint16_t counts[GPUME_SPECTRUM_BINS], char end)
{
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        fprintf(table, "%u%c", counts[i], i + 1 < GPUME_SPECTRUM_BINS ? ' ' : end);
    }
}

static int decide(void *opaque, const struct gpume_decision *decision)
{
    const struct probe *probe = opaque;
    const struct gpume_spectrum *spectrum = decision->spectrum;
    const char letter = gpume_frame_letter(decision->type);
    fprintf(probe->table, "%" PRIu64 ",%" PRIu64 ",%c,%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,%u,",
        decision->display, decision->coded, letter, decision->cost, decision->intra_cost,
        decision->intra_blocks, decision->skipped_blocks, spectrum->blocks, spectrum->sampled,
        spectrum->differing);
    write_counts(probe->table, spectrum->vectors, ',');
    write_counts(probe->table, spectrum->means, ',');
    write_counts(probe->table, spectrum->details, '\n');
    if (decision->type != GPUME_FRAME_B) {
        write_offsets(probe, decision);
    }
    return GPUME_OK;
}

static FILE *create(const char *name, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", name, suffix);
    FILE *out = fopen(path, "wb");
    if (out == NULL) {
        die("cannot create", path);
    }
    return out;
}

static void check(int status, const char *what)
{
    if (status < 0) {
        die(what, gpume_status_text(status));
    }
}

/* Reads 4:2:0 y4m, which corpus.py writes: 8 bits, or more in two bytes, lower byte first. */
static void analyse(struct probe *probe, FILE *in)
{
    struct gpume_lookahead_params *lookahead = &probe->params.lookahead;
    char line[1024];
    if (fgets(line, sizeof line, in) == NULL || sscanf(line, "YUV4MPEG2 W%" SCNu32 " H%" SCNu32,
                                                    &lookahead->width, &lookahead->height) != 2) {
        die("not y4m", line);
    }
    uint32_t bits = 8;
    const char *deep = strstr(line, " C420p1");
    if (deep != NULL && sscanf(deep, " C420p%" SCNu32, &bits) != 1) {
        die("not 4:2:0", line);
    }
    const size_t sample = bits > 8 ? 2 : 1;
    const size_t luma = sample * lookahead->width * lookahead->height;
    const size_t chroma =
        sample * ((lookahead->width + 1) / 2) * (size_t)((lookahead->height + 1) / 2);
    uint8_t *frame = grow(NULL, luma + 2 * chroma, 1);
    struct gpume_analysis *analysis = NULL;
    check(gpume_analysis_open(&analysis, &probe->params), "cannot start");
    while (fgets(line, sizeof line, in) != NULL) {
        if (fread(frame, 1, luma + 2 * chroma, in) != luma + 2 * chroma) {
            die("short frame", line);
        }
        const struct gpume_plane plane = {.data = frame,
            .stride = (ptrdiff_t)(sample * lookahead->width),
            .width = lookahead->width,
            .height = lookahead->height,
            .bits = bits};
        check(gpume_analysis_put(analysis, &plane), "cannot analyse");
    }
    check(gpume_analysis_finish(analysis), "cannot finish");
    gpume_analysis_close(&analysis);
    distort_finish();
    free(frame);
}

static void parse(int argc, char **argv, struct probe *probe)
{
    struct gpume_encode_options *options = &probe->params.options;
    const struct gpume_encoder *encoder = gpume_encoders[0];
    const struct gpume_log silent = {0};
    gpume_encode_options_default(options, encoder);
    for (int option; (option = getopt(argc, argv, "e:p:u:b:t:v:")) != -1;) {
        switch (option) {
        case 'e':
            encoder = gpume_encoder_find(optarg);
            if (encoder == NULL) {
                die("unknown encoder", optarg);
            }
            gpume_encode_options_default(options, encoder);
            break;
        case 'p':
            if (!gpume_encode_options_preset(options, encoder, optarg)) {
                die("unknown preset", optarg);
            }
            break;
        case 'u':
            if (!gpume_encode_options_tune(options, optarg)) {
                die("unknown tuning", optarg);
            }
            break;
        case 'b':
            options->b_adapt = (uint32_t)atoi(optarg);
            break;
        case 't':
            read_types(optarg);
            break;
        case 'v':
            if (!distort_by(optarg)) {
                die("unknown distortion", optarg);
            }
            break;
        default:
            exit(2);
        }
    }
    if (argc - optind != 2) {
        die("usage", "firstpass_probe [-e ENCODER] [-p PRESET] [-u TUNE] [-b B_ADAPT]"
                     " [-t STATISTICS] [-v DISTORTION] CLIP.y4m NAME");
    }
    check(gpume_encode_options_settle(options, 25, 1, &silent), "not such options");
}

int main(int argc, char **argv)
{
    struct probe probe = {0};
    parse(argc, argv, &probe);
    const char *name = argv[optind + 1];
    FILE *in = fopen(argv[optind], "rb");
    if (in == NULL) {
        die("cannot open", argv[optind]);
    }
    probe.table = create(name, ".csv");
    probe.offsets = create(name, ".offsets");
    probe.params.decide = decide;
    probe.params.opaque = &probe;
    probe.params.lookahead.backend = GPUME_BACKEND_CPU;
    fputs("display,coded,type,cost,intra_cost,intra_blocks,skipped_blocks,", probe.table);
    fputs("blocks,sampled,differing,vectors,means,details\n", probe.table);
    analyse(&probe, in);
    if (fclose(probe.table) != 0 || fclose(probe.offsets) != 0) {
        die("cannot write", name);
    }
    fclose(in);
    return 0;
}
