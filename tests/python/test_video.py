# SPDX-License-Identifier: BSD-2-Clause
"""gpume.open against the files that the command writes for the same video and options."""
import csv
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import gpume
import numpy as np
from support import ENGINES, options

COMMAND = os.environ["GPUME_COMMAND"]
FFMPEG = shutil.which("ffmpeg")
GOLDEN = pathlib.Path(os.environ["GPUME_GOLDEN"])
CLIPS = [GOLDEN / name for name in (
    "cut-blocks-8bit.y4m", "inside-10bit.y4m", "far-reference-16bit.y4m",
    "smaller-than-a-block.y4m")]

# Words of the command, and the options of the package that mean the same.
SEARCHES = [
    ("-b 8", dict(block=8)),
    ("-b 16x8 -w 5x3 --edge inside", dict(block=(16, 8), window=(5, 3), edge="inside")),
    ("-b 16..4+rect --metric satd", dict(block="16..4+rect", metric="satd")),
    ("-b 16,8x4 --subpel 4 --lambda 3.5 --predictor median --passes 3",
     dict(block=[16, (8, 4)], subpel=4, lambda_=3.5, predictor="median", passes=3)),
    ("-b 16..4+rect --partition --qp 27 --subpel 2 --interpolation bilinear",
     dict(block="16..4+rect", partition=True, qp=27, subpel=2, interpolation="bilinear")),
    ("--ref-distance 2,1 --direction both", dict(ref_distance=[2, 1], direction="both")),
    ("--ref-distance 1,2 --best-reference --subpel 2 --refine-metric satd",
     dict(ref_distance=(1, 2), best_reference=True, subpel=2, refine_metric="satd")),
    ("--bidirectional --lambda 2", dict(bidirectional=True, lambda_=2)),
    ("--candidates 3 --confidence --direction both --subpel 4",
     dict(candidates=3, confidence=True, direction="both", subpel=4)),
    ("-b 16,8x16,8 --candidates 3 --confidence --lambda 2.5",
     dict(block=[16, (8, 16), 8], candidates=3, confidence=True, lambda_=2.5)),
    ("-b 16..8+rect --partition --qp 20 --candidates 2 --confidence --direction both",
     dict(block="16..8+rect", partition=True, qp=20, candidates=2, confidence=True,
          direction="both")),
    ("-b 16,8 --bidirectional --ref-distance 1,2 --subpel 2",
     dict(block="16,8", bidirectional=True, ref_distance=[1, 2], subpel=2)),
    ("-w 1 --candidates 8 --ref-distance 3,1 --best-reference --direction both --confidence",
     dict(window=1, candidates=8, ref_distance=[3, 1], best_reference=True, direction="both",
          confidence=True)),
    ("-b 16x32 --lambda 0", dict(block=(16, 32), lambda_=0)),
    ("--prefilter gauss:1.2 --direction future", dict(prefilter="gauss:1.2", direction="future")),
    ("--start 2 --frames 2 --direction both",
     dict(first_target=2, target_count=2, direction="both")),
]


class Videos(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, clip, *words, status=0):
        done = subprocess.run(
            [COMMAND, clip, "--backend", "cpu", "-y", "-q", *words], cwd=self.folder,
            capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, clip, *words):
        """vectors.csv as the command writes it: a list of dicts of numbers."""
        self.command(clip, "--vectors", "v.csv", *words)
        with (self.folder / "v.csv").open() as table:
            return list(csv.DictReader(table))

    def check(self, pairs, rows):
        """All columns and rows of the tables are those of the file, in its order."""
        table = np.concatenate([pair.table() for pair in pairs])
        self.assertEqual(table.dtype.names, tuple(rows[0]))
        self.assertEqual(len(table), len(rows))
        for found, row in zip(table, rows):
            for name, text in row.items():
                empty = {"dx2": 0, "dy2": 0}.get(name, -1)
                wanted = text if name == "shape" else float(text) if text else empty
                self.assertEqual(found[name], wanted, f"{name} of {row}")

    def test_all_options(self):
        """Every row of every table, for the clips and options above."""
        for number, (words, more) in enumerate(SEARCHES):
            clip = CLIPS[number % 2]
            rows = self.rows(clip, *words.split())
            self.assertTrue(rows)
            for engine in ENGINES if number % 3 == 0 else ["cpu"]:
                with self.subTest(words, engine=engine):
                    self.check(gpume.open(clip, **options(engine), **more), rows)

    def test_clips(self):
        """Depth, sums, times and predicted frames of each clip."""
        for clip in CLIPS:
            self.command(clip, "--report", "f.csv", "--predicted", "p.y4m", "-b", "16")
            with (self.folder / "f.csv").open() as table:
                rows = list(csv.DictReader(table))
            predicted = gpume.Frames(self.folder / "p.y4m")
            with gpume.open(clip, block=16, **options("cpu")) as video:
                self.assertEqual(predicted.bits, video.bits)
                for row, (frame, _), pair in zip(rows, predicted, video, strict=True):
                    self.assertEqual(
                        (pair.frame, pair.ref, pair.costs.size, *pair.sums),
                        tuple(int(row[n]) for n in (
                            "frame", "ref", "blocks", "zero", "sad_before", "sad_after",
                            "sse_before", "sse_after")))
                    self.assertAlmostEqual(pair.time, float(row["time"]), 6)
                    self.assertAlmostEqual(pair.psnr_after, float(row["psnr_after"]), 3)
                    np.testing.assert_array_equal(pair.predicted, frame)
                    self.assertEqual(pair.predicted.dtype, frame.dtype)

    def test_coded(self):
        """Coded video, HEVC and H.264 of 8 and 10 bits with B frames: FFmpeg's own samples and
        times, and the rows of the command."""
        for codec, pixels in (
                ("libx265", "yuv420p"), ("libx265", "yuv420p10le"), ("libx264", "yuv420p10le")):
            clip = self.folder / f"{codec}-{pixels}.mkv"
            made = subprocess.run(
                ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                 "testsrc2=s=120x72:r=25", "-frames:v", "12", "-pix_fmt", pixels, "-c:v", codec,
                 "-bf", "3", "-g", "5", clip], capture_output=True) if FFMPEG else None
            if made is None or made.returncode != 0:
                print(f"no ffmpeg with {codec} of {pixels}: not tested", flush=True)
                continue
            with self.subTest(codec, pixels=pixels):
                raw = subprocess.run(
                    ["ffmpeg", "-nostdin", "-v", "error", "-i", clip, "-vf", "extractplanes=y",
                     "-f", "rawvideo", "-"], capture_output=True, check=True).stdout
                wanted = np.frombuffer(raw, "<u2" if "10" in pixels else "u1").reshape(12, 72, 120)
                frames = list(gpume.Frames(clip))
                np.testing.assert_array_equal([frame for frame, _ in frames], wanted)
                np.testing.assert_allclose([time for _, time in frames], np.arange(12) / 25)
                words, more = "-b 16 --subpel 2 --start 7 --frames 3", dict(
                    block=16, subpel=2, first_target=7, target_count=3)
                self.check(
                    gpume.open(clip, **options("cpu"), **more), self.rows(clip, *words.split()))

    def test_layouts(self):
        """flow() has the bytes of .flo, and mv_extractor() the rows of that format."""
        for clip, words, more in (
                (CLIPS[0], "-b 8x16 --subpel 4", dict(block=(8, 16), subpel=4)),
                (CLIPS[1], "-b 16 --direction future", dict(block=16, direction="future"))):
            self.command(clip, "--vectors", "mv-%d.npy", "--format", "mv-extractor", *words.split())
            self.command(clip, "--vectors", "%d.flo", *words.split())
            for pair in gpume.open(clip, **options("cpu"), **more):
                rows = np.load(self.folder / f"mv-{pair.frame}.npy")
                np.testing.assert_array_equal(pair.mv_extractor(), rows)
                self.assertEqual(pair.mv_extractor().dtype, rows.dtype)
                flow = np.fromfile(self.folder / f"{pair.frame}.flo", "<f4", offset=12)
                np.testing.assert_array_equal(pair.flow(), flow.reshape(pair.flow().shape))
                self.assertEqual(pair.flow().dtype, np.float32)

    def test_divided(self):
        """With partition the flow has the vectors of the chosen blocks, and so have the rows."""
        more = dict(block="16..4", partition=True, lambda_=4)
        for pair in gpume.open(CLIPS[0], **options("cpu"), **more):
            flow, table, rows = pair.flow(), pair.table(), pair.mv_extractor()
            self.assertEqual((table["w"] * table["h"]).sum(), flow[..., 0].size)
            self.assertEqual(len(table), len(rows))
            for part, row in zip(table, rows):
                y, x = np.indices((part["h"], part["w"]))
                inside = flow[part["y"] + y, part["x"] + x]
                self.assertTrue((inside == [part["dx"], part["dy"]]).all())
                self.assertEqual(row.tolist(), [
                    -1, part["w"], part["h"], part["x"] + part["w"] // 2 + part["dx"],
                    part["y"] + part["h"] // 2 + part["dy"], part["x"] + part["w"] // 2,
                    part["y"] + part["h"] // 2, part["dx"], part["dy"], 1])

    def test_two_matches(self):
        """A block that is predicted from both sides has two rows, one after the other."""
        found = 0
        for pair in gpume.open(CLIPS[0], bidirectional=True, **options("cpu")):
            rows, layer, at = pair.mv_extractor(), pair.layers[0], 0
            for ref, ref2 in zip(layer.refs.flat, layer.refs2.flat):
                for match in [ref] if ref2 < 0 else [ref, ref2]:
                    self.assertEqual(rows[at, 0], 1 if match > pair.frame else -1)
                    at += 1
                found += ref2 >= 0
            self.assertEqual(at, len(rows))
        self.assertTrue(found)

    def test_flow_predicts(self):
        """The reference at the flow's places is the predicted frame."""
        for pair in gpume.open(CLIPS[0], keep_frames=True, **options("cpu")):
            flow = pair.flow().astype(int)
            y, x = np.indices(pair.shape)
            y = np.clip(y + flow[..., 1], 0, pair.shape[0] - 1)
            x = np.clip(x + flow[..., 0], 0, pair.shape[1] - 1)
            np.testing.assert_array_equal(pair.reference[y, x], pair.predicted)

    def test_filter(self):
        more = dict(options("cpu"), stream=0, decode_threads=1, timeout=600, max_pixels=10000)
        with gpume.open(CLIPS[0], vf="crop=16:12", **more) as video:
            self.assertEqual((video.width, video.height), (16, 12))
            self.assertEqual(next(video).predicted.shape, (12, 16))

    def test_left_early(self):
        """The process that decodes ends with the loop, however it is left."""
        with gpume.open(CLIPS[0], **options("cpu")) as video:
            next(video)
        self.assertIsNotNone(video._frames._process.returncode)
        self.assertRaises(StopIteration, next, video)
        video = gpume.open(CLIPS[0], **options("cpu"))
        process = video._frames._process
        del video
        self.assertIsNotNone(process.returncode)

    def test_refused(self):
        """The words of the command, as exceptions."""
        text = self.folder / "text.mp4"
        text.write_text("no video")
        for error, words, path, more in (
                (gpume.FormatError, "absent.mp4: no such file", self.folder / "absent.mp4", {}),
                (gpume.FormatError, "text.mp4: not a video", text, {}),
                (gpume.InvalidError, "No such filter: 'nofilter'", CLIPS[0], dict(vf="nofilter")),
                (gpume.InvalidError, "^decode_threads 0: must be", CLIPS[0], dict(decode_threads=0)),
                (gpume.FormatError, "more pixels than max_pixels 16", CLIPS[0],
                 dict(max_pixels=16)),
                (gpume.InvalidError, "no video stream 7", CLIPS[0], dict(stream=7)),
                (gpume.InvalidError, "^block 9", CLIPS[0], dict(block=9)),
                (ValueError, "'manual' is for gpume.Context", CLIPS[0], dict(direction="manual")),
                (TypeError, "'blocks' is not an option", CLIPS[0], dict(blocks=8))):
            with self.assertRaisesRegex(error, words):
                gpume.open(path, backend="cpu", **more)
        cut = self.folder / "cut.y4m"
        cut.write_bytes(CLIPS[0].read_bytes()[:-7])
        with self.assertLogs("gpume", "WARNING") as logged:
            self.assertTrue(list(gpume.open(cut, backend="cpu")))
        self.assertIn("WARNING:gpume:" + str(cut), logged.output[0])
        os.environ["GPUME_COMMAND"] = "no such command"
        self.addCleanup(os.environ.__setitem__, "GPUME_COMMAND", COMMAND)
        with self.assertRaisesRegex(gpume.UnsupportedError, "GPUME_COMMAND"):
            gpume.open(CLIPS[0])
        os.environ["GPUME_COMMAND"] = "true"
        with self.assertRaisesRegex(gpume.UnsupportedError, "writes no frames"):
            gpume.open(CLIPS[0])

    def test_left_to_a_child(self):
        """A child of fork() that ends, drops or closes its parent's videos leaves them to it."""
        acts = {
            "keeps": "pass",
            "drops": "frames = video = None",
            "closes": "frames.close(); video.close()",
            "leaves": "video.__exit__(KeyError)",
            "uses": """
    for one in (frames, video, frames):
        try:
            next(one)
        except ValueError as error:
            assert "process" in str(error), error
        else:
            raise AssertionError(one)""",
        }
        for name, act in acts.items():
            with self.subTest(name):
                program = f"""
import gpume, os, signal, sys
signal.alarm(600)
frames = gpume.Frames({str(CLIPS[0])!r})
video = gpume.open({str(CLIPS[0])!r}, backend="cpu")
next(frames)
child = os.fork()
if child == 0:
    signal.alarm(600)
    {act}
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(list(frames)), len(list(video)))
"""
                done = subprocess.run([sys.executable, "-W", "error", "-c", program],
                                      capture_output=True, text=True, timeout=1200)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                count = len(list(gpume.Frames(CLIPS[0])))
                self.assertEqual(done.stdout, f"{count - 1} {count - 1}\n")

    def test_pyav(self):
        """Without the command: the frames and times that it gives, or what is missing."""
        clips = [GOLDEN.parent.parent / "samples/bunny.mp4"] + CLIPS[:1]
        for codec, pixels in (("libx264", "yuv420p10le"), ("ffv1", "gray"), ("ffv1", "bgr0")):
            clip = self.folder / f"{codec}-{pixels}.mkv"
            made = subprocess.run(
                ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=s=118x70:r=25",
                 "-frames:v", "9", "-pix_fmt", pixels, "-c:v", codec, clip], capture_output=True) if FFMPEG else None
            clips += [clip] if made and made.returncode == 0 else []
        wanted = [list(gpume.Frames(clip)) for clip in clips]
        pairs = list(gpume.open(clips[0], backend="cpu", target_count=4))
        for name, value in (("PATH", "/nonexistent"), ("GPUME_COMMAND", "")):
            self.addCleanup(os.environ.__setitem__, name, os.environ[name])
            os.environ[name] = value
        with unittest.mock.patch.dict(sys.modules, {"av": None}):
            with self.assertRaisesRegex(gpume.UnsupportedError, "command gpume, .* is not found.*or install PyAV"):
                gpume.open(clips[0])
        try:
            import av  # noqa: F401
        except ImportError as error:
            print(f"{error}: not tested with PyAV", flush=True)
            return
        for clip, frames in zip(clips, wanted):
            with self.subTest(clip=clip.name):
                if "bgr0" in clip.name:
                    self.assertRaisesRegex(gpume.UnsupportedError, "no plane of luma", gpume.Frames, clip)
                    continue
                with gpume.Frames(clip) as found:
                    for (frame, time), (other, other_time) in zip(found, frames, strict=True):
                        np.testing.assert_array_equal(frame, other)
                        self.assertEqual(frame.dtype, other.dtype)
                        self.assertAlmostEqual(time, other_time, 6)
        found = list(gpume.open(clips[0], backend="cpu", target_count=4))
        for pair, other in zip(found, pairs, strict=True):
            np.testing.assert_array_equal(pair.table(), other.table())
        text = self.folder / "text.mp4"
        text.write_text("no video")
        listing = self.folder / "list.m3u8"
        listing.write_text(f"#EXTM3U\n#EXTINF:2,\n{clips[0]}\n#EXT-X-ENDLIST\n")
        for error, words, source, more in (
                (gpume.FormatError, "No such file", self.folder / "absent.mp4", {}),
                (gpume.FormatError, "text.mp4: not a video", text, {}),
                (gpume.FormatError, "list.m3u8: not a video", listing, {}),
                (gpume.FormatError, "No such file", "http://127.0.0.1:9/x.mp4", {}),
                (gpume.FormatError, "more pixels than max_pixels 16", clips[0], dict(max_pixels=16)),
                (gpume.InvalidError, "no video stream 7", clips[0], dict(stream=7)),
                (gpume.UnsupportedError, "vf needs the command", clips[0], dict(vf="hflip"))):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                gpume.Frames(source, **more)
        with gpume.Frames(clips[0]) as frames:
            next(frames)
            child = os.fork()
            if child == 0:
                try:
                    next(frames)
                except ValueError:
                    frames.close()
                    os._exit(0)
                os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            next(frames)
        self.assertRaises(StopIteration, next, frames)

    def test_no_process(self):
        """A decoder that cannot be started leaves nothing open."""
        before = len(os.listdir("/proc/self/fd"))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(3):
                self.assertRaises(ValueError, gpume.Frames, "a\0b")
                gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


if __name__ == "__main__":
    unittest.main()
