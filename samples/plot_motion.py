# SPDX-License-Identifier: BSD-2-Clause
"""plot_motion.py [VIDEO [PNG]]: the motion of a video in four plots, with NumPy and matplotlib.

The cells (# %%) run one by one in editors that know them, such as Spyder and Visual Studio Code;
jupytext turns them into a notebook. Run as a program, it writes one picture. It needs the Python
package gpume (python/README.md) and python3-matplotlib.

Exit status: 0 if the picture was written, 77 if matplotlib is not here.
"""
import pathlib
import sys

import numpy as np

import gpume

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("SKIPPED: python3-matplotlib is not here")
    sys.exit(77)

video_path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "bunny.mp4"
picture_path = sys.argv[2] if len(sys.argv) > 2 else "motion.png"

# %% Search all frame pairs; keep what the curves need, and all of the liveliest pair.
frames, before, after, lengths, liveliest = [], [], [], [], None
with gpume.open(video_path, block=16, window=24, subpel=4, keep_frames=True) as video:
    for pair in video:
        length = np.hypot(pair.vectors[..., 0], pair.vectors[..., 1])
        frames.append(pair.frame)
        before.append(pair.psnr_before)
        after.append(pair.psnr_after)
        lengths.append(length.ravel())
        if liveliest is None or pair.costs.sum() > liveliest.costs.sum():
            liveliest = pair
if liveliest is None:
    sys.exit(f"{video_path}: one frame alone has no motion")

figure, ((arrows, costs), (quality, histogram)) = plt.subplots(2, 2, figsize=(14, 8.5))

# %% Vectors over the picture. A vector points to where a block came from; the arrow shows where it
# moves, from there to the block's middle. imshow counts rows downwards, as vectors do.
width, height = liveliest.block
rows, cols = liveliest.vectors.shape[:2]
middle_y, middle_x = np.mgrid[:rows, :cols] * 1.0
middle_x, middle_y = (middle_x + 0.5) * width, (middle_y + 0.5) * height
dx, dy = liveliest.vectors[..., 0], liveliest.vectors[..., 1]
arrows.imshow(liveliest.target, cmap="gray", alpha=0.6)
arrows.quiver(middle_x + dx, middle_y + dy, -dx, -dy, np.hypot(dx, dy), angles="xy",
              scale_units="xy", scale=1, cmap="plasma", width=0.003)
arrows.set_title(f"Motion from frame {liveliest.ref} to frame {liveliest.frame}, true length")
arrows.set_xlim(0, liveliest.shape[1])
arrows.set_ylim(liveliest.shape[0], 0)
arrows.set_axis_off()

# %% Cost per pixel: where the reference does not predict the target. Blocks that the picture's edge
# cuts have fewer pixels.
table = liveliest.table()
per_pixel = (table["cost"] / (table["w"] * table["h"])).reshape(rows, cols)
image = costs.imshow(per_pixel, cmap="magma", extent=(0, cols * width, rows * height, 0))
figure.colorbar(image, ax=costs, label="SAD per pixel", shrink=0.8)
costs.set_title("Cost of each block's match")
costs.set_axis_off()

# %% How well each frame is predicted by the one before, with and without motion.
quality.plot(frames, before, label="previous frame", color="tab:gray")
quality.plot(frames, after, label="motion-compensated", color="tab:blue")
quality.set(title="Prediction of each frame", xlabel="frame", ylabel="PSNR in dB")
quality.legend()
quality.grid(alpha=0.3)

# %% How far blocks move.
histogram.hist(np.concatenate(lengths), bins=np.arange(0, 35.5, 0.5), color="tab:blue")
histogram.set_yscale("log")
histogram.set(title="Length of all vectors", xlabel="pixels per frame", ylabel="blocks")
histogram.grid(alpha=0.3)

# %% Save.
figure.tight_layout()
figure.savefig(picture_path, dpi=100)
print(f"wrote {picture_path}: {len(frames)} frame pairs, liveliest {liveliest.frame}")
