#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the ladder's own parts: the corpus table, BD rates, measures of quality, the decoder's buffer,
the fit, statistics files, firstpass_probe, firstpass_distorted, ladder.py with summary.py, and passes.py.

usage: check.py FIRSTPASS_PROBE [FIRSTPASS_DISTORTED]
"""
import concurrent.futures
import csv
import math
import os
import queue
import shutil
import struct
import subprocess
import sys
import tempfile

import fit_svt_av1
from bdrate import bd_rate, gain
from corpus import ROLES, rows
from encoders import BITS, RECORD, Cache, Failure, changed_records, frames_of
from fit import BINS, Frame, fit_type, predict
from fit_svt_av1 import kinds_of
from ladder import QUALITIES, VBV, options_at
from passes import PASSES, bitrate_of, ratio, work
from quality import judge, percentile
from summary import MEASURES, quality_lines
from vbv import DELIMITER, DELIMITER_BYTES, lowest_fill, picture_bits

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES_PROGRAM = os.path.join(HERE, "passes.py")
WIDTH, HEIGHT, FRAMES = 96, 80, 12
BLOCKS = (WIDTH // 16) * (HEIGHT // 16)
TYPES = "IPbPBbbPPbPP"  # in display order, though not one that an encoder would choose


def check(holds, what):
    if not holds:
        sys.exit("check.py: " + what)


def check_corpus():
    clips = rows()
    held = [clip for clip in clips if clip["role"] == "held"]
    check(len({clip["name"] for clip in clips}) == len(clips) >= 30, "corpus: names, or too few clips")
    check(sum(clip["role"] == "fit" for clip in clips) >= 30, "corpus: too few clips for fitting")
    check(len(held) >= 10, "corpus: fewer than ten clips are held out")
    check(all(clip["role"] in ROLES and int(clip["kbps"]) > 0 for clip in clips),
          "corpus: a role or a rate")
    check(any(int(clip["frames"]) >= 1500 for clip in held), "corpus: no clip of a minute")


def check_bd_rate():
    curve = [(100, 30.0), (210, 33.5), (390, 36.0), (800, 38.5)]
    check(abs(bd_rate(curve, curve)) < 1e-9, "BD rate of a curve and itself")
    check(abs(bd_rate(curve, [(1.05 * r, q) for r, q in curve]) - 5) < 1e-9, "BD rate of 5 % more")
    line = [(2 ** i, 30 + 3.0 * i) for i in range(4)]  # doubling gives 3 dB
    worse = [(r, q - 0.3) for r, q in line]
    check(abs(bd_rate(line, worse) - 100 * (2 ** 0.1 - 1)) < 1e-9, "BD rate of 0.3 dB less")
    check(math.isnan(bd_rate(line, [(r, q + 20) for r, q in line])), "BD rate without overlap")
    check(math.isnan(bd_rate(line, line[:2] + [(3, line[1][1])])), "BD rate of equal qualities")
    check(abs(gain(line, worse) + 0.3) < 1e-9, "0.3 dB less at equal rate")
    check(abs(gain(line, [(2 * r, q) for r, q in line]) + 3) < 1e-9, "the double rate is 3 dB less")
    check(abs(gain(line, [(r, 34.5 - q) for r, q in line[:2]]) - (34.5 - 2 * 31.5)) < 1e-9,
          "gain over the rates of both curves, of a quality that falls")
    check(math.isnan(gain(line, [(100 * r, q) for r, q in line])), "gain without common rates")


# Stands in for libvmaf's command: 100 less the mean difference of luma, by frames of 8 bits.
VMAF = """#!%s
import json, sys
def frames(path):
    with open(path, "rb") as stream:
        head = stream.readline().split()
        luma = int(head[1][1:]) * int(head[2][1:])
        while stream.readline():
            yield stream.read(luma)
            stream.read(luma // 2)
given = dict(zip(sys.argv[1:], sys.argv[2:]))
scores = [100 - sum(abs(x - y) for x, y in zip(a, b)) / len(a)
          for a, b in zip(*[list(frames(given[name])) for name in ("-r", "-d")])]
with open(given["-o"], "w") as out:
    json.dump({"frames": [{"metrics": {"vmaf": score}} for score in scores]}, out)
""" % sys.executable


def write_vmaf(folder):
    path = os.path.join(folder, "vmaf")
    with open(path, "w") as out:
        out.write(VMAF)
    os.chmod(path, 0o755)
    return path


def write_frames(path, offsets, flat=None, deep=False):
    """A frame per offset, which is added to the luma of a texture, or of a flat picture."""
    with open(path, "wb") as out:
        out.write(b"YUV4MPEG2 W%d H%d F25:1 C420%s\n" % (WIDTH, HEIGHT, b"p10" if deep else b"jpeg"))
        for offset in offsets:
            luma = [offset + (37 * i % 240 if flat is None else flat) for i in range(WIDTH * HEIGHT)]
            planes = luma + [128] * (WIDTH * HEIGHT // 2)
            out.write(b"FRAME\n" + (struct.pack("<%dH" % len(planes), *planes) if deep
                                    else bytes(planes)))


def judged(folder, vmaf, source, test, **form):
    """The measures of frames with these offsets."""
    paths = [os.path.join(folder, name) for name in ("source.y4m", "test.y4m")]
    for path, offsets in zip(paths, (source, test)):
        write_frames(path, offsets, **form)
    return judge(Cache(os.path.join(folder, "cache")), vmaf, "yuv4mpegpipe", paths[1], paths[0])


def check_quality():
    """Known errors, against figures by hand."""
    check(percentile([9, 7, 8], 0.5) == 8 and percentile([10, 0], 0.01) == 0.1
          and percentile(range(201), 0.01) == 2 and percentile([5], 0.01) == 5, "percentiles")
    if not shutil.which("ffmpeg"):
        print("no ffmpeg: measures of quality are not checked")
        return
    with tempfile.TemporaryDirectory() as folder:
        def expect(found, wanted):
            for name, value in wanted.items():
                check(found[name] is value or abs(found[name] - value) < 1e-4,
                      "%s is %s, not %s" % (name, found[name], value))
        vmaf = write_vmaf(folder)
        zeros = [0] * FRAMES
        expect(judged(folder, vmaf, zeros, zeros), {
            "luma": 100, "planes": 100, "ssim": 1, "vmaf": 100, "luma_low": 60, "vmaf_low": 100,
            "luma_spread": 0})
        # Errors of 4 and 16, 10 on average; a third of the samples is chroma, without error.
        expect(judged(folder, vmaf, zeros, [2, 4] * (FRAMES // 2)), {
            "luma": 10 * math.log10(255 ** 2 / 10), "planes": 10 * math.log10(255 ** 2 / (10 * 2 / 3)),
            "luma_low": 10 * math.log10(255 ** 2 / 16), "luma_spread": 5 * math.log10(4),
            "vmaf": 97, "vmaf_low": 96})
        # SSIM of flat pictures: only means count, and a constant of (0.01 * 255) ** 2.
        expect(judged(folder, None, zeros, [20] * FRAMES, flat=100), {
            "ssim": (2 * 100 * 120 + 2.55 ** 2) / (100 ** 2 + 120 ** 2 + 2.55 ** 2),
            "luma": 10 * math.log10(255 ** 2 / 400), "vmaf": None, "vmaf_low": None})
        expect(judged(folder, None, zeros, [8] * FRAMES, deep=True), {
            "luma": 10 * math.log10(1023 ** 2 / 64)})
        for count in (FRAMES - 1, FRAMES - 2):  # of frames: a decoder gave less
            try:
                judged(folder, None, zeros, zeros[:count])
            except Failure:
                continue
            check(False, "a frame that lacks is not noticed")


def summary_cells(column, values):
    rows_given = [dict({measure.column: "" for measure in MEASURES}, variant="all", reference="own",
                       clip="clip%d" % i, **{column: str(value)}) for i, value in enumerate(values)]
    return [line[2:] for line in quality_lines({("all",): rows_given}, {})]


def check_summary():
    check(summary_cells("bd_rate_luma", [-3, 0.4, 0.6, -1, "nan"])
          == [("4", "-0.75", "-0.30", "-3.00 clip0", "+0.60 clip2", "25 %")], "a summary of rates")
    check(summary_cells("gain_vmaf_low", [1, -0.4, -0.6, -2])
          == [("4", "-0.50", "-0.50", "+1.00 clip0", "-2.00 clip3", "50 %")], "a summary of points")
    check(summary_cells("bd_rate_global", [2])
          == [("1", "(+2.00)", "(+2.00)", "(+2.00 clip0)", "(+2.00 clip0)", "(100 %)")],
          "a summary of what the encoder says")


def check_cache():
    """What several workers want at once is run once."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "runs")
        cache = Cache(os.path.join(folder, "cache"))

        def work_once(_):
            return cache.run("sh", ["sh", "-c", "echo run >> %s; sleep 1" % log], {},
                             read=lambda where: {"is": os.path.basename(where)[-5:]})[1]["is"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            check(set(pool.map(work_once, range(4))) == {".part"}, "a result of the cache")
        with open(log) as stream:
            check(stream.read() == "run\n", "the cache runs the same twice")


def check_buffer():
    # A picture, and parameters or text, for each encoder.
    units = {"x264": (b"\x00\x00\x01\x41", b"\x00\x00\x00\x01\x67"),
             "x265": (b"\x00\x00\x01\x02", b"\x00\x00\x00\x01\x40")}
    for encoder, (picture, other) in units.items():
        delimiter = DELIMITER[encoder] + bytes([7]) * (DELIMITER_BYTES[encoder] - len(DELIMITER[encoder]))
        pictures = [picture + bytes([7]) * size for size in (10, 300, 0)]
        for head in (other + b"\x07" * 40, delimiter + other * 2, delimiter):
            check(picture_bits(head + delimiter.join(pictures), encoder) ==
                  [8 * (4 + size) for size in (10, 300, 0)], "sizes of pictures")
    # 100 kbit, 90 of them at the start, and 40 more after each picture.
    check(abs(lowest_fill([50000, 70000, 10000], 25, 1000, 100) - 10) < 1e-9, "fill of a buffer")
    check(abs(lowest_fill([50000, 90000, 10000], 25, 1000, 100) + 10) < 1e-9, "a limit that is broken")
    check(abs(lowest_fill([0, 0, 100000, 41000], 25, 1000, 100) + 1) < 1e-9, "a buffer that is full")
    check(options_at(200, VBV) == ["--vbv-maxrate", "240", "--vbv-bufsize", "100"], "options of a rate")


def check_fit():
    """A model is found again in the sizes that it predicts."""
    model = (-2.2, 0.17, 3.6, 2.5, 0.4, -3.0, 1.5)
    frames = [[Frame("P", q, 0, 128, scale, 10 * place, [scale * (k * place % 7) for k in range(BINS)],
                     [k * place % 5 for k in range(BINS)], [k * place % 3 * 9 for k in range(BINS)])
               for place, scale in ((1, 1.0), (2, 2.5), (3, 1.0), (4, 1.5), (5, 4.0))] +
              [Frame("P", q, 0, 128, 1.0, 0, [0] * BINS, [0] * BINS, [0] * BINS)]  # nothing but a header
              for q in (20.0, 26.0, 31.0)]
    clips = [[frame._replace(bits=predict(model, frame)) for frame in clip] for clip in frames]
    found = fit_type(clips, "P")
    check(all(abs(a - b) < 1e-3 for a, b in zip(found, model)), "coefficients of the fit")


def check_fit_svt_av1():
    """Kinds of frames, and a model that is found again."""
    check(kinds_of(20) == ["KEY"] + ["OF_2", "OF_4", "OF_2", "OF_8", "OF_2", "OF_4", "OF_2", "OF_16"]
          + ["OF_2", "OF_4", "OF_2", "OF_8", "OF_2", "OF_4", "OF_2", "END"] + ["OF_2", "END", "OF_2"],
          "kinds of SVT-AV1's frames")
    check([kinds_of(170)[i] for i in (160, 161, 162, 169)] == ["END", "KEY", "OF_2", "END"],
          "kinds about a key frame")
    model = (-1.6, 0.1, 2.4, 0.5, 0.3, -3.0, 1.5, 0.2)
    frames = [[fit_svt_av1.Frame("END", 0, 1.2, place / 2, Frame(
        "END", q, 0, 0, 1.0, 10 * place, [k * place % 7 for k in range(BINS)],
        [k * place % 5 for k in range(BINS)], [k * place % 3 * 9 for k in range(BINS)]))
               for place in (2, 3, 4, 5, 7)] for q in (24.0, 32.0, 44.0)]
    clips = [[frame._replace(bits=fit_svt_av1.predict(model, frame)) for frame in clip]
             for clip in frames]
    found = fit_svt_av1.fit_kind(clips, "END")
    check(all(abs(a - b) < 1e-2 for a, b in zip(found, model)), "coefficients of SVT-AV1's fit")


def check_changed_records():
    """Controls: SVT-AV1's statistics with other sizes of frames."""
    with tempfile.TemporaryDirectory() as folder:
        records = [(i, 0.0, 4e5, 1.0, i, 80 * i, 99, 160, 0) for i in range(5)]
        total = (10.0, 0.0, 2e6, 5.0, 0, 0, 0, 0, 0)
        stats = os.path.join(folder, "stats")
        with open(stats, "wb") as out:
            out.write(b"".join(RECORD.pack(*record) for record in records + [total]))
        for change in ("uniform", "shuffled"):
            with open(changed_records(Cache(folder), stats, change), "rb") as stream:
                changed = list(RECORD.iter_unpack(stream.read()))
            bits = [record[BITS] for record in changed[:-1]]
            check(changed[-1] == total and [r[:BITS] for r in changed[:-1]]
                  == [r[:BITS] for r in records], "other fields of changed records")
            check(bits == [160] * 5 if change == "uniform"
                  else sorted(bits) == [8, 80, 160, 240, 320] and bits != [8, 80, 160, 240, 320],
                  "bits of %s records" % change)


def write_clip(path):
    """A texture that moves right by two pixels a frame."""
    with open(path, "wb") as out:
        out.write(b"YUV4MPEG2 W%d H%d F25:1 C420jpeg\n" % (WIDTH, HEIGHT))
        for n in range(FRAMES):
            out.write(b"FRAME\n")
            for y in range(HEIGHT):
                out.write(bytes((((x - 2 * n) * 37 // 8) ^ (y * 11)) % 251 for x in range(WIDTH)))
            out.write(bytes([128]) * (WIDTH * HEIGHT // 2))


def coded_order():
    """Display positions: each run's end, its reference B frame, its other B frames."""
    order, run = [], []
    for display, kind in enumerate(TYPES):
        run.append(display)
        if kind in "IP":
            order += [display] + sorted(run[:-1], key=lambda i: TYPES[i] != "B")
            run = []
    return order


def run_probe(probe, folder, distortion):
    out = os.path.join(folder, distortion)
    subprocess.run([probe, "-t", os.path.join(folder, "stats"), "-v", distortion,
                    os.path.join(folder, "clip.y4m"), out], check=True)
    with open(out + ".csv", newline="") as table:
        found = list(csv.DictReader(table))
    with open(out + ".offsets", "rb") as stream:
        return found, stream.read()


def check_probe(probe):
    with tempfile.TemporaryDirectory() as folder:
        write_clip(os.path.join(folder, "clip.y4m"))
        stats = os.path.join(folder, "stats")
        with open(stats, "w") as out:
            out.write("#options: 96x80\n")
            for coded, display in enumerate(coded_order()):
                out.write("in:%d out:%d type:%s q:30.25 tex:10 mv:20 misc:30 ;\n" % (
                    display, coded, TYPES[display]))
        frames = frames_of(stats)
        check([frame["bits"] for frame in frames] == [60] * FRAMES, "bits of statistics")
        rows_found, offsets = run_probe(probe, folder, "as_found")
        check([(int(row["display"]), row["type"]) for row in rows_found]
              == [(frame["in"], frame["type"]) for frame in frames], "frame types of the probe")
        kept = sum(kind != "b" for kind in TYPES)
        check(len(offsets) == kept * (1 + 2 * BLOCKS), "size of the offsets")
        shuffled = run_probe(probe, folder, "reversed")[0]
        check(sum(int(row["cost"]) for row in shuffled) > sum(int(row["cost"]) for row in rows_found),
              "reversed vectors cost no more")


def offsets_of_command(command, folder, distortion):
    out = os.path.join(folder, distortion)
    subprocess.run([command, "firstpass", os.path.join(folder, "clip.y4m"), "--encoder", "x264",
                    "--bitrate", "100k", "--backend", "cpu", "-q", "-o", out], check=True,
                   env=dict(os.environ, FIRSTPASS_DISTORT=distortion))
    with open("%s-%dx%d-100k-0.log.mbtree" % (out, WIDTH, HEIGHT), "rb") as stream:
        return stream.read()


def check_distorted(command):
    with tempfile.TemporaryDirectory() as folder:
        write_clip(os.path.join(folder, "clip.y4m"))
        found = [offsets_of_command(command, folder, name)
                 for name in ("as_found", "zero", "reversed")]
        check(len(set(found)) == 3, "distorted vectors give the same offsets")


def run_ladder(folder, command, words):
    """The rows, and what was said."""
    run = subprocess.run(
        [sys.executable, "-B", os.path.join(HERE, "ladder.py"), "--clips", folder, "--gpume", command,
         "--cache", os.path.join(folder, "cache")] + words,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(run.returncode == 0, "ladder.py: " + run.stderr)
    return list(csv.DictReader(run.stdout.splitlines())), run.stderr


def write_source(folder, clip, pixels):
    """Frames that stand in for those of a clip of the corpus."""
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
         "testsrc2=s=%sx%s:r=25" % (clip["width"], clip["height"]), "-pix_fmt", pixels,
         "-frames:v", str(FRAMES), os.path.join(folder, clip["name"] + ".y4m")], check=True)


def cached_files(folder):
    """Those that are there, not links to others."""
    paths = [os.path.join(where, name)
             for where, _, names in os.walk(os.path.join(folder, "cache")) for name in names]
    return [path for path in paths if not os.path.islink(path)]


def check_ladder(command):
    """A small ladder, by firstpass_distorted with vectors as they were found."""
    if not shutil.which("ffmpeg") or not shutil.which("x264"):
        print("no ffmpeg or no x264: ladder.py is not checked")
        return
    with tempfile.TemporaryDirectory() as folder:
        clip = next(row for row in rows() if int(row["height"]) <= 360)
        write_source(folder, clip, "yuv420p")
        check_variants(*run_ladder(folder, command, [
            "--names", clip["name"], "--variants", "own,copy,crf,all", "--tune", "default",
            "--vmaf", write_vmaf(folder)]))
        frame = int(clip["width"]) * int(clip["height"]) * 3 // 2
        check(all(os.path.getsize(path) < frame for path in cached_files(folder)),
              "decoded video is in the cache")
        found, _ = run_ladder(folder, command, [
            "--names", clip["name"], "--variants", "own_crf,all_crf", "--tune", "default"])
        check_qualities(*found)
        shutil.rmtree(os.path.join(folder, "cache"))
        write_source(folder, clip, "yuvj420p")  # of full range, which gpume tells the encoder
        found, said = run_ladder(folder, command, [
            "--names", clip["name"], "--variants", "own,all", "--keyint", str(FRAMES // 2),
            "--preset", "veryfast"])
        check(all(row["vmaf"] == row["bd_rate_vmaf"] == row["gain_vmaf_low"] == ""
                  and row["luma"] for row in found), "figures of VMAF without its command")
        check(said.count("\n") == 1 and "--vmaf" in said, "ladder.py says nothing of VMAF")
        streams = [path for path in cached_files(folder) if path.endswith("/stream")]
        check(len(streams) == 12, "encodes of two variants at four rates")
        for path in streams:
            with open(path, "rb") as stream:
                check(stream.read().count(b"\0\0\1\x65") == 2, "key frames of segments")


def check_qualities(own, gpume):
    rates = [[float(rate) for rate in row["kbps"].split()] for row in (own, gpume)]
    check(own["bd_rate_luma"] == "0.000" and own["miss_mean"] == "" and own["rates"] == "quality",
          "the encoder's own constant qualities")
    check([round(rate) for rate in rates[0]] == [int(rate) for rate in gpume["target"].split()],
          "the rates of constant qualities")
    check(len(rates[1]) == len(QUALITIES) and sorted(rates[1], reverse=True) == rates[1]
          and rates[0] != rates[1], "second passes at constant qualities")


def check_variants(found, said):
    own, copy, crf, gpume = found
    compared = [name for name in own if name.startswith(("bd_rate_", "gain_"))]
    check(said == "" and len(compared) == len(MEASURES), "columns of ladder.py, or a complaint")
    check(all(row[name] == "0.000" for row in (own, copy) for name in compared),
          "the same encode is not as good")
    for row in (crf, gpume):
        for name, compare in (("luma", bd_rate), ("luma_low", gain)):
            curves = [list(zip(*(map(float, side[column].split()) for column in ("kbps", name))))
                      for side in (own, row)]
            value = float(row["%s_%s" % (compare.__name__, name)])
            check(value != 0 and abs(value - compare(*curves)) < 0.1, "a comparison of " + name)
    check(crf["miss_mean"] == crf["miss_signed"] == "", "misses without a rate to meet")
    for row in found:
        check(all(len(row[measure].split()) == 4 for measure in ("luma", "vmaf", "luma_spread")),
              "measures at each rate")
        check(all(abs(float(rate) - int(target)) <= 0.5 for rate, target in zip(
            crf["kbps"].split(), row["target"].split())), "rates that a constant quality takes")
    for row in (own, gpume):
        misses = [100 * (float(rate) / int(target) - 1)
                  for rate, target in zip(row["kbps"].split(), row["target"].split())]
        check(abs(float(row["miss_signed"]) - sum(misses) / 4) < 0.02
              and abs(float(row["miss_mean"]) - sum(map(abs, misses)) / 4) < 0.02,
              "misses of rates")
    for planes, of_encoder in zip(own["planes"].split(), own["global"].split()):
        # The same without B frames, and nearly so with them.
        check(abs(float(planes) - float(of_encoder)) < 0.1,
              "x264's own PSNR is another one: %s %s" % (planes, of_encoder))


def check_passes_failures():
    """Whatever passes.py cannot do is said, and at once."""
    tasks, failures = queue.Queue(), []
    tasks.put((0, ("clip.y4m", None)))  # no list of rates
    work(None, tasks, {}, failures)
    check([type(failure) for failure in failures] == [TypeError],
          "a worker of passes.py dies silently")
    for rate in ("345k", "1.5M"):
        check(bitrate_of(rate) == rate, "passes.py refuses a bitrate")
    for rate in ("345000", "1.5", "k", "1.2.3k", "345kb"):
        run = subprocess.run(
            [sys.executable, "-B", PASSES_PROGRAM, "--gpume", "none", "--encoder", "x264",
             "--bitrate", rate, "none"], stderr=subprocess.PIPE, text=True)
        check(run.returncode == 2 and rate + ": give" in run.stderr, "passes.py takes " + rate)


def check_passes(command):
    """A round of passes.py, by firstpass_distorted with vectors as they were found."""
    ffmpeg = shutil.which("ffmpeg")
    if not ffmpeg or b" libx264 " not in subprocess.run(
            [ffmpeg, "-hide_banner", "-encoders"], stdout=subprocess.PIPE, check=True).stdout:
        print("no ffmpeg with libx264: passes.py is not checked")
        return
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.y4m")
        write_clip(clip)
        found = []
        for what in (["--bitrate", "100k", "--bitrate", "200k"],
                     ["--rung", "96x64:100k", "--rung", "64x48:50k", "--tune", "psnr"]):
            run = subprocess.run(
                [sys.executable, "-B", PASSES_PROGRAM, "--gpume", command, "--encoder", "x264",
                 "--threads", "1", "--workers", "2", "--rounds", "2", clip] + what,
                stdout=subprocess.PIPE, text=True, check=True)
            found += csv.DictReader(run.stdout.splitlines())
    check([(row["bitrate"], row["encodes"]) for row in found]
          == [("100k", "2"), ("200k", "2"), ("all", "4"), ("96x64:100k+64x48:50k", "2")]
          and all(float(row[name]) >= 0 for row in found for name in PASSES), "rows of passes.py")
    check(abs(ratio([2.0, 6.0, 0.5, 5.9]) - 0.8) < 1e-9, "ratio of passes.py")


if __name__ == "__main__":
    check(len(sys.argv) in (2, 3), "usage: check.py FIRSTPASS_PROBE [FIRSTPASS_DISTORTED]")
    check_corpus()
    check_bd_rate()
    check_cache()
    check_quality()
    check_summary()
    check_buffer()
    check_fit()
    check_fit_svt_av1()
    check_changed_records()
    check_passes_failures()
    check_probe(sys.argv[1])
    for program in sys.argv[2:]:
        check_distorted(program)
        check_ladder(program)
        check_passes(program)
