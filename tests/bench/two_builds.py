#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run two builds of the command on the same random work and compare all that they write, byte for byte.

usage: python3 tests/bench/two_builds.py OLD_GPUME NEW_GPUME [--runs N] [--seed S] [--only RUN] [--keep]

Each run makes a small clip with ffmpeg and draws one to three command lines: a search, and perhaps a conversion, a
comparison of two searches, or a sort. Both builds execute them in folders of their own. The program compares the exit
statuses, the set of files, their bytes, and standard output where it carries data. It ignores texts for people
(standard error, the closing summary, the markup of report.html), and in JSON the times, the rates, the version,
the name of the machine and the memory that the run needs. A run depends on the seed and on its number only, so --only repeats one.

The folder of a run that differs is kept, with the command lines beside it. Exit status 1 if any run differs.
"""
import argparse
import collections
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HANG_SECONDS = 1800  # a command that takes longer hangs
SOURCE_SIZE = "352x240"
PICTURES = ["%d.png", "%03d.pgm", ".y4m", ".mkv", ".mp4", "%d.bmp", "%d.jpg"]
OVERLAYS = ["%d.png", "%03d.ppm", ".y4m", ".mkv", ".mp4", "%d.bmp", "%d.jpg"]
VECTOR_FILES = ["v.csv", "v.jsonl", "v.npy", "v.mvf", "v.hash", "v%d.flo"]
STREAMED_FORMATS = ["csv", "jsonl", "mvf", "extract_mvs", "hash"]
VECTOR_FORMATS = STREAMED_FORMATS + ["npy", "flo", "mv-extractor"]
SEARCHES = {"cpu": ["plain", "avx2", "avx512"], "vulkan": ["quads", "int", "float", "half"]}
WORK = {"cpu": 2e8, "vulkan": 2e7}  # pixel differences of one search, at most
# The CPU engine measures whether elimination pays, so the shares depend on time.
MASKED = {"dropped_by_block_sums", "dropped_by_part_sums", "compared"}
MASKED |= {"seconds", "fields_per_second", "busy", "gpume", "device", "driver", "machine", "host_bytes", "device_bytes"}
MASKED_TEXT = re.compile(r'("(?:%s)": )("(?:[^"\\]|\\.)*"|[^,\n}]+)' % "|".join(sorted(MASKED)))
PAGE_DATA = re.compile(r'<script type="([a-z/]+)" id="([a-z0-9-]+)">(.*?)</script>', re.S)

# data: what standard output carries: None (a text for people), "bytes" or "json"
Step = collections.namedtuple("Step", "arguments data input", defaults=(None, None))
Clip = collections.namedtuple("Clip", "name width height frames bits")


# ---- Clips ----


def clip_source(rng):
    """A lavfi graph whose frames are SOURCE_SIZE, and the motion per frame of the window cut from it."""
    moving = (rng.randint(-6, 6), rng.randint(-5, 5))
    return rng.choice(
        [
            ("testsrc2=size=%s:rate=25" % SOURCE_SIZE, (0, 0)),
            ("testsrc2=size=%s:rate=25" % SOURCE_SIZE, moving),
            ("mandelbrot=size=%s:rate=25:start_scale=%g" % (SOURCE_SIZE, rng.uniform(0.2, 3)), moving),
            ("mandelbrot=size=%s:rate=25,noise=alls=12:allf=t" % SOURCE_SIZE, moving),
            ("color=gray:size=%s:rate=25,noise=alls=100:all_seed=%d" % (SOURCE_SIZE, rng.randint(1, 999)), moving),
            ("color=gray:size=%s:rate=25,noise=alls=90:allf=t" % SOURCE_SIZE, (0, 0)),
            ("color=0x507090:size=%s:rate=25" % SOURCE_SIZE, (0, 0)),
        ]
    )


def clip_size(rng):
    kind = rng.random()
    if kind < 0.12:
        return rng.choice([(1, 1), (1, 40), (37, 1), (3, 2), (8, 8), (4, 7)])
    if kind < 0.7:
        return rng.randint(5, 100), rng.randint(5, 80)
    return rng.randint(64, 320), rng.randint(48, 200)


def clip_format(rng, width, height):
    """File name, pixel format, bits and the encoder's options."""
    kind = rng.choice(["y4m", "y4m", "mkv", "mkv", "mp4"])
    if kind == "mp4" and width % 2 == 0 and height % 2 == 0 and width >= 16 and height >= 16:
        pixels, bits = rng.choice([("yuv420p", 8), ("yuv420p", 8), ("yuv420p10le", 10), ("yuv444p", 8)])
        return "clip.mp4", pixels, bits, ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-threads", "1"]
    formats = [("gray", 8), ("yuv420p", 8), ("yuv422p", 8), ("yuv444p", 8), ("gray10le", 10), ("yuv444p10le", 10)]
    formats += [("gray12le", 12), ("yuv444p12le", 12), ("gray16le", 16), ("yuv444p16le", 16)]
    if width % 2 == 0 and height % 2 == 0:  # of odd sizes FFmpeg reads one frame of such a .y4m
        formats += [("yuv420p10le", 10), ("yuv422p12le", 12)]
    pixels, bits = rng.choice(formats)
    if kind == "mkv":
        return "clip.mkv", pixels, bits, ["-c:v", "ffv1"]
    return "clip.y4m", pixels, bits, ["-strict", "-1"]


def ffmpeg(*arguments):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], stderr=subprocess.DEVNULL).returncode == 0


def make_clip(rng, folder):
    while True:
        source, (dx, dy) = clip_source(rng)
        width, height = clip_size(rng)
        name, pixels, bits, encoder = clip_format(rng, width, height)
        frames = rng.choice([2, 3, 4, 5, 6, 9, 14])
        corner = "'mod(16+n*%d+352,%d)':'mod(16+n*%d+240,%d)'" % (dx, 353 - width, dy, 241 - height)
        graph = "%s,format=%s,crop=%d:%d:%s:exact=1" % (source, "gbrp" if bits == 8 else "gbrp16le", width, height, corner)
        output = [*encoder, "-pix_fmt", pixels, "-frames:v", str(frames), os.path.join(folder, name)]
        if ffmpeg("-f", "lavfi", "-i", graph, *output):
            return Clip(name, width, height, frames, bits)


# ---- Command lines ----


def search_engine(rng, clip):
    if rng.random() < 0.25:
        names = SEARCHES["vulkan"][: 4 if clip.bits <= 10 else 3]  # half is for up to 10 bits
        return "vulkan", ["--backend", "vulkan", "--search", rng.choice(names)]
    arguments = ["--backend", "cpu"]
    if rng.random() < 0.5:
        arguments += ["--search", rng.choice(SEARCHES["cpu"])]
    if rng.random() < 0.4:
        arguments += ["--threads", str(rng.randint(1, 4))]
    return "cpu", arguments


def search_window(rng, clip, limit, least=0):
    """The value of --window, such that the search takes few pixel differences."""
    samples = clip.width * clip.height * clip.frames
    while True:
        x = rng.choice([0, 1, 2, 3, 4, 5, 7, 7, 7, 8, 11, 16, 17, 24, 32, 50, 100, 512])
        y = rng.choice([0, 1, 3, 7, 8, 12, 16, 33]) if rng.random() < 0.3 and not least else x
        if min(x, y) >= least and (samples * (2 * x + 1) * (2 * y + 1) <= limit or x <= 4):
            return str(x) if x == y else "%dx%d" % (x, y)


def prefilter(rng, folder):
    kind = rng.choice(["gauss", "box", "median", "bilateral", "kernel"])
    if kind == "kernel":
        columns, rows = rng.choice([1, 3, 5]), rng.choice([1, 3, 5, 7])
        with open(os.path.join(folder, "kernel.txt"), "w") as text:
            for _ in range(rows):
                text.write(" ".join("%g" % rng.choice([rng.randint(-3, 9), rng.uniform(-1, 2)]) for _ in range(columns)))
                text.write("\n")
        return "kernel:../kernel.txt"
    values = {
        "gauss": "%.1f" % rng.uniform(0.3, 4),
        "box": str(rng.choice([3, 5, 9, 31])),
        "median": str(rng.choice([3, 5])),
        "bilateral": "%.1f,%.1f" % (rng.uniform(0.3, 2), rng.uniform(0.1, 60)),
    }
    return kind + ":" + values[kind]


def video_parameters(rng, clip):
    """Parameters that two still pictures do not take."""
    arguments = []
    for chance, option in [
        (0.25, ["--ref-distance", str(rng.randint(1, clip.frames))]),
        (0.4, ["--direction", rng.choice(["past", "future", "both"])]),
        (0.15, ["--start", str(rng.randint(0, max(1, clip.frames - 2)))]),
        (0.15, ["--frames", str(rng.randint(1, clip.frames))]),
    ]:
        arguments += option if rng.random() < chance else []
    return arguments


def search_parameters(rng, clip, folder, video=True):
    backend, arguments = search_engine(rng, clip)
    if rng.random() < 0.07 and clip.bits == 8:
        block = rng.choice(["8", "16", "32"])
        window = search_window(rng, clip, WORK[backend], least=4)
        arguments += ["--compat", "ffmpeg", "-b", block, "-w", window]
    else:
        arguments += ["-b", rng.choice(["4", "8", "8", "8", "12", "16", "16", "20", "32", "64", "128"])]
        arguments += ["--window", search_window(rng, clip, WORK[backend])]
        arguments += ["--edge", rng.choice(["extend", "inside"])] if rng.random() < 0.25 else []
        arguments += video_parameters(rng, clip) if video else []
    for chance, option in [
        (0.2, ["--prefilter", prefilter(rng, folder)]),
        (0.2, ["--no-elimination"]),
        (0.08, ["--check"]),
        (0.1, ["--max-memory", rng.choice(["64K", "24M", "600M", "4G"])]),
        (0.05, ["--vf", rng.choice(["hflip", "crop=iw/2:ih", "scale=40:30"])]),
    ]:
        arguments += option if rng.random() < chance else []
    return arguments


def picture_outputs(rng):
    arguments = []
    for name in ["predicted", "residual", "difference"]:
        if rng.random() < 0.25:
            arguments += ["--" + name, name[0] + rng.choice(PICTURES)]
    residual, difference = "--residual" in arguments, "--difference" in arguments
    for chance, option, applies in [
        (0.4, ["--gain", rng.choice(["0.5", "2", "3.7", "16"])], residual or difference),
        (0.4, ["--gamma", rng.choice(["0.6", "1.5", "2.2"])], residual or difference),
        (0.4, ["--residual-mode", rng.choice(["absolute", "signed"])], residual),
    ]:
        arguments += option if applies and rng.random() < chance else []
    if rng.random() < 0.25:
        arguments += ["--overlay", "o" + rng.choice(OVERLAYS)]
        arguments += ["--overlay-style", rng.choice(["arrows", "flow", "cost", "blocks"])]
        arguments += rng.choice([[], ["--scale", rng.choice(["1", "2", "3"])]])
        arguments += rng.choice([[], ["--overlay-key", rng.choice(["auto", "on", "off"])]])
    return arguments


def vector_outputs(rng, both):
    """The options, and what standard output carries. With both directions a file name has two numbers."""
    if rng.random() < 0.15:
        return ["--vectors", "-", "--format", rng.choice(STREAMED_FORMATS)], "bytes"
    if rng.random() < 0.4:
        form = rng.choice(VECTOR_FORMATS)
        number = "" if form in STREAMED_FORMATS else "%d-%d" if both else "%d"
        return ["--vectors", "v" + number + ".bin", "--format", form], None
    return ["--vectors", rng.choice(VECTOR_FILES).replace("%d", "%d-%d" if both else "%d")], None


def search_outputs(rng, both):
    """As vector_outputs; pictures and the page show one direction."""
    arguments, data = vector_outputs(rng, both) if rng.random() < 0.6 else ([], None)
    arguments += [] if both else picture_outputs(rng)
    if rng.random() < 0.35:
        arguments += ["--report", rng.choice(["r.json", "r.csv"] + ([] if both else ["r.html", "r.html"]))]
        if arguments[-1] == "r.html":
            arguments += rng.choice([[], ["--report-pictures", str(rng.randint(0, 12))]])
    if not arguments or rng.random() < 0.35:
        arguments += rng.choice([[], ["-o", "out"]])
    if data is None and rng.random() < 0.2:
        arguments, data = arguments + ["--json"], "json"
    return arguments, data


def search_input(rng, clip, folder):
    """The arguments that name the input, and the file that standard input reads."""
    path = os.path.join(folder, clip.name)
    kind = rng.random()
    if kind < 0.08 and clip.name != "clip.mp4":
        return ["-"], path
    still = "gray16be" if clip.bits > 8 else "rgb24"
    if kind < 0.2 and ffmpeg("-i", path, "-pix_fmt", still, os.path.join(folder, "still%03d.png")):
        return rng.choice([["../still%03d.png"], ["../still001.png", "../still002.png"]]), None
    return ["../" + clip.name], None


def search_run(rng, folder):
    clip = make_clip(rng, folder)
    names, source = search_input(rng, clip, folder)
    parameters = search_parameters(rng, clip, folder, video=len(names) == 1)
    outputs, data = search_outputs(rng, both="both" in parameters or "--compat" in parameters)
    return [Step(names + parameters + outputs, data, source)]


def convert_run(rng, folder):
    clip = make_clip(rng, folder)
    first, last = rng.choice(VECTOR_FILES[:4] + ["v%d-%d.flo"]), rng.choice(VECTOR_FILES[:5] + ["v%d-%d.flo"])
    steps = [Step(["../" + clip.name, *search_parameters(rng, clip, folder), "--vectors", first, "-q"])]
    if rng.random() < 0.3:
        return steps + [Step(["convert", first, "-", "--format", rng.choice(STREAMED_FORMATS)], "bytes")]
    steps.append(Step(["convert", first, "c" + last]))
    if last != "v.hash":
        steps.append(Step(["convert", "c" + last, "back.csv"]))
    return steps


def compare_run(rng, folder):
    clip = make_clip(rng, folder)
    common = ["../" + clip.name, "-b", rng.choice(["4", "8", "16"]), "-q"]
    steps = []
    for name in ["a", "b"]:
        backend, engine = search_engine(rng, clip)
        other = ["--prefilter", prefilter(rng, folder)] if rng.random() < 0.4 else []
        window = search_window(rng, clip, WORK[backend])
        steps.append(Step([*common, *engine, *other, "-w", window, "-o", name, "--vectors", name + ".npy"]))
    pair = rng.choice([["a", "b"], ["a.npy", "b.npy"], ["a/vectors.csv", "b.npy"]])
    form, data = rng.choice([(["--json"], "json"), (["--csv"], "bytes"), ([], None)])
    picture = ["--map", "m" + rng.choice(OVERLAYS)] if rng.random() < 0.6 else []
    return steps + [Step(["compare", *pair, *form, *picture], data)]


def sort_run(rng, folder):
    count = rng.choice([0, 1, 2, 100, 5000, 70000])
    values = [rng.getrandbits(rng.choice([3, 16, 31])) for _ in range(count)]
    arguments = ["sort", "../numbers"]
    if rng.random() < 0.5:
        arguments += ["--binary", rng.choice(["u32", "i32"])]
        content = b"".join(value.to_bytes(4, "little") for value in values)
    else:
        content = "".join("%d\n" % rng.choice([value, -value]) for value in values).encode()
    with open(os.path.join(folder, "numbers"), "wb") as numbers:
        numbers.write(content)
    arguments += ["--backend", rng.choice(["cpu", "cpu", "vulkan"])]
    arguments += rng.choice([[], ["--descending"]])
    return [Step(*rng.choice([(arguments, "bytes"), (arguments + ["-o", "sorted"], None)]))]


KINDS = [(0.72, search_run), (0.1, convert_run), (0.1, compare_run), (0.08, sort_run)]


# ---- Running and comparing ----


def execute(build, steps, run_folder, side, cache):
    """Run the steps in a folder of this build; return their exit statuses and standard outputs."""
    folder = os.path.join(run_folder, side)
    os.mkdir(folder)
    environment = dict(os.environ, LC_ALL="C", XDG_CACHE_HOME=cache)
    results = []
    for number, step in enumerate(steps):
        with open(os.path.join(run_folder, "%s.err%d" % (side, number)), "wb") as err:
            with open(step.input or os.devnull, "rb") as source:
                try:
                    done = subprocess.run(
                        [build, *step.arguments],
                        cwd=folder,
                        stdin=source,
                        stdout=subprocess.PIPE,
                        stderr=err,
                        env=environment,
                        timeout=HANG_SECONDS,
                    )
                    results.append((done.returncode, done.stdout))
                except subprocess.TimeoutExpired:
                    results.append(("still running after %d s" % HANG_SECONDS, b""))
    return folder, results


def mask_text(content):
    return MASKED_TEXT.sub(r"\1-", content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def mask_values(value):
    if isinstance(value, dict):
        return {key: "-" if key in MASKED else mask_values(member) for key, member in value.items()}
    return [mask_values(member) for member in value] if isinstance(value, list) else value


def page_data(content):
    """The data elements of report.html as one JSON text; the page's own length depends on its words."""
    elements = []
    for kind, name, text in PAGE_DATA.findall(content.decode("utf-8", "surrogateescape")):
        if name != "bytes":
            elements.append([name, mask_values(json.loads(text)) if kind == "application/json" else text])
    return json.dumps(elements, indent=1).encode()


COMPARABLE = {".json": mask_text, ".html": page_data}


def first_difference(old, new):
    """Where two byte strings differ, in words, or None."""
    if old == new:
        return None
    at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    around = slice(max(0, at - 40), at + 60)
    return "%d and %d bytes, first difference at byte %d: %r and %r" % (len(old), len(new), at, old[around], new[around])


def files_below(folder):
    return {
        os.path.relpath(os.path.join(top, name), folder) for top, _, names in os.walk(folder) for name in names
    }


def compare_files(old, new):
    old_files, new_files = files_below(old), files_below(new)
    for name in sorted(old_files ^ new_files):
        yield "%s: written by the %s build only" % (name, "old" if name in old_files else "new")
    for name in sorted(old_files & new_files):
        comparable = COMPARABLE.get(os.path.splitext(name)[1], bytes)
        contents = []
        for folder in (old, new):
            with open(os.path.join(folder, name), "rb") as content:
                contents.append(comparable(content.read()))
        difference = first_difference(*contents)
        if difference:
            yield "%s: %s" % (name, difference)


def compare_results(steps, old, new):
    for number, (step, (old_status, old_out), (new_status, new_out)) in enumerate(zip(steps, old, new)):
        if old_status != new_status:
            yield "command %d: exit status %s and %s" % (number, old_status, new_status)
        if step.data:
            difference = first_difference(*(mask_text(out) if step.data == "json" else out for out in (old_out, new_out)))
            if difference:
                yield "command %d: standard output: %s" % (number, difference)


def one_run(builds, number, seed, root):
    """Return the differences and the exit statuses of the old build."""
    rng = random.Random("%s:%d" % (seed, number))
    folder = os.path.join(root, "run-%d" % number)
    os.mkdir(folder)
    kind = rng.choices([run for _, run in KINDS], [weight for weight, _ in KINDS])[0]
    steps = kind(rng, folder)
    sides = [
        execute(build, steps, folder, side, os.path.join(root, "cache-" + side))
        for build, side in zip(builds, ("old", "new"))
    ]
    differences = [*compare_files(sides[0][0], sides[1][0]), *compare_results(steps, sides[0][1], sides[1][1])]
    with open(os.path.join(folder, "commands"), "w") as commands:
        for step in steps:
            source = " < " + shlex.quote(step.input) if step.input else ""
            commands.write(shlex.join(["gpume", *step.arguments]) + source + "\n")
    return differences, [status for status, _ in sides[0][1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs=2, metavar="GPUME", help="the old and the new command")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, metavar="RUN", help="repeat one run, and keep its folder")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all runs")
    options = parser.parse_args()
    builds = [os.path.abspath(build) for build in options.builds]
    for build in builds:
        if subprocess.run([build, "--version"], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("%s: does not run" % build)
    root = tempfile.mkdtemp(prefix="two_builds.")
    numbers = range(options.runs) if options.only is None else [options.only]
    differing, statuses = 0, collections.Counter()
    for number in numbers:
        differences, exits = one_run(builds, number, options.seed, root)
        statuses.update(exits)
        folder = os.path.join(root, "run-%d" % number)
        if differences:
            differing += 1
            print("run %d differs (--seed %s --only %d):" % (number, options.seed, number))
            with open(os.path.join(folder, "commands")) as commands:
                print("".join("  cd %s/old; %s" % (folder, line) for line in commands), end="")
            print("\n".join("    " + difference for difference in differences), flush=True)
        elif not options.keep and options.only is None:
            shutil.rmtree(folder)
    if options.keep or options.only is not None or differing:
        print("folders: " + root)
    else:
        shutil.rmtree(root)
    counts = ", ".join("%s: %d" % pair for pair in sorted(statuses.items(), key=str))
    print("commands by exit status of the old build: " + counts)
    print("%d runs, %d differences" % (len(numbers), differing))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
