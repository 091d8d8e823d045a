# SPDX-License-Identifier: BSD-2-Clause
"""gpume.search against brute force in NumPy, on every engine."""
import unittest

import brute
import gpume
import numpy as np
from support import ENGINES, pictures, search


class Searches(unittest.TestCase):
    def compare(self, size=(43, 61), bits=8, block=(8, 8), window=(5, 3), full=False, **options):
        """The layer of one shape, found by the engines and by brute force."""
        reference, target = pictures(size, bits=bits)
        units = options.get("subpel", 1)
        price = options.get("lambda_")
        oracle = brute.Search(
            reference, target, block, window, options.get("metric", "sad"), units,
            options.get("edge", "extend"), None if price is None else round(256 * price))
        vectors, costs = oracle.full() if full or units == 1 else oracle.refine()
        if full:
            options["subpel_search"] = "full"
        if units > 1:
            options["interpolation"] = "bilinear"
        for engine in ENGINES:
            with self.subTest(engine=engine, block=block, **options):
                pair = search(engine, reference, target, bits=bits, block=block, window=window,
                              **options)
                self.check(pair, reference, target, block, units, vectors, costs)
        return pair

    def check(self, pair, reference, target, block, units, vectors, costs):
        np.testing.assert_array_equal(pair.vectors * units, vectors)
        self.assertEqual(pair.vectors.dtype, np.int32 if units == 1 else np.float32)
        np.testing.assert_array_equal(pair.costs, costs)
        np.testing.assert_array_equal(pair.ranks, brute.ranks(costs))
        self.assertEqual((pair.frame, pair.ref, pair.refs, pair.block), (1, 0, (0,), block))
        predicted = brute.predicted(reference, vectors, block, units)
        np.testing.assert_array_equal(pair.predicted, predicted)
        self.assertEqual(pair.predicted.dtype, target.dtype)
        before, after = (target.astype(np.int64) - p for p in (reference, predicted))
        self.assertEqual(pair.sums, (
            np.count_nonzero((vectors == 0).all(-1)), np.abs(before).sum(), np.abs(after).sum(),
            (before ** 2).sum(), (after ** 2).sum()))
        peak = (1 << pair.bits_per_sample) - 1
        self.assertAlmostEqual(
            pair.psnr_after, 10 * np.log10(peak ** 2 * target.size / (after ** 2).sum()))

    def test_plain(self):
        self.compare()
        self.compare(block=(16, 16), window=(0, 4), size=(16, 16))
        self.compare(size=(5, 9))

    def test_shapes(self):
        self.compare(block=(16, 8))
        self.compare(block=(4, 12))

    def test_edge(self):
        self.compare(edge="inside")
        self.compare(edge="inside", subpel=2)

    def test_depths(self):
        self.compare(bits=10)
        self.compare(bits=16, metric="satd")

    def test_metrics(self):
        self.compare(metric="ssd")
        self.compare(metric="satd", block=(8, 16))
        self.compare(metric="satd", block=(12, 4))

    def test_price(self):
        self.compare(lambda_=6.25)
        self.compare(lambda_=40, metric="satd", subpel=2, size=(24, 29))

    def test_fractions(self):
        pair = self.compare(subpel=4, size=(27, 38), block=(8, 4))
        self.assertTrue((pair.vectors % 0.5 != 0).any(), "no quarter was found")
        self.compare(subpel=2, full=True, window=(2, 2), bits=10)
        self.compare(subpel=4, full=True, window=(1, 2), size=(20, 24), lambda_=1)

    def test_qp(self):
        reference, target = pictures((32, 40))
        by_qp, by_lambda = (search("cpu", reference, target, **option)
                            for option in ({"qp": 30}, {"lambda_": 8.0}))
        np.testing.assert_array_equal(by_qp.costs, by_lambda.costs)

    def test_several_shapes(self):
        reference, target = pictures((43, 61))
        shapes = [(16, 16), (16, 8), (8, 16), (8, 8)]
        for engine in ENGINES:
            pair = search(engine, reference, target, block="16..8+rect", lambda_=2)
            self.assertEqual([layer.block for layer in pair.layers], shapes)
            for layer in pair.layers:
                oracle = brute.Search(reference, target, layer.block, (7, 7), lambda256=512)
                vectors, costs = oracle.full()
                np.testing.assert_array_equal(layer.vectors, vectors)
                np.testing.assert_array_equal(layer.costs, costs)
                rate = oracle.rate(vectors[..., 0], vectors[..., 1])
                np.testing.assert_array_equal(layer.bits, rate)
                self.assertEqual((layer.rows, layer.cols), costs.shape)

    def test_predictor(self):
        """A function that gives the vectors from which bits are counted, in pixels."""
        reference, target = pictures((32, 40))
        predictors = np.zeros((4, 5, 2))
        predictors[1:, :, 0] = -2.25
        predictors[:, 2, 1] = 0.75
        rounded = np.copysign(np.floor(np.abs(predictors * 2) + 0.5), predictors).astype(int)
        oracle = brute.Search(
            reference, target, (8, 8), (4, 4), units=2, lambda256=20 * 256, predictors=rounded)
        vectors, costs = oracle.refine()
        for engine in ENGINES:
            asked = []
            pair = search(engine, reference, target, window=4, subpel=2, interpolation="bilinear",
                          lambda_=20, predictor=lambda *of: asked.append(of) or predictors)
            np.testing.assert_array_equal(pair.vectors * 2, vectors)
            np.testing.assert_array_equal(pair.costs, costs)
            self.assertEqual(asked, [(1, 0)])

    def test_candidates(self):
        """The least costs at places two pixels away from all before, one after the other."""
        reference, target = pictures((30, 30))
        oracle = brute.Search(reference, target, (8, 8), (1, 1))
        for engine in ENGINES:
            pair = search(engine, reference, target, window=1, candidates=8, confidence=True)
            layer = pair.layers[0]
            self.assertEqual(layer.candidate_costs.shape, (8, 4, 4))
            np.testing.assert_array_equal(layer.candidate_costs[0], layer.costs)
            np.testing.assert_array_equal(layer.candidate_vectors[0], layer.vectors)
            for place in np.ndindex(4, 4):
                chosen = []
                while True:
                    free = [
                        (oracle.costs(dx, dy)[place], (dx, dy) != (0, 0), dy, dx)
                        for dy in (-1, 0, 1) for dx in (-1, 0, 1)
                        if all(max(abs(dx - c[3]), abs(dy - c[2])) >= 2 for c in chosen)]
                    if not free:
                        break
                    chosen.append(min(free))
                found = layer.candidate_costs[(slice(None), *place)].tolist()
                self.assertEqual(found, [int(c[0]) for c in chosen] + [-1] * (8 - len(chosen)))
                for i, (_, _, dy, dx) in enumerate(chosen):
                    self.assertEqual(layer.candidate_vectors[(i, *place)].tolist(), [dx, dy])
            np.testing.assert_array_equal(layer.second, layer.candidate_costs[1])
            everything = np.stack(list(oracle.known.values()))
            np.testing.assert_array_equal(
                layer.ties, (everything == layer.costs).sum(0) - 1)
            self.assertIsNone(layer.returns)

    def test_texture(self):
        reference, target = pictures((19, 22))
        pair = search("cpu", reference, target, confidence=True)
        expected = np.zeros((3, 3), np.int64)
        for row, col in np.ndindex(3, 3):
            block = target[8 * row:8 * row + 8, 8 * col:8 * col + 8].astype(int)
            expected[row, col] = sum(np.abs(np.diff(block, axis=axis)).sum() for axis in (0, 1))
        np.testing.assert_array_equal(pair.layers[0].texture, expected)

    def test_same(self):
        """A frame and itself: an infinite PSNR, and no vector anywhere."""
        frame, _ = pictures((24, 24))
        pair = search("cpu", frame, frame)
        self.assertEqual((pair.psnr_before, pair.psnr_after), (float("inf"),) * 2)
        self.assertFalse(pair.vectors.any() or pair.costs.any())


class Arrays(unittest.TestCase):
    def test_any_memory(self):
        """The same frames in any order of memory and of bytes."""
        reference, target = pictures((43, 61), bits=10)
        wanted = search("cpu", reference, target, bits=10)
        wide = np.zeros((86, 183), np.uint16)
        wide[::2, ::3] = target
        for same in (np.asfortranarray(target), target[::-1].copy()[::-1], target.astype(">u2"),
                     wide[::2, ::3]):
            pair = search("cpu", reference, same, bits=10)
            np.testing.assert_array_equal(pair.vectors, wanted.vectors)
            np.testing.assert_array_equal(pair.costs, wanted.costs)
            np.testing.assert_array_equal(pair.predicted, wanted.predicted)

    def test_untouched(self):
        """A search does not change its frames, and the caller owns the results."""
        reference, target = pictures((43, 61))
        before = reference.copy(), target.copy()
        for frame in (reference, target):
            frame.flags.writeable = False
        first = search("cpu", reference, target, keep_frames=True)
        np.testing.assert_array_equal(first.target, before[1])
        np.testing.assert_array_equal(first.reference, before[0])
        kept = first.vectors.copy(), first.predicted.copy(), first.target.copy()
        for _ in range(3):
            search("cpu", target, reference, keep_frames=True)
        for now, then in zip((first.vectors, first.predicted, first.target), kept):
            np.testing.assert_array_equal(now, then)
            self.assertTrue(now.flags.writeable)

    def test_refused(self):
        frame, _ = pictures((24, 24))
        deep = frame.astype(np.uint16)
        for error, words, arguments in (
                (TypeError, "uint8 or uint16", (frame.astype(float), frame)),
                (TypeError, "uint8 or uint16", (frame > 3, frame)),
                (TypeError, "uint8 or uint16", (frame.astype(np.int8), frame)),
                (TypeError, "frames of 16 bits", (deep, frame)),
                (ValueError, r"\(24, 24, 3\)", (np.stack([frame] * 3, -1), frame)),
                (ValueError, r"\(24, 20\)", (frame, frame[:, :20]))):
            with self.assertRaisesRegex(error, words):
                gpume.search(*arguments, backend="cpu")
        with self.assertRaisesRegex(ValueError, "a sample is 1024, more than 10 bits hold"):
            gpume.search(deep, np.full((24, 24), 1024, np.uint16), bits=10, backend="cpu")

    def test_empty(self):
        with self.assertRaises(gpume.InvalidError) as raised:
            gpume.search(np.zeros((0, 8), np.uint8), np.zeros((0, 8), np.uint8), backend="cpu")
        self.assertIn("height 0", str(raised.exception))


class Options(unittest.TestCase):
    def test_refused(self):
        frame, _ = pictures((24, 24))
        for error, words, options in (
                (TypeError, "'blok' is not an option; did you mean 'block'", dict(blok=8)),
                (TypeError, "window: 3.5 is not a whole number", dict(window=3.5)),
                (ValueError, r"window: \(3,\) is neither a number nor", dict(window=(3,))),
                (TypeError, "bits: '8' is not a whole number", dict(bits="8")),
                (ValueError, "threads: -1 is not between 0 and", dict(threads=-1)),
                (ValueError, "metric: 'sse' is not one of sad, satd, ssd", dict(metric="sse")),
                (ValueError, "block: '64..9'", dict(block="64..9")),
                (ValueError, "block: '8by8' is not", dict(block="8by8")),
                (ValueError, "block: 0 shapes", dict(block=[])),
                (ValueError, r"block: \(8, 8, 8\)", dict(block=(8, 8, 8))),
                (ValueError, "lambda_: 1001 is not between", dict(lambda_=1001)),
                (ValueError, "lambda_: nan is not a finite", dict(lambda_=float("nan"))),
                (ValueError, "lambda_ and qp", dict(lambda_=1, qp=20)),
                (ValueError, "prefilter: 'gauss' is not", dict(prefilter="gauss")),
                (ValueError, "predictor: 'mean' is not one of zero, median, a function",
                 dict(predictor="mean")),
                (TypeError, "direction concerns several frames", dict(direction="both")),
                (TypeError, "'bits_per_sample' is not an option; did you mean 'bits'",
                 dict(bits_per_sample=10)),
                (TypeError, "'frames' is not an option; did you mean 'target_count'",
                 dict(frames=5)),
                (gpume.InvalidError, "^block 9: must be a multiple of 4", dict(block=9)),
                (gpume.InvalidError, "^window 513: ", dict(window=(513, 2))),
                (gpume.InvalidError, "^partition: needs lambda_ above 0", dict(partition=True))):
            with self.assertRaisesRegex(error, words, msg=str(options)):
                gpume.search(frame, frame, backend="cpu", **options)

    def test_errors(self):
        """Exceptions have the library's words and status, and are of Python's classes, too."""
        frame, _ = pictures((24, 24))
        with self.assertRaises(ValueError) as raised:
            gpume.search(frame, frame, window=513, backend="cpu")
        self.assertIsInstance(raised.exception, gpume.InvalidError)
        self.assertIsInstance(raised.exception, gpume.GpumeError)
        self.assertEqual(raised.exception.status, -3)
        self.assertIn("513", str(raised.exception))
        with self.assertRaises(gpume.DeviceError) as raised:
            gpume.search(frame, frame, backend="vulkan", device="no such device")
        self.assertRegex(
            str(raised.exception), "no such device|no Vulkan driver|Vulkan loader.*cannot be loaded")
        self.assertNotRegex(str(raised.exception), r"params\.|GPUME_")

    def test_predictor_fails(self):
        """An exception in the function reaches the caller, and so does a wrong shape."""
        frame, _ = pictures((24, 24))

        def fail(_frame, _ref):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            gpume.search(frame, frame, lambda_=1, predictor=fail, backend="cpu")
        with self.assertRaisesRegex(ValueError, r"shape \(2, 2\), and the grid has \(3, 3, 2\)"):
            gpume.search(frame, frame, lambda_=1, predictor=lambda *_: [[1, 2], [3, 4]],
                         backend="cpu")

    def test_prefilter(self):
        """A kernel of one weight changes nothing; a box changes costs as the box says."""
        reference, target = pictures((24, 24))
        plain = search("cpu", reference, target)
        same = search("cpu", reference, target, prefilter=[[3.0]])
        np.testing.assert_array_equal(same.costs, plain.costs)

        def box(frame):
            wide = np.pad(frame.astype(int), 1, "edge")
            total = sum(wide[y:y + 24, x:x + 24] for y in range(3) for x in range(3))
            return ((total + 4) // 9).astype(np.uint8)

        blurred = search("cpu", box(reference), box(target))
        filtered = search("cpu", reference, target, prefilter="box:3")
        np.testing.assert_array_equal(filtered.vectors, blurred.vectors)
        np.testing.assert_array_equal(filtered.costs, blurred.costs)


if __name__ == "__main__":
    unittest.main()
