# SPDX-License-Identifier: BSD-2-Clause
"""gpume.Filter: its frames are, sample for sample, what the command writes, in any format and any order of frames."""
import array
import os
import random
import subprocess
import tempfile

import vapoursynth as vs
from support import clip_of, core, error_of, moving, write_y4m

WIDTH, HEIGHT, FRAMES = 52, 44, 30


def written(path, clip, options):
    """What the command makes of the file: the planes of each frame, as bytes."""
    out = path + ".filtered.y4m"
    subprocess.run([os.environ["GPUME_COMMAND"], "filter", path, "-o", out, "--backend", "cpu", "-q", "-y", *options], check=True)
    with open(out, "rb") as file:
        data = file.read()
    details = clip.format
    sizes = [WIDTH * HEIGHT * details.bytes_per_sample] + [
        -(-WIDTH >> details.subsampling_w) * -(-HEIGHT >> details.subsampling_h) * details.bytes_per_sample] * (
            details.num_planes - 1)
    at, frames = data.index(b"\n") + 1, []
    while at < len(data):
        at += len(b"FRAME\n")
        planes = []
        for size in sizes:
            planes.append(data[at:at + size])
            at += size
        frames.append(planes)
    return frames


def check_frame(frame, n, expected):
    assert frame.props["Number"] == n  # properties stay
    for p, plane in enumerate(expected[n]):
        assert bytes(frame[p]) == plane, (n, p)


def check(folder, samples, format, keywords, options):
    clip = clip_of(samples, WIDTH, HEIGHT, format)
    path = os.path.join(folder, "clip.y4m")
    write_y4m(path, samples, WIDTH, HEIGHT, format)
    expected = written(path, clip, options)
    assert len(expected) == FRAMES
    some = random.Random(1).sample(range(FRAMES), 8)
    for order in (list(range(FRAMES)), list(range(FRAMES))[::-9], some, [FRAMES - 1, 3]):
        found = core.gpume.Filter(clip, devices="cpu", **keywords)
        assert (found.format, found.num_frames, found.fps) == (clip.format, clip.num_frames, clip.fps)
        for n in order:
            check_frame(found.get_frame(n), n, expected)
    # Many at once, from VapourSynth's threads.
    found = core.gpume.Filter(clip, devices="cpu", **keywords)
    for n, future in [(n, found.get_frame_async(n)) for n in range(FRAMES)]:
        check_frame(future.result(), n, expected)
    return clip, expected


with tempfile.TemporaryDirectory() as folder:
    for format, peak in ((vs.GRAY8, 255), (vs.YUV420P8, 255), (vs.YUV422P10, 1023), (vs.YUV444P12, 4095), (vs.GRAY16, 65535)):
        check(folder, moving(WIDTH, HEIGHT, FRAMES, peak, (0, -2)), format, {"noise": 5}, ["--noise", "5"])
    # Repeated frames, and every argument.
    frames = moving(WIDTH, HEIGHT, FRAMES, 255, (0, -2))
    for n in (2, 3, 4, 9, 15, 16, 22):
        frames[n] = frames[n - 1]
    clip, expected = check(folder, frames, vs.GRAY8, {"strength": 2, "noise": 4.5, "radius": 2, "window": [9, 5], "metric": "satd"},
                           ["--strength", "2", "--noise", "4.5", "--radius", "2", "-w", "9x5", "--metric", "satd"])
    assert sum(bytes(clip.get_frame(n)[0]) != expected[n][0] for n in range(FRAMES)) > FRAMES / 2
    check(folder, frames, vs.GRAY8, {"threads": 1, "spatial": 1.5}, ["--spatial", "1.5"])
    frames = frames[:] # `clip` reads the other list when its frames are asked for
    for n in (1, 6, 12):
        frames[n] = [255 if i % 100 in (40, 41, 42) and 20 <= i // WIDTH < 24 else v for i, v in enumerate(frames[n])]
    check(folder, frames, vs.GRAY8, {"despot": 1, "radius": 1}, ["--despot", "--radius", "1"])

    # On a Vulkan device, where there is one, a software driver too.
    try:
        on_device = core.gpume.Filter(clip, strength=2, noise=4.5, radius=2, window=[9, 5], metric="satd", devices="0")
    except vs.Error as error:
        assert "no such device" in str(error), error
        print("not run on a Vulkan device: there is none")
    else:
        for n in (0, 1, 7):
            check_frame(on_device.get_frame(n), n, expected)

    # Samples beyond the depth count as the largest.
    wild = [[sample * 3 for sample in frame] for frame in moving(WIDTH, HEIGHT, 3, 1023)]
    tame = [[min(sample, 1023) for sample in frame] for frame in wild]
    for n in range(3):
        assert (bytes(core.gpume.Filter(clip_of(wild, WIDTH, HEIGHT, vs.GRAY10), noise=5).get_frame(n)[0]) ==
                bytes(core.gpume.Filter(clip_of(tame, WIDTH, HEIGHT, vs.GRAY10), noise=5).get_frame(n)[0]))

    # What is refused, in words.
    for keywords, words in (
            ({"strength": 2.5}, "strength is 2.5; it must be from 0 to 2"),
            ({"spatial": 2.5}, "spatial is 2.5; it must be from 0 to 2"),
            ({"strength": 0, "spatial": 1},
             "spatial: with strength 0 the noise is not measured; give noise a number"),
            ({"noise": -1}, "noise is -1; it must be from 0 to 50"),
            ({"despot": 2}, "despot is 2; it must be from 0 to 1"),
            ({"radius": 5}, "radius is 5; it must be from 1 to 4"),
            ({"window": 0}, "window is 0; it must be from 1 to 128"),
            ({"window": [1, 2, 3]}, "window has more than two numbers"),
            ({"metric": "mse"}, 'metric is "mse"; it must be one of "sad", "satd", "ssd"'),
            ({"devices": "no such device"}, "no such device")):
        said = error_of(core.gpume.Filter, clip, **keywords)
        assert said.startswith("Filter: ") and words in said, said
    for format, words in ((vs.RGB24, "the clip is RGB"), (vs.GRAYS, "the clip's samples are not integers"),
                          (vs.YUV410P8, "the clip's chroma has a quarter")):
        assert words in error_of(core.gpume.Filter, core.std.BlankClip(format=format, width=64, height=64))
