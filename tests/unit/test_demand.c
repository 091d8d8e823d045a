/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When more devices are opened, in simulated time: a source gives frames at its own rate as long as
 * a pool has room, engines search them, a receiver takes the fields. Devices are opened where that
 * makes the run faster, as many as have work, and soon; and never where decoding, the receiver or
 * the end of the run is the limit.
 */
#include "harness.h"
#include "run/queue.h"

#define MS 1000000u
#define OPEN_NS (400u * MS)

struct sim {
    uint64_t source_ns, engine_ns, receiver_ns; /* per frame; a frame is a task */
    uint64_t frames, pool;
    bool tells; /* how many frames there are */
    uint32_t devices;
};

struct outcome {
    uint32_t opened;
    uint64_t first_ns, all_ns; /* when the first one was wanted, and the last one */
};

/* Batches of four frames, of all engines together, which are alike. */
static struct outcome run(const struct sim *sim)
{
    enum { BATCH = 4 };
    struct gpume_demand demand = {.open_ns = OPEN_NS};
    struct outcome outcome = {0};
    uint32_t lanes = 1, opening = 0;
    uint64_t now = 1, sent = 0, done = 0, worked = 0, opened_ns = 0, next_ns = 0, engine_ns = 0;
    uint64_t received_ns = 0;
    bool waits = false;
    while (done < sim->frames) {
        /* What comes until the next batch is complete. */
        const uint64_t start = engine_ns > received_ns ? engine_ns : received_ns;
        const uint64_t needs = done + BATCH < sim->frames ? done + BATCH : sim->frames;
        uint64_t begin = start;
        while (sent < sim->frames && sent < done + sim->pool) {
            next_ns += sim->source_ns;
            if (waits) {
                next_ns = now + sim->source_ns;
                gpume_demand_resume(&demand, now);
                waits = false;
            }
            sent++;
            begin = sent <= needs && next_ns > begin ? next_ns : begin;
        }
        if (sent == done + sim->pool && sent < sim->frames) {
            gpume_demand_wait(&demand, next_ns > now ? next_ns : now);
            waits = true;
        }
        const uint64_t work = (needs - done) * sim->engine_ns / lanes;
        engine_ns = begin + work;
        now = engine_ns;
        worked += work * lanes;
        done = needs;
        received_ns += (received_ns < now ? now - received_ns : 0) + BATCH * sim->receiver_ns;
        const struct gpume_demand_facts facts = {.lanes = lanes,
            .worked_ns = worked,
            .fields = done,
            .left = sim->tells ? sim->frames - done : UINT64_MAX};
        if (opening > 0 && now >= opened_ns) {
            lanes++;
            opening--;
            opened_ns = now + OPEN_NS;
            gpume_demand_restart(&demand);
        }
        if (opening == 0 && lanes < sim->devices) {
            const uint32_t more = gpume_demand_more(&demand, now, &facts);
            opening = more < sim->devices - lanes ? more : sim->devices - lanes;
            opened_ns = now + OPEN_NS;
            outcome.opened += opening;
            outcome.first_ns = outcome.first_ns == 0 && opening > 0 ? now : outcome.first_ns;
            outcome.all_ns = opening > 0 ? now : outcome.all_ns;
        }
    }
    return outcome;
}

int main(void)
{
    struct sim sim = {.source_ns = MS / 2,
        .engine_ns = 4 * MS,
        .frames = 4000,
        .pool = 32,
        .tells = true,
        .devices = 4};
    /* The search is the limit, by a factor of eight: all of them, as soon as a quarter of what
     * opening takes has been lost. */
    struct outcome outcome = run(&sim);
    REQUIRE_EQUAL(outcome.opened, 3);
    REQUIRE(outcome.first_ns < OPEN_NS / 2);
    REQUIRE(outcome.all_ns < OPEN_NS);
    sim.tells = false; /* a pipe */
    REQUIRE_EQUAL(run(&sim).opened, 3);
    /* By a factor of two: one more has work. */
    sim.source_ns = 2 * MS;
    REQUIRE_EQUAL(run(&sim).opened, 1);
    /* Decoding is the limit, though the pool is full at times; then just so. */
    sim.source_ns = 5 * MS;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    sim.source_ns = 4 * MS;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    sim.source_ns = 37 * MS / 10;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    /* The receiver is the limit: the pool is full, but the engine has nothing to do. */
    sim.source_ns = MS / 2;
    sim.receiver_ns = 8 * MS;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    /* The run ends before opening has paid; where that is unknown, it costs what was lost. */
    sim.receiver_ns = 0;
    sim.tells = true;
    sim.frames = 200;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    sim.frames = 20;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    sim.tells = false;
    REQUIRE_EQUAL(run(&sim).opened, 0);
    sim.frames = 600; /* for one, but not for more */
    sim.tells = true;
    outcome = run(&sim);
    REQUIRE(outcome.opened == 1);
    return harness_verdict();
}
