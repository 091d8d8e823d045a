# SPDX-License-Identifier: BSD-2-Clause
"""gpume.Vectors: its properties are, byte for byte, what the command writes, in any format and any order of frames."""
import os
import random
import tempfile

import vapoursynth as vs
from support import clip_of, core, error_of, moving, searched, write_y4m

WIDTH, HEIGHT, FRAMES = 52, 44, 7


def check_frame(frame, n, expected, block, subpel):
    """One frame of gpume.Vectors against what the command found."""
    names = {name for name in frame.props if name.startswith("Gpume")}
    assert frame.props["Number"] == n  # other properties stay
    if n not in expected:
        assert not names, (n, names)
        return
    ref, vectors, costs = expected[n]
    assert frame.props["GpumeRef"] == ref, n
    assert frame.props["GpumeVectors"] == vectors, n
    assert frame.props["GpumeCosts"] == costs, n
    assert frame.props["GpumeBlock"] == list(block)
    assert frame.props["GpumeSubpel"] == subpel
    assert frame.props["GpumeCols"] == -(-WIDTH // block[0])
    assert frame.props["GpumeRows"] == -(-HEIGHT // block[1])
    assert len(vectors) == 4 * frame.props["GpumeCols"] * frame.props["GpumeRows"]


def orders():
    """Frames forwards, backwards, shuffled, and one more than once."""
    some = list(range(FRAMES)) * 3
    random.Random(1).shuffle(some)
    return [list(range(FRAMES)), list(range(FRAMES))[::-1], some]


def check(folder, samples, format, keywords, options, block=(8, 8), subpel=1):
    clip = clip_of(samples, WIDTH, HEIGHT, format)
    path = os.path.join(folder, "clip.y4m")
    write_y4m(path, samples, WIDTH, HEIGHT, format)
    expected = searched(path, options, subpel)
    assert expected and len(expected) < FRAMES
    for order in orders():
        found = core.gpume.Vectors(clip, devices="cpu", **keywords)
        assert (found.format, found.num_frames, found.fps) == (clip.format, clip.num_frames, clip.fps)
        for n in order:
            check_frame(found.get_frame(n), n, expected, block, subpel)
        # Many at once, from VapourSynth's threads.
        for n, future in [(n, found.get_frame_async(n)) for n in order]:
            check_frame(future.result(), n, expected, block, subpel)
    return found


with tempfile.TemporaryDirectory() as folder:
    bytes_ = moving(WIDTH, HEIGHT, FRAMES, 255)
    # Every kind of format, and depths.
    for format, peak in ((vs.GRAY8, 255), (vs.YUV420P8, 255), (vs.GRAY10, 1023), (vs.YUV422P10, 1023),
                         (vs.YUV444P12, 4095), (vs.GRAY16, 65535)):
        check(folder, moving(WIDTH, HEIGHT, FRAMES, peak), format, {}, [])
    # Every argument.
    for keywords, options, block, subpel in (
            ({"block": 16, "window": 9}, ["-b", "16", "-w", "9"], (16, 16), 1),
            ({"block": [16, 8], "window": [12, 3]}, ["-b", "16x8", "-w", "12x3"], (16, 8), 1),
            ({"delta": 2, "backward": 1}, ["--ref-distance", "2", "--direction", "future"], (8, 8), 1),
            ({"delta": 3}, ["--ref-distance", "3"], (8, 8), 1),
            ({"edge": "inside", "metric": "satd"}, ["--edge", "inside", "--metric", "satd"], (8, 8), 1),
            ({"subpel": 4, "price": 2.5, "predictor": "median", "threads": 1},
             ["--subpel", "4", "--lambda", "2.5", "--predictor", "median"], (8, 8), 4),
            ({"subpel": 2, "metric": "ssd", "price": 0.0}, ["--subpel", "2", "--metric", "ssd"], (8, 8), 2)):
        check(folder, bytes_, vs.GRAY8, keywords, options, block, subpel)

    # The sums of a pair, by hand; and a second filter leaves nothing of the first where it finds nothing.
    clip = clip_of(bytes_, WIDTH, HEIGHT, vs.GRAY8)
    both = core.gpume.Vectors(core.gpume.Vectors(clip), backward=True)
    pair = both.get_frame(2).props
    assert pair["GpumeRef"] == 3
    assert pair["GpumeSadBefore"] == sum(abs(a - b) for a, b in zip(bytes_[2], bytes_[3]))
    assert 0 < pair["GpumeSadAfter"] < pair["GpumeSadBefore"]
    assert not [name for name in both.get_frame(FRAMES - 1).props if name.startswith("Gpume")]
    assert bytes(both.get_frame(2)[0]) == bytes(clip.get_frame(2)[0])

    # On a Vulkan device, where there is one, a software driver too.
    try:
        on_device = core.gpume.Vectors(clip, devices="0")
    except vs.Error as error:
        assert "no such device" in str(error), error
        print("not run on a Vulkan device: there is none")
    else:
        on_processor = core.gpume.Vectors(clip, devices="cpu")
        for n in (4, 1, 2):
            assert on_device.get_frame(n).props["GpumeVectors"] == on_processor.get_frame(n).props["GpumeVectors"]

    # Samples beyond the depth count as the largest.
    wild = [[sample * 3 for sample in frame] for frame in moving(WIDTH, HEIGHT, 2, 1023)]
    tame = [[min(sample, 1023) for sample in frame] for frame in wild]
    assert (core.gpume.Vectors(clip_of(wild, WIDTH, HEIGHT, vs.GRAY10)).get_frame(1).props["GpumeCosts"] ==
            core.gpume.Vectors(clip_of(tame, WIDTH, HEIGHT, vs.GRAY10)).get_frame(1).props["GpumeCosts"])

    # What is refused, in words.
    for keywords, words in (
            ({"block": 7}, "block 7: must be a multiple of 4"),
            ({"block": [8, 8, 8]}, "block has more than two numbers"),
            ({"block": -8}, "block is -8; it must be from 4 to 128"),
            ({"window": 513}, "window is 513; it must be from 0 to 512"),
            ({"subpel": 3}, "subpel 3: must be 1, 2 or 4"),
            ({"metric": "mse"}, 'metric is "mse"; it must be one of "sad", "satd", "ssd"'),
            ({"price": 1001}, "price is 1001; it must be from 0 to 1000"),
            ({"price": float("nan")}, "price is nan"),
            ({"predictor": "median"}, "predictor has no effect without price"),
            ({"delta": 0}, "delta is 0; it must be from 1"),
            ({"devices": "no such device"}, "devices no such device: no such device among")):
        said = error_of(core.gpume.Vectors, clip, **keywords)
        assert said.startswith("Vectors: " + words), said
    for format, words in ((vs.RGB24, "the clip is RGB"), (vs.GRAYS, "the clip's samples are not integers")):
        assert words in error_of(core.gpume.Vectors, core.std.BlankClip(format=format))
    changing = core.std.BlankClip(width=64, height=48, varsize=True, length=2)
    assert "changes from frame to frame" in error_of(core.gpume.Vectors, changing)
