# SPDX-License-Identifier: BSD-2-Clause
"""gpume.load of what the command writes, against what gpume.open finds in the same video; flow files and errors."""
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import gpume
import numpy as np

COMMAND = os.environ["GPUME_COMMAND"]
GOLDEN = pathlib.Path(os.environ["GPUME_GOLDEN"])
CLIP = GOLDEN / "cut-blocks-8bit.y4m"

# Words of the command, the options of the package that mean the same, and whether an npz can hold it.
RUNS = [
    ("-b 8", dict(block=8), True),
    ("-b 16x8 --subpel 4 --qp 2 --confidence --direction both",
     dict(block=(16, 8), subpel=4, qp=2, confidence=True, direction="both"), True),
    ("-b 16,8 --ref-distance 1,2 --candidates 2 --confidence",
     dict(block="16,8", ref_distance=[1, 2], candidates=2, confidence=True), False),
    ("-b 16..4+rect --partition --qp 15 --direction both",
     dict(block="16..4+rect", partition=True, qp=15, direction="both"), False),
    ("-b 16..4+rect --partition --qp 15 --ref-distance 1,2 --best-reference",
     dict(block="16..4+rect", partition=True, qp=15, ref_distance=[1, 2], best_reference=True), False),
    ("-b 16,8 --bidirectional --subpel 2", dict(block="16,8", bidirectional=True, subpel=2), False),
    ("-b 8 --candidates 3 --best-reference --direction both",
     dict(block=8, candidates=3, best_reference=True, direction="both"), False),
]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *words, status=0):
        done = subprocess.run([COMMAND, *map(str, words)], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def estimate(self, *words):
        self.run_command(CLIP, "--backend", "cpu", "-q", "-y", *words)


class Loads(Folder):
    def same(self, run, pairs):
        """All that a loaded run says, as the pairs say it."""
        wanted = np.concatenate([pair.table() for pair in pairs])
        np.testing.assert_array_equal(run.table(), wanted)
        self.assertEqual(run.table().dtype, wanted.dtype)
        self.assertEqual((run.shape, run.subpel), (pairs[0].shape, pairs[0].subpel))
        self.assertEqual(len(run), len(pairs))
        for field, pair in zip(run, pairs, strict=True):
            self.assertEqual((field.frame, field.shape), (pair.frame, pair.shape))
            np.testing.assert_array_equal(field.table(), pair.table())
            np.testing.assert_array_equal(field.flow(), pair.flow())
            np.testing.assert_array_equal(field.mv_extractor(), pair.mv_extractor())
            if pair.parts is None:
                self.assertEqual(field.block, pair.block)
                for name in ("vectors", "costs", "ranks"):
                    np.testing.assert_array_equal(getattr(field, name), getattr(pair, name))
                    self.assertEqual(getattr(field, name).dtype, getattr(pair, name).dtype)

    def test_runs(self):
        """A folder, and a file in every format that holds all columns."""
        for words, more, archive in RUNS:
            pairs = list(gpume.open(CLIP, backend="cpu", **more))
            self.estimate("-o", "run", *words.split())
            with self.subTest(words):
                run = gpume.load(self.folder / "run")
                self.same(run, pairs)
                self.assertEqual(run.summary, json.loads((self.folder / "run/summary.json").read_text()))
                self.assertEqual([field.time for field in run], [pair.time for pair in pairs])
                self.assertEqual([field.ref for field in run], [
                    pair.ref if pair.layers[0].refs is None else pair.table()["ref"][0] for pair in pairs])
                np.testing.assert_array_equal(
                    run.frames["sad_after"], [pair.sums.sad_after for pair in pairs])
                np.testing.assert_allclose(
                    run.frames["psnr_after"], [pair.psnr_after for pair in pairs], atol=1e-3)
            for ending in ["csv", "csv.gz", "csv.zst", "jsonl", "npy", "mvf"] + ["npz"] * archive:
                with self.subTest(words, ending=ending):
                    self.estimate("--vectors", f"v.{ending}", *words.split())
                    self.same(gpume.load(self.folder / f"v.{ending}"), pairs)
        self.assertEqual([field.time for field in gpume.load(self.folder / "v.mvf")], [None] * len(pairs))

    def test_archive_times(self):
        self.estimate("--vectors", "v.npz")
        pairs = list(gpume.open(CLIP, backend="cpu"))
        self.assertEqual(
            [field.time for field in gpume.load(self.folder / "v.npz")], [pair.time for pair in pairs])

    def test_whole_vectors(self):
        """The folder says that fractions were searched where none was found."""
        self.estimate("-o", "run", *"--subpel 2 --lambda 1000".split())
        self.same(gpume.load(self.folder / "run"),
                  list(gpume.open(CLIP, backend="cpu", subpel=2, lambda_=1000)))

    def test_compressed_folder(self):
        self.estimate("-o", "run")
        wanted = gpume.load(self.folder / "run").table()
        self.run_command("convert", "run", "run/vectors.csv.zst", "-q")
        (self.folder / "run/vectors.csv").unlink()
        np.testing.assert_array_equal(gpume.load(self.folder / "run").table(), wanted)

    def test_frames(self):
        """frames.csv cell by cell: whole numbers, decimals, and a PSNR that is infinite."""
        still = self.folder / "still.y4m"
        frame = b"FRAME\n" + bytes(range(256)) * 6
        still.write_bytes(b"YUV4MPEG2 W48 H32 F25:1 Cmono\n" + 3 * frame)
        self.run_command(still, "-o", "run", "-q", "--confidence", "--backend", "cpu")
        frames = gpume.load(self.folder / "run").frames
        with (self.folder / "run/frames.csv").open() as table:
            rows = list(csv.DictReader(table))
        self.assertEqual(frames.dtype.names, tuple(rows[0]))
        self.assertTrue(np.isinf(frames["psnr_after"]).all())
        self.assertEqual(frames["sad_after"].dtype, np.int64)
        for found, row in zip(frames, rows, strict=True):
            self.assertEqual(list(found), [float(cell) for cell in row.values()])

    def test_other_programs(self):
        """Files without costs and ranks, and one whose blocks leave gaps."""
        self.estimate("--vectors", "v.txt", "--format", "extract_mvs", "--direction", "both")
        pairs = list(gpume.open(CLIP, backend="cpu", direction="both"))
        run = gpume.load(self.folder / "v.txt")
        self.assertEqual([(f.frame, f.ref) for f in run], [(p.frame, p.ref) for p in pairs])
        for field, pair in zip(run, pairs):
            np.testing.assert_array_equal(field.vectors, pair.vectors)
            with self.assertRaisesRegex(ValueError, "no column cost"):
                field.costs
        (self.folder / "gaps.csv").write_text(
            "frame,x,y,w,h,dx,dy,note\n3,0,0,4,4,1.5,-2,a\n3,8,0,4,4,0,1,b\n3,0,4,4,4,7,7,c\n5,4,4,4,4,2,2,d\n")
        first, second = gpume.load(self.folder / "gaps.csv")
        self.assertEqual((first.frame, second.frame, first.shape, first.subpel), (3, 5, (8, 12), 2))
        self.assertRaisesRegex(ValueError, "form no grid", lambda: first.vectors)
        flow = first.flow()
        self.assertEqual(flow[:4, 8:, 1].tolist(), [[1] * 4] * 4)
        self.assertEqual(flow[:4, :4, 0].tolist(), [[1.5] * 4] * 4)
        self.assertTrue(np.isnan(flow[:, 4:8]).all() and np.isnan(flow[4:, 4:]).all())
        self.assertEqual(second.table()["dx"].tolist(), [2])

    def test_refused(self):
        empty = self.folder / "empty"
        empty.mkdir()
        (self.folder / "text.csv").write_text("frame,value\n1,2\n")
        (self.folder / "none.csv").write_text("frame,x,y,w,h,dx,dy\n")
        np.savez(self.folder / "other.npz", values=[1])
        (self.folder / "noise").write_bytes(bytes(range(100)))
        for name, words in (
                ("empty", "has no vectors.csv$"), ("text.csv", "no columns frame, x"),
                ("none.csv", "has no vectors$"), ("other.npz", "no archive of vectors"),
                ("noise", "noise"), ("absent.csv", "absent.csv")):
            with self.subTest(name), self.assertRaisesRegex(gpume.FormatError, words):
                gpume.load(self.folder / name)
        self.estimate("-o", "run")
        for ending in ("csv", "csv.gz", "csv.zst", "npy", "npz", "mvf", "jsonl"):
            path = self.folder / f"whole.{ending}"
            self.estimate("--vectors", path.name)
            data = path.read_bytes()
            wanted = gpume.load(path).table()
            for at in range(0, len(data), max(1, len(data) // 9)):
                path.write_bytes(data[:at])
                with self.subTest(ending, at=at):
                    try:  # whole rows of text are no damage
                        self.assertLess(len(gpume.load(path).table()), len(wanted))
                    except gpume.FormatError as error:
                        self.assertIn(path.name, str(error))
        text = (self.folder / "run/vectors.csv").read_text()
        for wrong in (text.replace("\n1,0,0,0", "\n1,0,-8,0", 1), text.replace("\n1,", "\nx,", 1),
                      text.replace("\n1,0,", "\n1,0,0,", 1), text.replace(",8,8,", ",0,8,", 1)):
            (self.folder / "run/vectors.csv").write_text(wrong)
            with self.subTest(wrong[:80]):
                self.assertNotEqual(wrong, text)
                self.assertRaises(gpume.FormatError, gpume.load, self.folder / "run")
        (self.folder / "run/vectors.csv").write_text(text.replace("\n", "\r\n"))
        self.assertEqual(len(gpume.load(self.folder / "run").table()), text.count("\n") - 1)
        for wrong in ("", "{", "[1]", '{"format": 1}', '{"parameters": {"subpel": "x"}}'):
            (self.folder / "run/summary.json").write_text(wrong)
            self.assertRaises(gpume.FormatError, gpume.load, self.folder / "run")
        (empty / "vectors.csv.partial").write_text("")
        with self.assertRaisesRegex(gpume.FormatError, "--resume"):
            gpume.load(empty)
        self.estimate("--vectors", "v.mvf")
        os.environ["GPUME_COMMAND"] = "no such command"
        self.addCleanup(os.environ.__setitem__, "GPUME_COMMAND", COMMAND)
        with self.assertRaisesRegex(gpume.UnsupportedError, "GPUME_COMMAND"):
            gpume.load(self.folder / "v.mvf")


class Flows(Folder):
    def test_flo(self):
        """The bytes that the command writes; what is unknown is NaN when it is read."""
        self.estimate("--vectors", "%d.flo", "--subpel", "4", "-b", "16")
        for pair in gpume.open(CLIP, backend="cpu", subpel=4, block=16):
            path = self.folder / f"{pair.frame}.flo"
            pair.to_flo(self.folder / "mine.flo")
            self.assertEqual((self.folder / "mine.flo").read_bytes(), path.read_bytes())
            np.testing.assert_array_equal(gpume.from_flo(path), pair.flow())
        flow = pair.flow()
        flow[2, 3] = np.nan, 1
        gpume.to_flo(flow, self.folder / "gap.flo")
        self.assertTrue(np.isnan(gpume.from_flo(self.folder / "gap.flo")[2, 3]).all())
        self.assertEqual(np.isnan(gpume.from_flo(self.folder / "gap.flo")).sum(), 2)
        path.write_bytes(path.read_bytes()[:-1])
        self.assertRaisesRegex(gpume.FormatError, "do not fit", gpume.from_flo, path)
        self.assertRaisesRegex(gpume.FormatError, "no .flo", gpume.from_flo, CLIP)
        self.assertRaisesRegex(ValueError, "shape", gpume.to_flo, flow[..., 0], path)

    def test_errors(self):
        """Those of gpume compare --truth, to its six decimals."""
        random = np.random.default_rng(3)
        more = dict(subpel=4, direction="future", block=8, lambda_=1)
        self.estimate("-o", "run", *"--subpel 4 --direction future -b 8 --lambda 1".split())
        pairs = list(gpume.open(CLIP, backend="cpu", **more))
        for pair in pairs:
            height, width = pair.shape
            far = random.choice([0.01, 1, 3, 60], (height, width, 1))
            true = pair.flow() + random.normal(0, 1, (height, width, 2)) * far
            true[random.random((height, width)) < 0.1] = np.nan
            gpume.to_flo(true, self.folder / f"true{pair.frame}.flo")
        said = self.run_command("compare", "run", "--truth", "true%d.flo", "--csv").decode()
        rows = list(csv.DictReader(said.splitlines()))
        self.assertEqual(len(rows), len(pairs))
        run = gpume.load(self.folder / "run")
        for row, pair, field in zip(rows, pairs, run):
            truth = gpume.from_flo(self.folder / f"true{pair.frame}.flo")
            errors = pair.endpoint_error(truth)
            self.assertEqual(errors, field.endpoint_error(truth))
            self.assertEqual(errors, gpume.endpoint_error(pair.flow(), truth))
            for name, value in errors._asdict().items():
                self.assertAlmostEqual(value, float(row[name]), 6 if isinstance(value, float) else 0, name)
            self.assertGreater(errors.above_3, errors.above_5)

    def test_pixels_without_vectors(self):
        flow, truth = np.zeros((2, 5, 2)), np.zeros((2, 5, 2))
        flow[0, :2], truth[0, 1:4], truth[1, 0] = np.nan, 1e10, (3, 4)
        errors = gpume.endpoint_error(flow, truth)
        self.assertEqual(errors[:4], (7, 6, 5 / 6, 5.0))
        self.assertEqual(errors[4:8], (1, 1, 0, 1))
        self.assertTrue(np.isnan(gpume.endpoint_error(flow * np.nan, truth).epe))
        self.assertRaisesRegex(ValueError, "shape", gpume.endpoint_error, flow, truth[:1])
        self.assertRaisesRegex(TypeError, "truth.*from_flo", gpume.endpoint_error, flow, "true.flo")


class DataFrames(Folder):
    """The one-liners of python/README.md, where these packages are."""

    def test_pandas(self):
        try:
            import pandas
        except ImportError as error:
            self.skipTest(str(error))
        self.estimate("-o", "run", *"-b 16,8 --confidence".split())
        frame = pandas.DataFrame(gpume.load(self.folder / "run").table())
        wanted = pandas.read_csv(self.folder / "run/vectors.csv")
        wanted["second"] = wanted["second"].fillna(-1)
        pandas.testing.assert_frame_equal(frame, wanted, check_dtype=False)
        pair = next(gpume.open(CLIP, block=[16, 8], confidence=True, backend="cpu"))
        pandas.testing.assert_frame_equal(pandas.DataFrame(pair.table()), frame[frame["frame"] == 1])
        frames = pandas.DataFrame(gpume.load(self.folder / "run").frames)
        pandas.testing.assert_frame_equal(frames, pandas.read_csv(self.folder / "run/frames.csv"))

    def test_polars(self):
        try:
            import polars
        except ImportError as error:
            self.skipTest(str(error))
        self.estimate("-o", "run", *"-b 16,8 --confidence".split())
        frame = polars.DataFrame(gpume.load(self.folder / "run").table())
        wanted = polars.read_csv(self.folder / "run/vectors.csv").with_columns(
            polars.col("second").fill_null(-1), polars.col("dx", "dy").cast(polars.Int32))
        self.assertTrue(frame.equals(wanted))


if __name__ == "__main__":
    unittest.main()
