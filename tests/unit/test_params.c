/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_params [PROGRAM]: the table of parameters against the struct, against the library's
 * refusals, and against the help of the command.
 */
#include "base/params.h"
#include "harness.h"
#include "logged.h"

#include <string.h>

/* Sorted by offset, rows follow each other with no more than the gaps that alignment makes. */
static void test_whole(void)
{
    size_t end = 0;
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        const struct gpume_param *next = NULL;
        for (uint32_t k = 0; k < gpume_params_count; k++) {
            const struct gpume_param *row = gpume_param_at(k);
            if (row->offset >= end && (!next || row->offset < next->offset)) {
                next = row;
            }
        }
        if (!next) {
            REQUIRE(next != NULL);
            return;
        }
        const size_t each = next->type == GPUME_PARAM_LIST ? sizeof(uint32_t) : next->bytes;
        REQUIRE_EQUAL(next->offset, (end + each - 1) / each * each);
        end = next->offset + next->bytes;
    }
    REQUIRE_EQUAL((end + 7) / 8 * 8, sizeof(struct gpume_params));
    REQUIRE(gpume_param_at(gpume_params_count) == NULL);
}

static void test_rows(void)
{
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        const struct gpume_param *row = gpume_param_at(i);
        REQUIRE(row->since >= 1 && row->since <= GPUME_API_VERSION);
        REQUIRE(!row->help || row->option);
        REQUIRE(row->least <= row->most);
        REQUIRE((row->type == GPUME_PARAM_CHOICE) == (row->choices != NULL));
        if (row->choices) {
            uint64_t count = 0;
            while (row->choices[count]) {
                count++;
            }
            REQUIRE_EQUAL(count, row->most + 1);
            REQUIRE(row->constants && strncmp(row->constants, "GPUME_", 6) == 0);
        }
    }
    /* What may differ between runs whose files belong together. */
    REQUIRE(GPUME_PARAM(threads)->speed_only && GPUME_PARAM(devices)->speed_only);
    REQUIRE(!GPUME_PARAM(check)->speed_only && !GPUME_PARAM(metric)->speed_only);
}

/* The last line and its parts, of which text must be the line's. */
static struct {
    char line[512], value[64], text[256], other_value[64];
    const struct gpume_param *param, *other;
} said;

static void keep(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_message *message = gpume_log_message();
    (void)opaque;
    REQUIRE_EQUAL(level, GPUME_LOG_ERROR);
    memset(&said, 0, sizeof(said));
    snprintf(said.line, sizeof(said.line), "%s", line);
    if (message) {
        said.param = message->param;
        said.other = message->other;
        snprintf(said.value, sizeof(said.value), "%s", message->value ? message->value : "");
        snprintf(said.text, sizeof(said.text), "%s", message->text);
        snprintf(said.other_value, sizeof(said.other_value), "%s",
            message->other_value ? message->other_value : "");
    }
}

static void refused(const struct gpume_params *params, const char *line)
{
    memset(&said, 0, sizeof(said));
    REQUIRE_EQUAL(gpume_params_check(params), GPUME_INVALID);
    REQUIRE(gpume_log_message() == NULL);
    if (strcmp(said.line, line) != 0) {
        fprintf(stderr, "  \"%s\", expected \"%s\"\n", said.line, line);
        REQUIRE(strcmp(said.line, line) == 0);
    }
}

static void test_refusals(void)
{
    struct gpume_params params, fine;
    gpume_params_default(&fine);
    fine.log = keep;
    REQUIRE_EQUAL(gpume_params_check(&fine), GPUME_OK);

    params = fine;
    params.window_y = 513;
    refused(&params, "params.window_y 513: must be from 0 to 512");
    REQUIRE(said.param == GPUME_PARAM(window_y) && said.param->most == 512 && !said.other);
    REQUIRE(strcmp(said.value, "513") == 0 && strcmp(said.text, "must be from 0 to 512") == 0);

    params = fine;
    params.edge = (enum gpume_edge)7;
    refused(&params, "params.edge 7: must be from 0 (extend) to 1 (inside)");

    params = fine;
    params.bidirectional = true;
    refused(&params, "params.bidirectional: needs GPUME_DIRECTION_BOTH");
    REQUIRE(said.param == GPUME_PARAM(bidirectional) && said.other == GPUME_PARAM(direction));
    REQUIRE(strcmp(said.other_value, "both") == 0);

    params.direction = GPUME_DIRECTION_BOTH;
    params.candidates = 2;
    refused(&params, "params.bidirectional: cannot be combined with params.candidates above 1");

    params = fine;
    params.lambda = 3;
    refused(&params, "params.lambda: needs params.rate");

    params = fine;
    params.refine_metric = GPUME_REFINE_BY_SATD;
    refused(&params, "params.refine_metric: needs params.subpel 2 or 4");
    params.subpel = 4;
    params.subpel_search = GPUME_SUBPEL_FULL;
    refused(&params, "params.refine_metric: needs GPUME_SUBPEL_REFINE");

    params = fine;
    params.distance_count = 2;
    params.distances[0] = 1;
    params.distances[1] = 1025;
    refused(&params, "params.distances 1025: must be from 1 to 1024");
}

/* A program may call the library from another context's log: parts are those of its own line. */
static void log_another(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_params wrong;
    (void)opaque;
    (void)level;
    (void)line;
    REQUIRE(gpume_log_message() && gpume_log_message()->param == GPUME_PARAM(block));
    gpume_params_default(&wrong);
    wrong.log = keep;
    wrong.bits = 17;
    REQUIRE_EQUAL(gpume_params_check(&wrong), GPUME_INVALID);
    REQUIRE(said.param == GPUME_PARAM(bits));
    REQUIRE(gpume_log_message() && gpume_log_message()->param == GPUME_PARAM(block));
}

static void test_nested(void)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.log = log_another;
    params.block = 7;
    REQUIRE_EQUAL(gpume_params_check(&params), GPUME_INVALID);
    REQUIRE(gpume_log_message() == NULL);
    gpume_log_write(&(struct gpume_log){.fn = keep}, GPUME_LOG_ERROR, "of no parameter");
    REQUIRE(!said.param && strcmp(said.line, "of no parameter") == 0);
}

/* Every option of the table is in the help of the command. */
static void test_help(const char *program)
{
    static char help[1 << 20];
    char command[4096], option[64];
    snprintf(command, sizeof(command), "'%s' --help all", program);
    FILE *stream = popen(command, "r");
    REQUIRE(stream != NULL);
    if (!stream) {
        return;
    }
    help[fread(help, 1, sizeof(help) - 1, stream)] = '\0';
    REQUIRE_EQUAL(pclose(stream), 0);
    for (uint32_t i = 0; i < gpume_params_count; i++) {
        const char *name = gpume_params_table[i].option;
        snprintf(option, sizeof(option), " --%s", name ? name : "help");
        const char *found = strstr(help, option);
        if (!found) {
            fprintf(stderr, "%s: not in the help\n", option);
        }
        REQUIRE(found != NULL);
    }
}

int main(int argc, char **argv)
{
    test_whole();
    test_rows();
    test_refusals();
    test_nested();
    if (argc > 1) {
        test_help(argv[1]);
    }
    return harness_verdict();
}
