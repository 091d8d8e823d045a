#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `gpume filter` saves an encoder, measured against the unfiltered source.

    python3 filter.py GPUME CLIP... [--encoder x264,x265] [--crf 22,27,32,37] [--frames N] [--sigma 0,4] [--vf GRAPH]
                      [--camera] [--ways own,noise,for] [--options "--strength 1"] [--vmaf PROGRAM] [--jobs N] [--points FILE]

The first frames of each clip, with noise of a fixed seed added to all planes if sigma is above 0 (Gaussian; with --camera as that of
cameras: stronger where it is lighter, alike in neighbouring samples, half as strong in chroma), are encoded with preset medium and
tune psnr (SVT-AV1: preset 6, tune 1; VVenC: preset faster, a QP in place of a CRF), in all of these ways, of which the first is what the others are compared with:

    own        as they are, at each CRF
    noise      filtered by their noise, at each CRF
    for        filtered for the encoder and the CRF
    mcstf      as they are, with x265's own temporal filter (--mcstf, from 4.0 on)
    no-tf      as they came, with the filter of SVT-AV1 (--enable-tf 0) or VVenC (MCTF=0) turned off
    noise+no-tf, for+no-tf  filtered by gpume, and not by the encoder
    two        in the encoder's own two passes, at the bitrates that `own` has at the CRFs
    first      in one pass after `gpume firstpass`, at the same bitrates
    filtered   the same with `gpume firstpass --filter 1`
    kept       the same with --filtered FILE.y4m, so that the filter runs once
    kept-mkv   the same with --filtered FILE.mkv

Prints, in Markdown, the noise that the filter finds, and for each way the difference of bitrates at equal PSNR, SSIM and (with
--vmaf, libvmaf's command) VMAF of luma of the decoded video against the source before the filter, noise included (Bjontegaard),
and the processor time of all its commands; then the mean, the worst and the number of clips. Needs ffmpeg (of VVenC 7.1 or later),
the encoders' programs and python3-numpy.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "firstpass"))
from bdrate import bd_rate, ssim_db  # noqa: E402  (beside this folder)

X265 = "x265 --log-level none --pools none --frame-threads 1 --y4m --preset medium --tune psnr"
ENCODERS = {
    "x264": "x264 --quiet --threads 1 --demuxer y4m --preset medium --tune psnr {} -o {out} {source}",
    "x265": X265 + " {} -o {out} {source}",
    "svt-av1": "SvtAv1EncApp --lp 1 --preset 6 --tune 1 {} -i {source} -b {out}",
    "vvenc": "vvencapp --preset faster --qpa 0 --threads 1 -v 1 {} -i {source} -o {out}",
}
ENDINGS = {"x264": "264", "x265": "hevc", "svt-av1": "ivf", "vvenc": "266"}
QUALITY = {"vvenc": "--additional BIM=0 --qp"} # --crf for the others; BIM, which adapts QPs, needs what MCTF finds
NO_TF = {"svt-av1": "--enable-tf 0", "vvenc": "--additional BIM=0:MCTF=0"}
WAYS = ("own", "noise", "for", "mcstf", "no-tf", "noise+no-tf", "for+no-tf", "two", "first", "filtered", "kept", "kept-mkv")
environment = dict(os.environ)


def run(command):
    """Runs a shell's command line. Returns the seconds that processors spent on it."""
    process = subprocess.Popen(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command}: {errors.decode(errors='replace')[-300:]}")
    return usage.ru_utime + usage.ru_stime


def read(*command):
    done = subprocess.run(command, capture_output=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')[-300:]}")
    return done


def camera_noise(plane, sigma, random):
    """As a camera leaves it: more where it is lighter (sigma: at a value of 128), and alike in neighbouring samples."""
    noise = random.normal(0, 1, plane.shape)
    for axis in (1, 2):
        noise = (numpy.roll(noise, 1, axis) + 2 * noise + numpy.roll(noise, -1, axis)) / 6 ** 0.5
    return sigma * numpy.sqrt(0.2 + 0.8 * plane / 128.0) * noise


def add_noise(video, width, height, sigma, camera):
    random = numpy.random.default_rng(1)
    if not camera:
        noise = random.normal(0, sigma, video.shape)
    else:
        luma = video[:, :width * height].reshape(-1, height, width)
        noise = numpy.zeros(video.shape)
        noise[:, :width * height] = camera_noise(luma, sigma, random).reshape(len(video), -1)
        chroma = random.normal(0, sigma / 2, (len(video), video.shape[1] - width * height))
        noise[:, width * height:] = chroma
    return numpy.clip(numpy.rint(video + noise), 0, 255).astype(numpy.uint8)


def make_source(clip, frames, graph, sigma, camera, path):
    """Y4M of 8 bits 4:2:0 at 25 frames per second, with noise."""
    chain = ",".join(filter(None, [graph, "setpts=N/25/TB", "format=yuv420p"]))
    raw = read("ffmpeg", "-nostdin", "-v", "error", "-i", clip, "-vf", chain, "-r", "25", "-fps_mode", "cfr", "-frames:v",
               str(frames), "-f", "yuv4mpegpipe", "-").stdout
    lines = raw.split(b"\n", 1)
    width, height = (int(re.search(rb" %c(\d+)" % which, lines[0]).group(1)) for which in b"WH")
    bytes_ = width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)
    video = numpy.frombuffer(lines[1], numpy.uint8).reshape(-1, bytes_ + 6)[:, 6:]
    if sigma > 0:
        video = add_noise(video, width, height, sigma, camera)
    with open(path, "wb") as file:
        file.write(lines[0] + b"\n" + b"".join(b"FRAME\n" + frame.tobytes() for frame in video))
    return len(video)


def quality(coded, source, vmaf):
    """PSNR in dB, SSIM in dB, and VMAF, of luma."""
    decoded = coded + ".y4m"
    log = read("ffmpeg", "-nostdin", "-v", "info", "-r", "25", "-i", coded, "-r", "25", "-i", source, "-lavfi",
               "[0:v]split[a][c];[a][1:v]psnr;[c][1:v]ssim", "-f", "null", "-").stderr.decode()
    psnr = float(re.search(r"PSNR y:([0-9.]+)", log).group(1))
    ssim = ssim_db(float(re.search(r"SSIM Y:([0-9.]+)", log).group(1)))
    if not vmaf:
        return psnr, ssim, 0
    read("ffmpeg", "-nostdin", "-v", "error", "-y", "-r", "25", "-i", coded, "-pix_fmt", "yuv420p", decoded)
    read(vmaf, "-r", source, "-d", decoded, "--model", "version=vmaf_v0.6.1", "--threads", "1", "--json", "-q", "-o", decoded + ".json")
    score = json.load(open(decoded + ".json"))["pooled_metrics"]["vmaf"]["mean"]
    os.remove(decoded)
    return psnr, ssim, score


class Clip:
    def __init__(self, path, sigma, folder, arguments):
        self.name, self.sigma, self.folder, self.gpume = pathlib.Path(path).stem, sigma, folder, arguments.gpume
        self.source, self.options, self.vmaf = f"{folder}/source.y4m", arguments.options, arguments.vmaf
        self.frames = make_source(path, arguments.frames, arguments.vf, sigma, arguments.camera, self.source)
        told = read(self.gpume, "filter", self.source, "-o", "/dev/null", "-y", "--threads", "1", *shlex.split(self.options)).stdout
        self.noise = float(re.search(rb"noise +([0-9.]+)", told).group(1))

    def filter(self, target, aware):
        return run(f"{shlex.quote(self.gpume)} filter {self.source} -o {target} -q -y --threads 1 {aware} {self.options}")

    def second_pass(self, encoder, kbits, out, options):
        """The line that gpume firstpass prints, run by a shell."""
        seconds = run(f"{shlex.quote(self.gpume)} firstpass {self.source} --encoder {encoder} --tune psnr --bitrate {kbits}k -o {out} -q -y "
                      f"--threads 1 {options}")
        commands = json.load(open(out + ".json"))["runs"][0]["commands"]
        extra = {"x264": "--threads 1", "x265": "--pools none --frame-threads 1", "svt-av1": "--lp 1"}[encoder]
        words = [[out if word == "OUTPUT" else word for word in commands[part]] for part in ("filter", "feed", encoder) if part in commands]
        words[0][0] = self.gpume if words[0][0] == "gpume" else words[0][0]
        words[-1][1:1] = extra.split()
        return seconds + run(" | ".join(map(shlex.join, words)))

    def point(self, encoder, way, crf):
        """(bytes, seconds, PSNR, SSIM, VMAF) at a CRF, or at the bitrate that the encoder has there."""
        base = f"{self.folder}/{encoder}-{way}-{crf}"
        out, line = f"{base}.{ENDINGS[encoder]}", ENCODERS[encoder]
        source, filtered = self.source, f"{base}.y4m"
        if way in WAYS[WAYS.index("two"):]:
            run(line.format(f"--crf {crf}", out=out, source=source))
            kbits = max(1, round(os.path.getsize(out) * 8 * 25 / self.frames / 1000))
            if way == "two":
                passes = [f"--bitrate {kbits} --pass {number} --stats {base}.stats" for number in (1, 2)]
                seconds = run(line.format(passes[0], out="/dev/null", source=source)) + run(line.format(passes[1], out=out, source=source))
            else:
                options = {"first": "", "filtered": "--filter 1", "kept": f"--filter 1 --filtered {filtered}",
                           "kept-mkv": f"--filter 1 --filtered {base}.mkv"}[way]
                seconds = self.second_pass(encoder, kbits, out, options)
        else:
            seconds = 0
            if way[:3] in ("noi", "for"):
                seconds = self.filter(filtered, f"--for {encoder} --crf {crf}" if way.startswith("for") else "")
                source = filtered
            more = "--mcstf" if way == "mcstf" else NO_TF[encoder] if way.endswith("no-tf") else ""
            seconds += run(line.format(f"{QUALITY.get(encoder, '--crf')} {crf} {more}", out=out, source=source))
        result = (os.path.getsize(out), seconds, *quality(out, self.source, self.vmaf))
        for path in (out, filtered, base + ".mkv"):
            pathlib.Path(path).unlink(missing_ok=True)
        return result


def differences(one, other):
    """In percent, at equal PSNR, SSIM and VMAF; and how many times as long it takes."""
    rates = [bd_rate([(p[0], p[i]) for p in one], [(p[0], p[i]) for p in other]) for i in (2, 3)]
    vmafs = [[(p[0], p[4]) for p in points] for points in (one, other)]
    rates.append(bd_rate(*vmafs) if one[0][4] > 0 else 0)
    return (*rates, sum(p[1] for p in other) / sum(p[1] for p in one))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gpume")
    parser.add_argument("clips", nargs="+")
    for name, default in (("encoder", "x264"), ("crf", "22,27,32,37"), ("sigma", "0"), ("vf", ""), ("ways", "own,noise"), ("options", ""),
                          ("vmaf", ""), ("libraries", ""), ("points", "")):
        parser.add_argument("--" + name, default=default)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--camera", action="store_true")
    arguments = parser.parse_args()
    if arguments.libraries: # of all programs that are called, but not of Python
        environment["LD_LIBRARY_PATH"] = arguments.libraries
    ways, crfs, encoders = (getattr(arguments, name).split(",") for name in ("ways", "crf", "encoder"))
    if set(ways) - set(WAYS) or set(encoders) - set(ENCODERS):
        parser.error(f"--ways: some of {WAYS}; --encoder: some of {list(ENCODERS)}")
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    with tempfile.TemporaryDirectory() as root:
        made = [pool.submit(Clip, path, float(sigma), tempfile.mkdtemp(dir=root), arguments)
                for path in arguments.clips for sigma in arguments.sigma.split(",")]
        clips = []
        for path, future in zip([p for p in arguments.clips for _ in arguments.sigma.split(",")], made):
            try:
                clips.append(future.result())
            except (RuntimeError, ValueError) as error:
                print(f"{path}: {error}", file=sys.stderr)
        points = {(clip, encoder, way, crf): pool.submit(clip.point, encoder, way, crf)
                  for encoder in encoders for way in ways for clip in clips for crf in crfs}
        sums = {}
        print("| clip | sigma | noise | encoder | way | PSNR | SSIM | VMAF | time |\n" + "|---" * 9 + "|")
        for clip in clips:
            for encoder in encoders:
                curves = {}
                for way in ways:
                    try:
                        curves[way] = [points[clip, encoder, way, crf].result() for crf in crfs]
                    except RuntimeError as error:
                        print(f"{clip.name}, {encoder}, {way}: {error}", file=sys.stderr)
                for way in ways[1:] if ways[0] in curves else []:
                    if way in curves:
                        found = differences(curves[ways[0]], curves[way])
                        sums.setdefault((encoder, way), []).append(found)
                        print(f"| {clip.name} | {clip.sigma:g} | {clip.noise:.2f} | {encoder} | {way} | " +
                              " | ".join(f"{value:+.2f} %" for value in found[:3]) + f" | {found[3]:.2f} |", flush=True)
                if arguments.points:
                    with open(arguments.points, "a") as file:
                        file.write(json.dumps([clip.name, clip.sigma, clip.noise, encoder, curves]) + "\n")
        for (encoder, way), found in sums.items():
            columns = list(zip(*found))
            print(f"| {len(found)} clips | | | {encoder} | {way} | " +
                  " | ".join(f"{statistics.mean(column):+.2f} % (worst {max(column):+.2f})" for column in columns[:3]) +
                  f" | {statistics.mean(columns[3]):.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
