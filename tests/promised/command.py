#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What scripts depend on is as promised: options, tables and exit statuses of the command.

options.txt has the options of every command, with the words that they take. columns.txt has the first line of every table, and the
version (format) and the members of every JSON file, by their paths: "frames[].time" is the member "time" of the objects in the
list "frames". Both may grow: options, words and members are added, columns come after the
others. Nothing in them goes away, and a version that rises says so in columns.txt. What was added since is reported, and joins the
files with --write when a version is released. STATUSES is the table of exit statuses.
Usage: command.py GPUME SOURCE_DIR [--write]
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

GPUME = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
SHORT = str(SOURCE / "tests/golden/cut-blocks-8bit.y4m")
SEARCH = "--backend cpu -q -w 2".split()
READ = "--backend cpu -q".split()

# Exit status, what it means, and a command that ends with it.
STATUSES = (
    (0, "success", ["long.y4m", *SEARCH, "-o", "done"]),
    (1, "the run failed or was interrupted", ["long.y4m", *SEARCH, "--format", "csv", "--vectors", "/dev/full"]),
    (2, "wrong usage: nothing has been read or written", ["long.y4m", *SEARCH, "-w", "513"]),
    (2, "an output exists", ["long.y4m", *SEARCH, "-o", "plain"]),
    (3, "the input cannot be used", ["absent.y4m", *SEARCH]),
    (3, "the input cannot be used", ["one.y4m", *SEARCH]),
    (4, "no usable device", ["long.y4m", *SEARCH, "--backend", "vulkan", "--device", "no such device"]),
    (5, "results differ, where they were compared", ["compare", "plain", "wider", "-q"]),
)


def run(*arguments, ends=(0,)):
    done = subprocess.run([GPUME, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in ends:
        sys.exit(f"gpume {' '.join(arguments)}: exit status {done.returncode}, not {ends}: {done.stderr}")
    return done.stdout


def clip(name, frames, width=64, height=48):
    """Noise that moves, from Python's own generator: no test depends on its values."""
    noise = random.Random(1)
    wide = [[noise.randrange(256) for _ in range(width + frames)] for _ in range(height)]
    with open(name, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\n".encode())
        for i in range(frames):
            file.write(b"FRAME\n" + b"".join(bytes(row[i:i + width]) for row in wide))


def cut(name, frames, width=128, height=96):
    """Two still pictures of noise: one scene after another."""
    noise = random.Random(2)
    pictures = [bytes(noise.randrange(256) for _ in range(width * height)) for _ in range(2)]
    with open(name, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\n".encode())
        for i in range(frames):
            file.write(b"FRAME\n" + pictures[2 * i // frames])


def options():
    """COMMAND --option VALUE -s, of every command."""
    command = "gpume"
    for line in run("--help", "all").splitlines():
        if section := re.match(r"-- gpume (\w+):", line):
            command = section.group(1)
        elif option := re.match(r" {2,6}(?:(-\w), )?(--[a-z][a-z0-9-]*)(?: ([^ ]+))?(?:  |$)", line):
            short, name, value = option.groups()
            yield " ".join(word for word in (command, name, value, short) if word)


# Paths below these are not promised, or are those of what this machine lacks where there is none.
LEFT_OPEN = ("stages.",)
OF_MACHINE = ("devices[].",)


def paths(value, path=""):
    """Those of all members, each once, in the order of the file."""
    found = {}
    if isinstance(value, dict):
        for name, member in value.items():
            inner = f"{path}.{name}" if path else name
            found[inner] = None
            found.update(dict.fromkeys(paths(member, inner)))
    elif isinstance(value, list):
        for item in value:
            found.update(dict.fromkeys(paths(item, path + "[]")))
    return [p for p in found if not p.startswith(LEFT_OPEN)]


def tables():
    """NAME: columns of a table; NAME format=N: paths of the members of a JSON file."""
    def table(name, text):
        return f"{name}: {text.splitlines()[0]}"

    def members(name, text):
        found = json.loads(text)
        return f"{name} format={found.get('format', 'none')}: {','.join(paths(found))}"

    def file(name):
        return pathlib.Path(name).read_text()

    every = [SHORT, *SEARCH, "-b", "16,8", "--lambda", "1", "--direction", "both"]
    yield members("gpume --json", run(SHORT, *SEARCH, "-o", "plain", "--json"))
    run(SHORT, *SEARCH, "-w", "3", "-o", "wider", "--confidence")
    yield table("vectors.csv", file("plain/vectors.csv"))
    yield table("vectors.csv, candidates", run(*every, "--candidates", "2", "--confidence", "--vectors", "-"))
    yield table("vectors.csv, two matches", run(*every, "--bidirectional", "--vectors", "-"))
    yield table("frames.csv", file("plain/frames.csv"))
    yield table("frames.csv, confidence", file("wider/frames.csv"))
    yield members("summary.json", file("plain/summary.json"))
    yield members("gpume --json, several", run(*every, "--confidence", "--candidates", "2", "-o", "several", "--json"))
    yield members("vectors .jsonl", run(SHORT, *SEARCH, "--format", "jsonl", "--vectors", "-").splitlines()[0])
    run(SHORT, *SEARCH, "--report", "report.csv")
    yield table("--report .csv", file("report.csv"))
    run(SHORT, *SEARCH, "--report", "report.json")
    yield members("--report .json", file("report.json"))
    yield table("scenes", run("scenes", "long.y4m", *READ))
    yield members("scenes --format json", run("scenes", "cut.y4m", *READ, "--format", "json"))
    for encoder in ("", "svt-av1"):
        chunks = ["--encoder", encoder, "--target-psnr", "40"] if encoder else []
        yield members(f"scenes --format av1an {encoder}".strip(), run("scenes", "cut.y4m", *READ, "--format", "av1an", *chunks))
    for by in ("frame", "scene"):
        yield table(f"complexity --by {by}", run("complexity", "long.y4m", *READ, "--by", by))
    yield members("complexity --format json", run("complexity", "long.y4m", *READ, "--format", "json"))
    yield table("compare --csv", run("compare", "plain", "wider", "--csv", ends=(5,)))
    yield members("compare --json", run("compare", "plain", "wider", "--json", ends=(5,)))
    run(SHORT, *SEARCH, "--direction", "future", "-o", "future")
    run("flow", SHORT, *READ, "--direction", "future", "-w", "2", "-o", "true%d.flo")
    yield members("compare --truth --json", run("compare", "future", "--truth", "true%d.flo", "--json"))
    yield table("compare --truth --csv", run("compare", "future", "--truth", "true%d.flo", "--csv"))
    run("methods", SHORT, *READ, "-o", "methods.csv")
    yield table("methods", file("methods.csv"))
    for encoder, goals in (("x264", "--bitrate 500k"), ("x265", "--crf 30 --target-size 9k"), ("x265", "--qp 30"), ("svt-av1", "--bitrate 500k"),
                           ("x264", "--target-psnr 40 --target-ssim 0.9 --target-xpsnr 35 --per scene")):
        run("firstpass", "cut.y4m", *READ, "--encoder", encoder, *goals.split(), "-o", "pass", "-y")
        other = "" if goals == "--bitrate 500k" and encoder == "x264" else f", {encoder} {goals}"
        yield members("firstpass NAME.json" + other, file("pass.json"))
    yield table("ladder --csv", run("ladder", "long.y4m", *READ, "--size", "64x48", "--csv"))
    yield members("ladder --json", run("ladder", "long.y4m", *READ, "--size", "64x48", "--json"))
    yield members("devices --json", run("devices", "--json"))
    yield members("plan --format json", run("plan", "long.y4m", "--chunks", "2", "--format", "json"))
    brief = ["--seconds", "0.001", "--backend", "cpu", "--json"]
    yield members("bench --json", run("bench", "--size", "64x48", *brief))
    for work in ("--sort", "--reduce"):
        yield members(f"bench {work} --json", run("bench", work, *brief))
    yield members("bench --decoders --json", run("bench", "long.y4m", "--decoders", "--json"))


def split(option):
    """The command and option, its words (none if it takes any value), and its short form."""
    command, name, *rest = option.split(" ")
    short = [word for word in rest if re.fullmatch(r"-\w", word)]
    words = [part for word in rest if not word.startswith("-") for part in word.split("|") if part != part.upper()]
    return f"{command} {name}", set(words) | set(short)


def broken(promised, found):
    """The lines of both files that do not hold."""
    have = dict(split(line) for line in found[0])
    for line in promised[0]:
        name, words = split(line)
        if name not in have:
            yield f"options.txt: gone: {name}"
        elif missing := words - have[name]:
            yield f"options.txt: {name} no longer takes {' '.join(sorted(missing))}"
    have = dict(line.split(": ") for line in found[1])
    for line in promised[1]:
        name, columns = line.split(": ")
        if name not in have:
            yield f"columns.txt: gone, or of another version: {name}"
        elif "format=" in name:
            lacks = tuple(p for p in OF_MACHINE if p not in have[name])
            missing = {p for p in columns.split(",") if not (lacks and p.startswith(lacks))} - set(have[name].split(","))
            if missing:
                yield f"columns.txt: {name} has no {' '.join(sorted(missing))}"
        elif not (have[name] + ",").startswith(columns + ","):
            yield f"columns.txt: {name}: {have[name]}, promised {columns}"


def main():
    clip("long.y4m", 12)
    clip("one.y4m", 1)
    cut("cut.y4m", 24)
    found = list(options()), list(tables())
    files = HERE / "options.txt", HERE / "columns.txt"
    if "--write" in sys.argv:
        for file, lines in zip(files, found):
            file.write_text("\n".join(lines) + "\n")
        return
    promised = [file.read_text().splitlines() for file in files]
    problems = list(broken(promised, found))
    for status, meaning, arguments in STATUSES:
        run(*arguments, ends=(status,))
    # The test of the test: each kind of damage is seen.
    # A member within a list is gone, too.
    less = [line.replace("extend|inside", "inside") for line in found[0] if not line.startswith("scenes --format")]
    other = [re.sub(",ref,", ",", re.sub("^summary.json format=", "summary.json format=1", line)).replace(",engine,", ",").replace(",changes[].kind", "") for line in found[1]]
    damage = list(broken(promised, (less, other)))
    if len(damage) - len(problems) < 7:
        problems.append(f"damage is not seen: {damage}")
    new = [line for kind in (0, 1) for line in found[kind] if line not in promised[kind]]
    print(f"{sum(map(len, promised))} promises; new since:", *new or ["nothing"], sep="\n")
    if problems:
        sys.exit("\n".join(problems))


with tempfile.TemporaryDirectory() as folder:
    os.environ["XDG_CACHE_HOME"] = os.environ.get("GPUME_TEST_CACHE", folder)
    os.chdir(folder)
    main()
