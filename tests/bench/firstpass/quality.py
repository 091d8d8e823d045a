# SPDX-License-Identifier: BSD-2-Clause
"""Quality of an encode, measured on the decoded frames against the clip: mean square errors and SSIM
by FFmpeg's filters, and VMAF by the command of libvmaf, if its path is given. Both decode by
themselves, so that no decoded video is ever stored."""
import json
import math
import os
import re
import shlex
from statistics import mean, pstdev

from encoders import FRAME_RATE, Failure, file_hash, version, y4m_shape

PERFECT = 100.0  # dB, of encodes without any error
LOW = 0.01  # which part of the frames is worse than the 1st percentile
# Frames are paired by their numbers, and must not be converted: then they would be other frames.
NUMBERED = "settb=1/%d,setpts=N" % FRAME_RATE
GRAPH = ("[0:v]{n}[test];[1:v]{n},split[a][b];[test][a]psnr=shortest=1[c];"
         "[c][b]ssim=shortest=1,metadata=print:file=frames.txt").format(n=NUMBERED)
FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1"]
OF_FRAMES = {"luma": r"lavfi\.psnr\.mse\.y=(\S+)", "planes": r"lavfi\.psnr\.mse_avg=(\S+)",
             "ssim": r"lavfi\.ssim\.Y=(\S+)"}


def of_decoded(cache, program, form, stream, clip, tool, read):
    """What read(directory) finds when the tool has read clip.y4m and, as y4m from its standard input,
    the decoded stream. Y4m has no formats of full range, in which samples would be converted."""
    decode = FFMPEG + ["-f", form, "-i", "stream", "-fps_mode", "passthrough", "-strict", "-1",
                       "-f", "yuv4mpegpipe", "-"]
    line = "set -o pipefail; %s | %s" % (shlex.join(decode), shlex.join(tool))
    return cache.run(program, ["bash", "-c", line], {"stream": stream, "clip.y4m": clip},
                     read=read)[1]


def errors_of_frames(cache, form, stream, clip):
    """Lists with a value per frame: mean square errors of luma and of all planes, SSIM of luma."""
    def read(folder):
        path = os.path.join(folder, "frames.txt")
        with open(path) as found:
            text = found.read()
        os.remove(path)
        return {name: [float(value) for value in re.findall(pattern, text)]
                for name, pattern in OF_FRAMES.items()}
    tool = FFMPEG + ["-noauto_conversion_filters", "-f", "yuv4mpegpipe", "-i", "-", "-i", "clip.y4m",
                     "-filter_complex", GRAPH, "-f", "null", "-"]
    return of_decoded(cache, "errors " + version("ffmpeg"), form, stream, clip, tool, read)


def vmaf_of_frames(cache, vmaf, form, stream, clip):
    """VMAF of each frame. vmaf: the path of the command."""
    def read(folder):
        path = os.path.join(folder, "vmaf.json")
        with open(path) as found:
            frames = json.load(found)["frames"]
        os.remove(path)
        return {"vmaf": [frame["metrics"]["vmaf"] for frame in frames]}
    tool = [vmaf, "-r", "clip.y4m", "-d", "/dev/stdin", "--model", "version=vmaf_v0.6.1",
            "--threads", "1", "--json", "-q", "-o", "vmaf.json"]
    return of_decoded(cache, "vmaf " + file_hash(vmaf), form, stream, clip, tool, read)["vmaf"]


def decibels(error, peak, most):
    return min(most, 10 * math.log10(peak ** 2 / error)) if error > 0 else most


def percentile(values, part):
    """Between the two values beside the place part * (count - 1) of the sorted ones, linearly."""
    values = sorted(values)
    below, share = divmod(part * (len(values) - 1), 1)
    pair = values[int(below):int(below) + 2]
    return pair[0] + share * (pair[-1] - pair[0])


def measures(errors, vmaf, bits):
    """Of an encode, from those of its frames. bits: of a sample; vmaf: None without the command.
    A frame has at most as many dB as libvmaf gives it, 60 with 8 bits: more cannot be seen."""
    peak = 2 ** bits - 1
    frames = [decibels(error, peak, 6 * bits + 12) for error in errors["luma"]]
    return {
        "luma": decibels(mean(errors["luma"]), peak, PERFECT),
        "planes": decibels(mean(errors["planes"]), peak, PERFECT),
        "ssim": mean(errors["ssim"]),
        "vmaf": mean(vmaf) if vmaf else None,
        "luma_low": percentile(frames, LOW),
        "vmaf_low": percentile(vmaf, LOW) if vmaf else None,
        "luma_spread": pstdev(frames),
    }


def judge(cache, vmaf, form, stream, clip):
    """The measures of a stream of FFmpeg's format `form` against a y4m clip."""
    errors = errors_of_frames(cache, form, stream, clip)
    of_vmaf = vmaf_of_frames(cache, vmaf, form, stream, clip) if vmaf else None
    bits, count = y4m_shape(clip)
    for values in [errors[name] for name in OF_FRAMES] + [of_vmaf or [0] * count]:
        if len(values) != count:
            raise Failure("%s: %d frames were measured, not the %d of the clip" % (
                stream, len(values), count))
    return measures(errors, of_vmaf, bits)
