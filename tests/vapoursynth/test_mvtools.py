# SPDX-License-Identifier: BSD-2-Clause
"""gpume.Analyse: its clips are what MVTools takes, its vectors are the best, and MVTools' filters gain by them."""
import math
import random
import struct
import sys

import vapoursynth as vs
from support import clip_of, core, error_of, moving

if not hasattr(core, "mv"):
    print("SKIPPED: MVTools was not built: VapourSynth does not load it")
    sys.exit(77)

WIDTH, HEIGHT, FRAMES = 52, 44, 5
VECTOR = struct.Struct("=iiq")


def description(clip, n=0):
    return struct.unpack("=21i", clip.get_frame(n).props["MVTools_MVAnalysisData"])


def field(clip, n):
    """Whether it is valid, and its vectors (x, y, sad)."""
    data = clip.get_frame(n).props["MVTools_vectors"]
    size, valid, level = struct.unpack_from("=3i", data)
    blocks = description(clip)[14] * description(clip)[15]
    assert size == len(data) and level == size - 8 == 4 + blocks * VECTOR.size
    return valid, list(VECTOR.iter_unpack(data[12:]))


def sample(frame, x, y, width=WIDTH, height=HEIGHT):
    """With edge samples outside the picture."""
    return frame[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]


def sad(target, reference, left, top, block, dx, dy):
    return sum(abs(target[y * WIDTH + x] - sample(reference, x + dx, y + dy))
               for y in range(top, top + block[1]) for x in range(left, left + block[0]))


def best(target, reference, left, top, block, window):
    """By the tie rule: (0,0) first, then the smallest dy, then the smallest dx."""
    cost, _, dy, dx = min((sad(target, reference, left, top, block, dx, dy), (dx, dy) != (0, 0), dy, dx)
                          for dy in range(-window, window + 1) for dx in range(-window, window + 1))
    return dx, dy, cost


def corners(clip):
    """The upper left corner of each block."""
    _, _, width, height, *_ = description(clip)
    overlap_x, overlap_y, across, down = description(clip)[12:16]
    return [(i * (width - overlap_x), k * (height - overlap_y)) for k in range(down) for i in range(across)]


def luma(clip, n):
    """Rows of samples."""
    return memoryview(clip.get_frame(n)[0]).tolist()


def psnr(clip, truth, peak):
    total = count = 0
    for n, expected in enumerate(truth):
        total += sum((a - b) ** 2 for a, b in zip((v for row in luma(clip, n) for v in row), expected))
        count += len(expected)
    return 10 * math.log10(peak * peak * count / total)


def noised(samples, sigma, peak):
    source = random.Random(2)
    return [[min(peak, max(0, round(v + source.gauss(0, sigma)))) for v in frame] for frame in samples]


samples = moving(WIDTH, HEIGHT, FRAMES, 255)
clip = clip_of(samples, WIDTH, HEIGHT, vs.YUV420P8)

# MVTools itself describes its clips in the same way, for all sizes, overlaps, paddings and formats.
large = core.std.BlankClip(width=300, height=260, format=vs.YUV420P8, length=3)
for source, super_ in ((large, {}), (large, {"pel": 1, "hpad": 8, "vpad": 24}), (large, {"pel": 4}),
                       (core.std.BlankClip(large, format=vs.YUV444P16), {}), (core.std.BlankClip(large, format=vs.GRAY10), {})):
    prepared = core.mv.Super(source, **super_)
    for size in ((4, 4), (8, 4), (8, 8), (16, 8), (16, 16), (32, 16), (32, 32), (64, 32), (64, 64), (128, 64), (128, 128)):
        for part in (0, 4, 2):
            options = {"blksize": size[0], "blksizev": size[1], "overlap": size[0] // part if part else 0,
                       "overlapv": size[1] // part if part else 0, "delta": 2, "isb": part == 2}
            if size[1] == 4 and part == 4 and source.format.subsampling_h:
                assert "must be a multiple of 2" in error_of(core.gpume.Analyse, prepared, **options)
                continue
            ours = core.gpume.Analyse(prepared, window=0, devices="cpu", **options)
            theirs = core.mv.Analyse(prepared, chroma=False, opt=False, **options)
            a, b = list(description(ours)), list(description(theirs))
            assert a[5] == 1  # levels
            assert a[9] == b[9], (a, b)  # flags
            for place in (0, 1, 5, 8):  # nobody reads the first two; levels; the processor
                a[place] = b[place]
            assert a == b, (a, b)
            assert ours.num_frames == theirs.num_frames and ours.width == theirs.width
            for n in range(3):
                valid, vectors = field(ours, n)
                assert valid == struct.unpack_from("=3i", theirs.get_frame(n).props["MVTools_vectors"])[1], n
                if not valid:
                    assert vectors == [(0, 0, size[0] * size[1] << source.format.bits_per_sample)] * len(vectors)

# Every block has its best match, overlapping or not, in any order of frames.
prepared = core.mv.Super(clip, pel=1)
for options in ({"blksize": 8}, {"blksize": 8, "overlap": 4}, {"blksize": 8, "blksizev": 4, "overlap": 2},
                {"blksize": 16, "blksizev": 8, "overlap": 0, "overlapv": 4, "isb": True}):
    found = core.gpume.Analyse(prepared, window=4, devices="cpu", **options)
    size = description(found)[2:4]
    for n in (3, 0, 1):
        valid, vectors = field(found, n)
        reference = n + (1 if "isb" in options else -1)
        assert valid == (reference >= 0)
        if valid:
            expected = [best(samples[n], samples[reference], x, y, size, 4) for x, y in corners(found)]
            assert vectors == expected, (options, n)

# With a price the vectors are others, and the SAD is still that of the vector alone.
priced = core.gpume.Analyse(prepared, price=300, predictor="median")
vectors = field(priced, 2)[1]
assert vectors != field(core.gpume.Analyse(prepared), 2)[1]
for (x, y), (dx, dy, cost) in zip(corners(priced), vectors):
    assert cost == sad(samples[2], samples[1], x, y, (8, 8), dx, dy)

# The release v24 copies wrong blocks in mv.Compensate without overlap, even where nothing moves; later versions do not.
still = clip_of([samples[0]] * 2, WIDTH, HEIGHT, vs.GRAY8)
prepared = core.mv.Super(still, pel=1)
compensates = luma(core.mv.Compensate(still, prepared, core.mv.Analyse(prepared)), 1) == luma(still, 1)
if not compensates:
    print("not compared with mv.Compensate: it is wrong in this version of MVTools")

# Vectors as far as the padding goes: mv.Compensate finds there what they promise.
source = random.Random(3)
wild = [[source.randrange(256) for _ in range(WIDTH * HEIGHT)] for _ in range(2)]
prepared = core.mv.Super(clip_of(wild, WIDTH, HEIGHT, vs.GRAY8), pel=1, hpad=24, vpad=20)
found = core.gpume.Analyse(prepared, window=[24, 20])
vectors = field(found, 1)[1]
assert min(v[0] for v in vectors) < -20 and max(v[1] for v in vectors) > 16
shown = luma(core.mv.Compensate(clip_of(wild, WIDTH, HEIGHT, vs.GRAY8), prepared, found, thscd1=16000), 1)
for (left, top), (dx, dy, _) in zip(corners(found), vectors) if compensates else ():
    for y in range(top, top + 8):
        assert shown[y][left:left + 8] == [sample(wild[0], x + dx, y + dy) for x in range(left, left + 8)]

# No block of mv.Analyse, which does not try all displacements, has a smaller SAD.
overlapping, theirs = core.gpume.Analyse(prepared, overlap=4), core.mv.Analyse(prepared, overlap=4, chroma=False)
last = theirs.get_frame(1).props["MVTools_vectors"][-VECTOR.size * len(corners(overlapping)):]
pairs = list(zip(field(overlapping, 1)[1], VECTOR.iter_unpack(last)))
assert all(a[2] <= b[2] for a, b in pairs if max(abs(b[0]), abs(b[1])) <= 16)
assert sum(a[2] < b[2] for a, b in pairs) > len(pairs) // 2

# Half and quarter pixels lie where MVTools' default interpolation has them, but for rounding.
for pel in (2, 4):
    prepared = core.mv.Super(clip, pel=pel)
    found = core.gpume.Analyse(prepared)
    shown = luma(core.mv.Compensate(clip, prepared, found, thscd1=16000), 2)
    for (left, top), (dx, dy, cost) in zip(corners(found), field(found, 2)[1]) if compensates else ():
        theirs = sum(abs(shown[y][x] - samples[2][y * WIDTH + x]) for y in range(top, top + 8) for x in range(left, left + 8))
        assert abs(theirs - cost) <= 64, (pel, left, top, dx, dy, cost, theirs)  # one step per pixel

# mv.Degrain1 removes noise, and no less than with mv.Analyse, also from 16 bits with vectors of 8, where a price is relatively higher.
smooth = [[round(128 + 50 * math.sin((x + 3 * t) / 7) * math.cos((y - 2 * t) / 9) + 25 * math.sin((x + y + t) / 2.5))
           for y in range(HEIGHT) for x in range(WIDTH)] for t in range(FRAMES)]
for format, peak in ((vs.YUV420P8, 255), (vs.GRAY16, 65535)):
    clean = [[v * peak // 255 for v in frame] for frame in smooth]
    noisy = clip_of(noised(clean, 8 * peak / 255, peak), WIDTH, HEIGHT, format)
    prepared = core.mv.Super(noisy)
    bytes_ = core.mv.Super(core.resize.Point(noisy, format=vs.GRAY8)) if peak > 255 else prepared
    gained = []
    for analyse, super_, options in ((core.gpume.Analyse, bytes_, {"price": 16, "predictor": "median"}),
                                     (core.mv.Analyse, prepared, {})):
        forward, backward = (analyse(super_, blksize=16, overlap=8, isb=isb, **options) for isb in (False, True))
        cleaned = core.mv.Degrain1(noisy, prepared, backward, forward, thsad=2000, thscd1=4000, plane=0)
        gained.append(psnr(cleaned, clean, peak) - psnr(noisy, clean, peak))
    print(f"mv.Degrain1, {peak}: {gained[0]:+.2f} dB with gpume.Analyse, {gained[1]:+.2f} dB with mv.Analyse")
    assert gained[0] > 2.5 and gained[0] > gained[1] - 0.1

# mv.FlowFPS makes the frames between, better than a mean of both neighbours. With overlap, since MVTools v24 writes beyond
# its memory where fewer than eight blocks lie side by side, whoever made the vectors.
between = [[round(128 + 50 * math.sin((x + 2 * t) / 7) * math.cos((y - 2 * t) / 9)) for y in range(HEIGHT) for x in range(WIDTH)]
           for t in range(2 * FRAMES)]
slow = core.std.AssumeFPS(clip_of(between[::2], WIDTH, HEIGHT, vs.GRAY8), fpsnum=25)
prepared = core.mv.Super(slow, hpad=16, vpad=16)
forward, backward = (core.gpume.Analyse(prepared, overlap=4, isb=isb) for isb in (False, True))
fast = core.mv.FlowFPS(slow, prepared, backward, forward, num=50, den=1)
middle = core.std.SelectEvery(fast, 2, 1)[:FRAMES - 1]
mean = core.std.Merge(slow[:-1], slow[1:])
truth = between[1:-1:2]
print(f"mv.FlowFPS: {psnr(middle, truth, 255):.1f} dB, mean of the neighbours {psnr(mean, truth, 255):.1f} dB")
assert psnr(middle, truth, 255) > psnr(mean, truth, 255) + 6

# What is refused, in words.
prepared = core.mv.Super(clip)
for keywords, words in (
        ({"blksize": 16, "blksizev": 2}, "blksize x blksizev is 16x2; it must be 4x4"),
        ({"blksize": 12}, "blksize x blksizev is 12x12; it must be 4x4"),
        ({"blksize": 64}, "blksize is 64, more than the picture has"),
        ({"overlap": 5}, "overlap is 5; it must be from 0 to 4"),
        ({"blksize": 16, "overlap": 2}, "overlap is 2; it must be 0, a quarter or half of blksize, 16"),
        ({"blksize": 4, "overlap": 1}, "overlap is 1; it must be a multiple of 2 for this format"),
        ({"window": 17}, "window is 17, more than the padding of the super clip, 16; give mv.Super hpad=17 and vpad=17"),
        ({"predictor": "median"}, "predictor has no effect without price"),
        ({"delta": -3}, "delta is -3; it must be from 1")):
    said = error_of(core.gpume.Analyse, prepared, **keywords)
    assert said.startswith("Analyse: " + words), said
for other in (clip, prepared[1:]):
    assert "super is no clip that mv.Super made" in error_of(core.gpume.Analyse, other)
lying = core.std.SetFrameProps(prepared, Super_height=5000)
assert "Super_height is 5000, which cannot be true" in error_of(core.gpume.Analyse, lying)
for name in ("Super_hpad", "Super_vpad", "Super_pel"):
    for value in (-1, 2**31 - 1, 2**40):
        lying = core.std.SetFrameProps(prepared, **{name: value})
        assert f"super's property {name} is {value}" in error_of(core.gpume.Analyse, lying)
assert "subpel 3" in error_of(core.gpume.Analyse, core.std.SetFrameProps(prepared, Super_pel=3))
