# SPDX-License-Identifier: BSD-2-Clause
"""Sorting and reducing against NumPy, on every engine."""
import unittest

import gpume
import numpy as np
from support import CACHE, ENGINES


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.random = np.random.default_rng(3)
        cls.places = [gpume.Compute(engine, cache_dir=CACHE) for engine in ENGINES]
        for place, engine in zip(cls.places, ENGINES):
            assert place.backend == engine and place.device
            cls.addClassCleanup(place.close)

    def arrays(self):
        """Integers of every type, from some values to all, in several shapes."""
        for kind in ("u1", "u2", "u4", "i1", "i2", "i4"):
            info = np.iinfo(kind)
            for size in (0, 1, 7, 300, 5000):
                yield self.random.integers(info.min, info.max, size, kind, endpoint=True)
        yield self.random.integers(0, 3, 4000)
        yield self.random.integers(-(1 << 31), 1 << 31, 999)
        yield self.random.integers(0, 1 << 32, 999).astype(">u8")
        yield self.random.integers(-9, 9, (7, 40))[:, ::-2]
        yield self.random.integers(0, 1 << 32, (3, 5, 11), "u4").transpose(2, 0, 1)
        yield np.zeros((4, 0), np.int32)

    def test_sort(self):
        for array in self.arrays():
            before = array.copy()
            for place in self.places:
                for down in (False, True):
                    found = place.sort(array, descending=down)
                    wanted = np.sort(array)
                    np.testing.assert_array_equal(found, wanted[..., ::-1] if down else wanted)
                    self.assertEqual(found.dtype, array.dtype)
                    order = place.argsort(array, descending=down)
                    signed = array.astype(np.int64)
                    wanted = np.argsort(-signed if down else signed, kind="stable")
                    np.testing.assert_array_equal(order, wanted)
            np.testing.assert_array_equal(array, before)

    def test_pairs(self):
        keys = self.random.integers(0, 20, 700)
        order = np.argsort(keys, kind="stable")
        for payload in (np.arange(700.0), self.random.integers(0, 9, (700, 2)),
                        np.array([str(key) for key in keys])):
            for place in self.places:
                for method in ("auto", "radix"):
                    found, moved = place.sort_pairs(keys, payload, method=method)
                    np.testing.assert_array_equal(found, keys[order])
                    np.testing.assert_array_equal(moved, payload[order])

    def test_reduce(self):
        for kind in ("u1", "u2", "u4", ">u4"):
            array = self.random.integers(0, np.iinfo(kind).max, (33, 70), endpoint=True)
            array = array.astype(kind)[:, ::3]
            for place in self.places:
                self.assertEqual(place.reduce(array), int(array.sum(dtype="u8")))
                least = place.reduce(array, "minimum")
                self.assertEqual(least, (array.min(), array.argmin()))
                bits = 8 * array.dtype.itemsize
                counts = place.reduce(array, "histogram", bins=16, shift=bits - 4)
                wanted = np.bincount((array.ravel() >> (bits - 4)).astype(int), minlength=16)
                np.testing.assert_array_equal(counts, wanted)
                self.assertEqual(
                    place.reduce(array, "histogram", bins=3, shift=bits - 4).tolist(),
                    wanted[:3].tolist())
        for place in self.places:
            self.assertEqual(place.reduce(np.zeros(0, np.uint8)), 0)

    def test_shared(self):
        """The functions open a device by themselves and keep it."""
        self.assertEqual(gpume.sort([3, -1, 2]).tolist(), [-1, 2, 3])
        self.assertEqual(gpume.argsort([3, 1, 2]).tolist(), [1, 2, 0])
        self.assertEqual(gpume.sort_pairs([2, 1], ["b", "a"])[1].tolist(), ["a", "b"])
        self.assertEqual(gpume.reduce(np.array([4, 2], np.uint16), "minimum"), (2, 1))

    def test_refused(self):
        place, one = self.places[0], np.zeros(1, np.uint8)
        for error, words, call in (
                (TypeError, "float64", lambda: place.sort([0.5])),
                (OverflowError, "from -1 to 4294967295", lambda: place.sort([-1, (1 << 32) - 1])),
                (OverflowError, "from 0 to 4294967296", lambda: place.sort([0, 1 << 32])),
                (ValueError, "method: 'quick' is not one of auto, radix, bitonic",
                 lambda: place.sort([1], method="quick")),
                (ValueError, "one payload for each key", lambda: place.sort_pairs([1, 2], [1])),
                (TypeError, "int64", lambda: place.reduce([1])),
                (ValueError, "no minimum", lambda: place.reduce(np.zeros(0, "u1"), "minimum")),
                (ValueError, "0 bins", lambda: place.reduce(one, "histogram", bins=0)),
                (ValueError, "'mean' is not one of", lambda: place.reduce(one, "mean")),
                (ValueError, "backend: 'gpu' is not one of", lambda: gpume.Compute("gpu"))):
            self.assertRaisesRegex(error, words, call)
        with self.assertRaises(gpume.DeviceError):
            gpume.Compute("vulkan", device="no such device")
        closed = gpume.Compute("cpu")
        closed.close()
        self.assertRaisesRegex(ValueError, "closed", closed.sort, [1])

    def test_lists(self):
        names = [search.name for search in gpume.searches()]
        self.assertIn("plain", names)
        self.assertEqual(len(names), len(set(names)))
        devices = gpume.devices()
        self.assertEqual([d.index for d in devices], list(range(len(devices))))
        if "vulkan" in ENGINES:
            self.assertTrue(any(not d.unusable for d in devices))


if __name__ == "__main__":
    unittest.main()
