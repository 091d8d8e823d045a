# SPDX-License-Identifier: BSD-2-Clause
"""Frame pairs with true flow. Textures are sums of waves, so that they are known between pixels, too."""
import numpy as np


def texture(seed):
    """A function of (x, y), from about 0 to 255: 300 waves 2.5 to 60 pixels long, long ones stronger."""
    random = np.random.default_rng(seed)
    length = np.exp(random.uniform(np.log(2.5), np.log(60), 300))
    angle, phase = random.uniform(0, 2 * np.pi, (2, 300))
    strength = length ** 0.7 / np.sqrt((length ** 1.4).sum() / 2) * 45

    def value(x, y):
        result = np.full(x.shape, 128.0)
        for one, along, begin, height in zip(length, angle, phase, strength):
            result += height * np.cos(2 * np.pi / one * (np.cos(along) * x + np.sin(along) * y) + begin)
        return result

    return value


def turned(x, y, degrees, scale, dx=0, dy=0):
    """The flow of a rotation and zoom about the middle, and a shift."""
    middle_x, middle_y = (x.max() + x.min()) / 2, (y.max() + y.min()) / 2
    x, y = x - middle_x, y - middle_y
    cosine, sine = scale * np.cos(np.radians(degrees)), scale * np.sin(np.radians(degrees))
    return np.dstack([cosine * x - sine * y - x + dx, sine * x + cosine * y - y + dy])


def waves(x, y, most):
    """A smooth flow."""
    return most * np.dstack([np.sin(x / 41 + y / 67), np.cos(x / 59 - y / 47)])


def scenes(width, height, seed, bits=8):
    """By their names: reference, target, true flow, and which pixels of the target the reference shows."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width].astype(float)
    first, second = texture(random.integers(1 << 30)), texture(random.integers(1 << 30))
    most = (1 << bits) - 1

    def samples(values, noise=0.0):
        values = (values + random.normal(0, 1, values.shape) * noise) * (most + 1) / 256
        return np.clip(np.rint(values), 0, most).astype("u1" if bits == 8 else "u2")

    def moved(flow, noise=0.0):
        return (samples(first(x, y), noise), samples(first(x + flow[..., 0], y + flow[..., 1]), noise), flow,
                np.ones((height, width), bool))

    def disc(at_x, at_y):
        return np.hypot(at_x - width / 2, at_y - height / 2) < 0.3 * height

    def layers(back, front):
        """A disc before a background."""
        here, there = disc(x, y), disc(x - front[0], y - front[1])
        flow = np.where(here[..., None], front, back)
        shown = here | ~disc(x + back[0] - front[0], y + back[1] - front[1])
        return (samples(np.where(there, second(x - front[0], y - front[1]), first(x, y))),
                samples(np.where(here, second(x, y), first(x + back[0], y + back[1]))), flow, shown)

    return {
        "rotation by 2 degrees": moved(turned(x, y, 2, 1)),
        "zoom by 3 %": moved(turned(x, y, 0, 1.03)),
        "both, and a pan": moved(turned(x, y, -1.5, 0.985, -2.2, 4.1)),
        "smooth, up to 6 pixels": moved(waves(x, y, 6)),
        "the same with noise": moved(waves(x, y, 6), 3),
        "disc before a background": layers((3.4, 2.2), (-5.1, 1.7)),
    }
