/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bands.h"

#include "base/grid.h"
#include "gpume/gpume.h"

#define BAND_BYTES 65536u /* more are worth waking a thread for */
#define BANDS_MAX 32u
/* Less than usual: the caller has nothing else to do, and all that follows waits for it. */
#define SHARE_NS 100000u

struct run {
    gpume_band_fn fn;
    void *opaque;
    uint64_t rows, bands;
};

static void run_band(void *opaque, uint32_t band)
{
    const struct run *run = opaque;
    run->fn(run->opaque, (uint32_t)(run->rows * band / run->bands),
        (uint32_t)(run->rows * (band + 1) / run->bands));
}

/* If no threads can be started, the caller goes on alone. */
static bool has_workers(struct gpume_bands *bands)
{
    if (!bands->workers && bands->threads > 1 &&
        gpume_workers_create(&bands->workers, bands->threads) != GPUME_OK) {
        bands->threads = 1;
    }
    return bands->workers != NULL;
}

void gpume_bands_run(
    struct gpume_bands *bands, uint32_t rows, size_t row_bytes, gpume_band_fn fn, void *opaque)
{
    struct run run = {fn, opaque, rows, (uint64_t)rows * row_bytes / BAND_BYTES};
    if (run.bands > 1 && has_workers(bands)) {
        run.bands = gpume_min_u64(gpume_min_u64(run.bands, BANDS_MAX), rows);
        bands->pace.share_ns = SHARE_NS;
        struct gpume_step step = {
            .fn = run_band, .opaque = &run, .count = (uint32_t)run.bands, .pace = &bands->pace};
        gpume_workers_do(bands->workers, &step);
    } else {
        fn(opaque, 0, rows);
    }
}

void gpume_bands_finish(struct gpume_bands *bands)
{
    gpume_workers_destroy(&bands->workers);
}
