# SPDX-License-Identifier: BSD-2-Clause
"""What PySceneDetect's detectors measure of frames (blue, green and red in bytes), with numpy."""
import numpy as np

BINS = 128
HASH, LOWPASS = 8, 2


def hsv(frame):
    """Hue from 0 to 179, saturation and value, as OpenCV has them."""
    picture = frame.astype(np.float32)
    blue, green, red = picture[..., 0], picture[..., 1], picture[..., 2]
    value = picture.max(2)
    spread = value - picture.min(2)
    safe = np.where(spread > 0, spread, 1)
    hue = np.where(value == red, (green - blue) / safe,
                   np.where(value == green, 2 + (blue - red) / safe, 4 + (red - green) / safe)) * 30
    hue = np.where(spread > 0, np.where(hue < 0, hue + 180, hue), 0)
    saturation = np.where(value > 0, 255 * spread / np.where(value > 0, value, 1), 0)
    return [np.rint(plane).astype(np.int16) for plane in (hue, saturation, value)]


def luma(frame):
    return frame.astype(np.float32) @ np.array([0.114, 0.587, 0.299], np.float32)


def histogram(grey):
    counts = np.histogram(grey, BINS, (0, 256))[0].astype(np.float64)
    return counts - counts.mean()


def correlation(one, other):
    power = np.sqrt((one @ one) * (other @ other))
    return one @ other / power if power > 0 else 1.0


def cosines(size):
    index = np.arange(size)
    return np.cos(np.pi / size * np.outer(index, index + 0.5))


COSINES = cosines(HASH * LOWPASS)


def perceptual_hash(grey):
    """The signs of the low frequencies of a small picture against their median."""
    size = HASH * LOWPASS
    rows = np.linspace(0, grey.shape[0], size + 1).astype(int)
    columns = np.linspace(0, grey.shape[1], size + 1).astype(int)
    sums = np.add.reduceat(np.add.reduceat(grey, rows[:-1], 0), columns[:-1], 1)
    small = sums / np.outer(np.diff(rows), np.diff(columns))
    low = (COSINES @ (small / max(small.max(), 1)) @ COSINES.T)[:HASH, :HASH]
    return low > np.median(low)


def measures(frames):
    found = {"content": [], "hist": [], "hash": [], "mean": []}
    before = None
    for frame in frames:
        grey = luma(frame)
        now = (hsv(frame), histogram(grey), perceptual_hash(grey))
        if before is None:
            before = now
        found["content"].append(np.mean([np.abs(a - b).mean() for a, b in zip(now[0], before[0])]))
        found["hist"].append(correlation(now[1], before[1]))
        found["hash"].append(np.count_nonzero(now[2] != before[2]) / now[2].size)
        found["mean"].append(frame.mean())
        before = now
    return found
