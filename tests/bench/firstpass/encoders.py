# SPDX-License-Identifier: BSD-2-Clause
"""Runs x264 and x265 with a cache: command lines, their reports, and the CPU time they took.

Every run is a directory of the cache, named by a hash of the encoder's version, the arguments and
the contents of all input files. It holds the files that the run wrote, its report and result.json.
"""
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess

from vbv import lowest_fill, picture_bits

FRAME_RATE = 25  # of all clips
LIMIT_SECONDS = 3600

# Options of every run besides rate, pass and statistics. {tune}: see TUNES.
FIXED = {
    "x264": ["--preset", "medium", "--threads", "1", "--no-progress"],
    "x265": ["--preset", "medium", "--frame-threads", "1", "--pools", "none", "--no-wpp",
             "--no-progress"],
}
TUNES = {"psnr": ["--tune", "psnr"], "default": []}
MEASURE = ["--psnr", "--ssim"]
REPORT = {
    "x264": {
        "kbps": r"encoded \d+ frames, [0-9.]+ fps, ([0-9.]+) kb/s",
        "psnr": r"PSNR Mean .*Global:([0-9.]+)",
        "ssim": r"SSIM Mean Y:([0-9.]+)",
    },
    "x265": {
        "kbps": r"encoded \d+ frames in .*?, ([0-9.]+) kb/s",
        "psnr": r"Global PSNR: ([0-9.]+)",
        "ssim": r"SSIM Mean Y: ([0-9.]+)",
    },
}
# Appended to the name of the statistics by each encoder.
TREE_SUFFIX = {"x264": ".mbtree", "x265": ".cutree"}


class Failure(Exception):
    pass


def program_path(name):
    """What runs it from any directory: programs without a folder are looked up."""
    return os.path.abspath(name) if os.path.dirname(name) else name


@functools.lru_cache(maxsize=None)
def version(program):
    run = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    words = (run.stdout + run.stderr).split()
    return " ".join(words[1:3]) if program == "x264" else words[words.index("version") + 1]


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


class Cache:
    def __init__(self, root):
        self.root = root
        os.makedirs(root, exist_ok=True)

    def run(self, program, argv, inputs, salt="", patterns=None):
        """Runs argv in a directory that holds the inputs ({name: path}); returns the directory and
        the result ({"user": seconds} and what the patterns find in the report)."""
        key = json.dumps([program, salt, argv, sorted((n, file_hash(p)) for n, p in inputs.items())])
        target = os.path.join(self.root, hashlib.sha256(key.encode()).hexdigest()[:24])
        result = os.path.join(target, "result.json")
        if os.path.exists(result):
            with open(result) as stream:
                return target, json.load(stream)
        work = "%s.%d" % (target, os.getpid())
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        for name, path in inputs.items():
            (os.symlink if name == "clip.y4m" else shutil.copy)(path, os.path.join(work, name))
        log = os.path.join(work, "log")
        found = {"user": resources_of(argv, work, log).ru_utime}
        with open(log) as stream:
            report = stream.read()
        for name, pattern in (patterns or {}).items():
            values = re.findall(pattern, report)
            if not values:
                raise Failure("%s: its report has no %s" % (program, name))
            found[name] = float(values[-1])
        with open(os.path.join(work, "result.json"), "w") as stream:
            json.dump(found, stream)
        try:
            os.rename(work, target)
        except OSError:  # another process was faster: its run is the same, but for the time
            shutil.rmtree(work)
        with open(result) as stream:
            return target, json.load(stream)


def first_pass(cache, encoder, clip, kbps, tune, options):
    """Returns the statistics' path and the CPU time of the encoder's own first pass."""
    argv = [encoder] + FIXED[encoder] + TUNES[tune] + options + [
        "--bitrate", str(kbps), "--pass", "1", "--stats", "stats", "-o", "/dev/null"]
    argv += ["clip.y4m"] if encoder == "x264" else ["--input", "clip.y4m"]
    where, result = cache.run(encoder + " " + version(encoder), argv, {"clip.y4m": clip})
    return os.path.join(where, "stats"), result["user"]


def second_pass(cache, encoder, clip, kbps, tune, options, files, salt="", number="2"):
    """Encodes by the statistics in files ({name in the run: path}). Returns the path of the
    statistics, which are new ones if number is "3", and rate, quality and CPU time."""
    limited = "--vbv-bufsize" in options
    argv = [encoder] + FIXED[encoder] + TUNES[tune] + options + MEASURE + [
        "--bitrate", str(kbps), "--pass", number, "--stats", "stats"]
    argv += ["--aud", "-o", "stream"] if limited else ["-o", "/dev/null"]
    argv += ["clip.y4m"] if encoder == "x264" else ["--input", "clip.y4m"]
    where, result = cache.run(encoder + " " + version(encoder), argv,
                              dict(files, **{"clip.y4m": clip}), salt, REPORT[encoder])
    if limited:
        result["fill"] = stream_fill(os.path.join(where, "stream"), encoder, options)
    return os.path.join(where, "stats"), result


def stream_fill(path, encoder, options):
    """How full the decoder's buffer is at the least, in per cent."""
    maxrate, bufsize = (int(options[options.index(name) + 1])
                        for name in ("--vbv-maxrate", "--vbv-bufsize"))
    with open(path, "rb") as stream:
        return lowest_fill(picture_bits(stream.read(), encoder), FRAME_RATE, maxrate, bufsize)


def scaled(cache, clip, size):
    """The clip with pictures of another size (width, height)."""
    where, _ = cache.run("scaled", ["ffmpeg", "-nostdin", "-v", "error", "-i", "clip.y4m", "-vf",
                                    "scale=%d:%d" % size, "-pix_fmt", "yuv420p", "scaled.y4m"],
                         {"clip.y4m": clip})
    return os.path.join(where, "scaled.y4m")


def pass_files(encoder, stats):
    """The files of one pass, by their names in a run."""
    tree = stats + TREE_SUFFIX[encoder]
    files = {"stats": stats}
    if os.path.exists(tree):
        files["stats" + TREE_SUFFIX[encoder]] = tree
    return files


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
