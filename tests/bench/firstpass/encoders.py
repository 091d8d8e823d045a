# SPDX-License-Identifier: BSD-2-Clause
"""Runs x264, x265 and SVT-AV1 with a cache: command lines, their reports, and the CPU time they took.

Every run is a directory of the cache, named by a hash of the program's version, the arguments and
the contents of all input files. It holds the files that the run wrote, its report and result.json.
"""
import collections
import fcntl
import functools
import hashlib
import json
import os
import random
import re
import shutil
import struct
import subprocess

from vbv import lowest_fill, picture_bits

FRAME_RATE = 25  # of all clips
LIMIT_SECONDS = 3600

# Options of every run, besides those of its settings, its rate and its statistics.
FIXED = {
    "x264": ["--threads", "1", "--no-progress"],
    "x265": ["--frame-threads", "1", "--pools", "none", "--no-wpp", "--no-progress"],
    "svt-av1": ["--lp", "1", "--progress", "0"],
}
PROGRAMS = {"svt-av1": "SvtAv1EncApp"}  # whose names are not those of the encoders
TUNES = {"psnr": ["--tune", "psnr"], "default": []}  # of SVT-AV1, the default is PSNR
PRESETS = {"x264": ["medium", "veryfast", "slow"], "x265": ["medium", "fast", "slow"],
           "svt-av1": ["8", "6", "4"]}
KEYINT = 250  # x264's and x265's default; any other is the length of segments, see words_of
REPORT = {
    "x264": {
        "kbps": r"encoded \d+ frames, [0-9.]+ fps, ([0-9.]+) kb/s",
        "global": r"PSNR Mean .*Global:([0-9.]+)",
    },
    "x265": {
        "kbps": r"encoded \d+ frames in .*?, ([0-9.]+) kb/s",
        "global": r"Global PSNR: ([0-9.]+)",
    },
    "svt-av1": {"kbps": r"fps\s+\d+\s+([0-9.]+) kbps"},
}
DEMUXERS = {"x264": "h264", "x265": "hevc", "svt-av1": "ivf"}  # FFmpeg's, of what they write
# Appended to the name of the statistics by each encoder.
TREE_SUFFIX = {"x264": ".mbtree", "x265": ".cutree"}


# What both sides of a comparison have in common.
Settings = collections.namedtuple("Settings", "preset tune keyint")


class Failure(Exception):
    pass


def words_of(settings):
    """Options of the encoders, which `gpume firstpass` also takes."""
    length = str(settings.keyint)
    return ["--preset", settings.preset] + TUNES[settings.tune] + (
        [] if settings.keyint == KEYINT
        else ["--keyint", length, "--min-keyint", length, "--scenecut", "0"])


def program_path(name):
    """What runs it from any directory: programs without a folder are looked up."""
    return os.path.abspath(name) if os.path.dirname(name) else name


@functools.lru_cache(maxsize=None)
def version(program):
    option = "-version" if program == "ffmpeg" else "--version"
    run = subprocess.run([program, option], capture_output=True, text=True, check=True)
    words = (run.stdout + run.stderr).split()
    return (" ".join(words[1:3]) if program == "x264"
            else words[1] if program == PROGRAMS["svt-av1"] else words[words.index("version") + 1])


@functools.lru_cache(maxsize=None)
def hash_of_file(path, _size, _time):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def file_hash(path):
    status = os.stat(path)
    return hash_of_file(path, status.st_size, status.st_mtime_ns)


def y4m_shape(path):
    """Bits of a sample and number of frames of a 4:2:0 y4m."""
    with open(path, "rb") as stream:
        head = stream.readline()
    fields = {word[:1]: word[1:] for word in head.decode("ascii", "replace").split()[1:]
              if word[0] != "X"}
    width, height, chroma = int(fields["W"]), int(fields["H"]), fields.get("C", "420jpeg")
    deep = re.fullmatch(r"420p(\d+)", chroma)
    if not deep and chroma not in ("420", "420jpeg", "420mpeg2", "420paldv"):
        raise Failure("%s: C%s is not 4:2:0" % (path, chroma))
    samples = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    frame = len(b"FRAME\n") + samples * (2 if deep else 1)
    count, rest = divmod(os.path.getsize(path) - len(head), frame)
    if rest or not count:
        raise Failure("%s: not a whole number of frames" % path)
    return int(deep[1]) if deep else 8, count


def resources_of(argv, cwd, log):
    """Runs a command and returns what it used: see resource.getrusage. Any thread."""
    with open(log, "w") as stream:
        process = subprocess.Popen(
            ["timeout", "-s", "KILL", str(LIMIT_SECONDS)] + argv, cwd=cwd, stdin=subprocess.DEVNULL,
            stdout=stream, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        with open(log) as stream:
            raise Failure(
                "%s: status %d: %s" % (" ".join(argv), process.returncode, stream.read()[-500:]))
    return used


LARGE = ("clip.y4m", "stream")  # inputs that no program changes: they are not copied


class Cache:
    def __init__(self, root):
        self.root = root
        os.makedirs(root, exist_ok=True)

    def run(self, program, argv, inputs, salt="", read=None):
        """Runs argv in a directory that holds the inputs ({name: path}); returns the directory and
        the result: {"user": seconds} and what read(directory) finds in its files. The run's output
        is in the file log."""
        key = json.dumps([program, salt, argv, sorted((n, file_hash(p)) for n, p in inputs.items())])
        target = os.path.join(self.root, hashlib.sha256(key.encode()).hexdigest()[:24])
        result = os.path.join(target, "result.json")
        with open(target + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a worker that wants the same run waits for it
            if not os.path.exists(result):
                self.make(target, argv, inputs, read)
        with open(result) as stream:
            return target, json.load(stream)

    def make(self, target, argv, inputs, read):
        work = target + ".part"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        for name, path in inputs.items():
            (os.symlink if name in LARGE else shutil.copy)(path, os.path.join(work, name))
        found = {"user": resources_of(argv, work, os.path.join(work, "log")).ru_utime}
        if read:
            found.update(read(work))
        with open(os.path.join(work, "result.json"), "w") as stream:
            json.dump(found, stream)
        os.rename(work, target)


def encode(cache, encoder, clip, words, inputs, salt="", read=None):
    """A run of the encoder over the clip."""
    program = program_of(encoder)
    argv = [program] + FIXED[encoder] + words
    if encoder == "svt-av1":
        argv += ["-i", "clip.y4m"]
    else:
        argv += ["--output-depth", str(y4m_shape(clip)[0])]
        argv += ["clip.y4m"] if encoder == "x264" else ["--input", "clip.y4m"]
    return cache.run(encoder + " " + version(program), argv, dict(inputs, **{"clip.y4m": clip}),
                     salt, read)


def program_of(encoder):
    return PROGRAMS.get(encoder, encoder)


def rate_words(encoder, kbps):
    return ["--rc", "1", "--tbr", str(kbps)] if encoder == "svt-av1" else ["--bitrate", str(kbps)]


def output_words(encoder, path):
    return ["-b" if encoder == "svt-av1" else "-o", path]


def report_of(encoder, folder):
    """Rate and quality as the encoder reports them."""
    with open(os.path.join(folder, "log")) as stream:
        report = stream.read()
    found = {"global": None}
    for name, pattern in REPORT[encoder].items():
        values = re.findall(pattern, report)
        if not values:
            raise Failure("%s: its report has no %s" % (encoder, name))
        found[name] = float(values[-1])
    return found


def first_pass(cache, encoder, clip, kbps, options):
    """Returns the statistics' path and the CPU time of the encoder's own first pass."""
    where, result = encode(cache, encoder, clip, options + rate_words(encoder, kbps) + [
        "--pass", "1", "--stats", "stats"] + output_words(encoder, os.devnull), {})
    return os.path.join(where, "stats"), result["user"]


def coded(cache, encoder, clip, words, inputs, salt=""):
    """Encodes into the file stream. Returns the directory, and rate, quality and CPU time."""
    psnr = ["--psnr"] if "global" in REPORT[encoder] else []
    return encode(cache, encoder, clip, words + psnr + output_words(encoder, "stream"), inputs,
                  salt, functools.partial(report_of, encoder))


def second_pass(cache, encoder, clip, kbps, options, files, salt="", number="2"):
    """Encodes by the statistics in files ({name in the run: path}), and writes new ones if number
    is "3". Returns what coded() does."""
    limited = "--vbv-bufsize" in options
    where, result = coded(cache, encoder, clip, options + rate_words(encoder, kbps) + [
        "--pass", number, "--stats", "stats"] + ["--aud"] * limited, files, salt)
    if limited:
        result["fill"] = stream_fill(os.path.join(where, "stream"), encoder, options)
    return where, result


def quality_pass(cache, encoder, clip, options, files):
    """A second pass whose options say its quality."""
    return coded(cache, encoder, clip, options + ["--pass", "2", "--stats", "stats"], files)


def single_pass(cache, encoder, clip, crf, options):
    """Encodes at a constant quality, by the encoder's own lookahead. Returns what coded() does."""
    return coded(cache, encoder, clip, options + ["--crf", str(crf)], {})


def stream_fill(path, encoder, options):
    """How full the decoder's buffer is at the least, in per cent."""
    maxrate, bufsize = (int(options[options.index(name) + 1])
                        for name in ("--vbv-maxrate", "--vbv-bufsize"))
    with open(path, "rb") as stream:
        return lowest_fill(picture_bits(stream.read(), encoder), FRAME_RATE, maxrate, bufsize)


def scaled(cache, clip, size):
    """The clip with pictures of another size (width, height)."""
    where, _ = cache.run("scaled", ["ffmpeg", "-nostdin", "-v", "error", "-i", "clip.y4m", "-vf",
                                    "scale=%d:%d" % size, "-strict", "-1", "scaled.y4m"],
                         {"clip.y4m": clip})
    return os.path.join(where, "scaled.y4m")


def pass_files(encoder, stats):
    """The files of one pass, by their names in a run."""
    tree = stats + TREE_SUFFIX.get(encoder, "")
    files = {"stats": stats}
    if tree != stats and os.path.exists(tree):
        files["stats" + TREE_SUFFIX[encoder]] = tree
    return files


RECORD = struct.Struct("<ddddQQBBB5x")  # of SVT-AV1's statistics
BITS = 5  # the place of a frame's bits among its fields


def changed_records(cache, stats, change):
    """SVT-AV1's statistics with the frames' bits all equal ("uniform"), or those of other frames
    ("shuffled"). Returns the path."""
    with open(stats, "rb") as stream:
        *frames, total = map(list, RECORD.iter_unpack(stream.read()))
    bits = [frame[BITS] for frame in frames]
    if change == "uniform":
        bits = [sum(bits) // len(bits)] * len(bits)
    else:
        random.Random(1).shuffle(bits)
    for frame, value in zip(frames, bits):
        frame[BITS] = value or 8  # none would stand for that of another frame
    data = b"".join(RECORD.pack(*record) for record in frames + [total])
    path = os.path.join(cache.root, "records." + hashlib.sha256(data).hexdigest()[:24])
    if not os.path.exists(path):
        part = "%s.%d" % (path, os.getpid())
        with open(part, "wb") as stream:
            stream.write(data)
        os.rename(part, path)
    return path


def frames_of(stats):
    """The frames of statistics in coded order: {"in": display position, "out": coded position,
    "type": letter, "q": QP before tree and adaptive quantization, "bits": size}."""
    result = []
    with open(stats) as stream:
        for line in stream:
            fields = dict(re.findall(r"([a-z]+):(\S+)", line))
            if "in" in fields and "type" in fields:
                result.append({
                    "in": int(fields["in"]), "out": int(fields["out"]), "type": fields["type"],
                    "q": float(fields["q"]),
                    "bits": sum(int(fields[name]) for name in ("tex", "mv", "misc"))})
    return sorted(result, key=lambda frame: frame["out"])


def types_of(stats):
    return [(frame["in"], frame["out"], frame["type"]) for frame in frames_of(stats)]
