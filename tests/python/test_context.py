# SPDX-License-Identifier: BSD-2-Clause
"""Contexts: frames one by one, requested pairs, ends of all kinds."""
import gc
import signal
import subprocess
import sys
import threading
import time
import unittest

import gpume
import numpy as np
from support import ENGINES, options, pictures


class Contexts(unittest.TestCase):
    def assert_same(self, pair, other):
        np.testing.assert_array_equal(pair.vectors, other.vectors)
        np.testing.assert_array_equal(pair.costs, other.costs)
        np.testing.assert_array_equal(pair.predicted, other.predicted)
        self.assertEqual(pair.sums, other.sums)

    def test_step_by_step(self):
        """The same pairs however they are received, and those of single searches."""
        frames = pictures((40, 56), 30)
        singles = [gpume.search(a, b, backend="cpu") for a, b in zip(frames, frames[1:])]
        for engine in ENGINES:
            with gpume.Context(56, 40, **options(engine)) as context:
                self.assertEqual(context.info.backend, engine)
                received = []
                for i, frame in enumerate(frames):
                    context.send(frame, i / 25)
                    if i % 7 == 3:
                        received += context
                context.finish()
                received += context
                self.assertIsNone(context.receive())
                self.assertGreaterEqual(context.stats()["busy"], 0)
            with gpume.Context(56, 40, **options(engine)) as context:
                timed = list(context.pairs((f, i / 25) for i, f in enumerate(frames)))
            for pairs in (received, timed):
                self.assertEqual([p.frame for p in pairs], list(range(1, 30)))
                self.assertEqual([p.ref for p in pairs], list(range(29)))
                for pair, single in zip(pairs, singles):
                    self.assert_same(pair, single)
                    self.assertAlmostEqual(pair.time, pair.frame / 25)

    def test_many_without_receiving(self):
        """Sending alone never blocks: pairs wait, and stay what they were."""
        frames = pictures((16, 16), 200)
        with gpume.Context(16, 16, backend="cpu", keep_frames=True) as context:
            for frame in frames:
                context.send(frame)
            context.finish()
            pairs = list(context)
        self.assertEqual(len(pairs), 199)
        for pair in pairs:
            np.testing.assert_array_equal(pair.target, frames[pair.frame])
            np.testing.assert_array_equal(pair.reference, frames[pair.ref])

    def test_requested(self):
        """direction="manual": the pairs that were asked for, in that order."""
        frames = pictures((24, 32), 4)
        with gpume.Context(32, 24, direction="manual", ref_distance=3, backend="cpu") as context:
            for frame in frames:
                context.send(frame)
            wanted = [(3, 0), (0, 3), (2, 2), (1, 3)]
            for tag, (target, reference) in enumerate(wanted):
                context.search(target, reference, tag=tag)
            with self.assertRaisesRegex(gpume.InvalidError, "4"):
                context.search(4, 0)
            context.finish()
            pairs = list(context)
        self.assertEqual([(p.frame, p.ref) for p in pairs], wanted)
        self.assertEqual([p.tag for p in pairs], [0, 1, 2, 3])
        for pair in pairs:
            single = gpume.search(frames[pair.ref], frames[pair.frame], backend="cpu")
            self.assert_same(pair, single)

    def test_best_reference(self):
        """Each block's match is the cheapest of all references, the nearer among equals."""
        frames = pictures((24, 32), 5)
        with gpume.Context(32, 24, ref_distance=[1, 2], direction="both", best_reference=True,
                           backend="cpu") as context:
            pairs = list(context.pairs(frames))
        self.assertEqual([p.frame for p in pairs], [0, 1, 2, 3, 4])
        self.assertEqual(pairs[2].refs, (1, 3, 0, 4))
        for pair in pairs:
            single = [gpume.search(frames[r], frames[pair.frame], backend="cpu")
                      for r in pair.refs]
            costs = np.stack([s.costs for s in single])
            best = costs.argmin(0)
            np.testing.assert_array_equal(pair.costs, costs.min(0))
            np.testing.assert_array_equal(pair.layers[0].refs, np.array(pair.refs)[best])
            vectors = np.stack([s.vectors for s in single])
            np.testing.assert_array_equal(
                pair.vectors, np.take_along_axis(vectors, best[None, ..., None], 0)[0])

    def test_ends(self):
        """Closed, left by an exception, forgotten, cancelled."""
        frame, _ = pictures((16, 16))
        context = gpume.Context(16, 16, backend="cpu")
        context.send(frame)
        context.close()
        context.close()
        for call in (lambda: context.send(frame), context.finish, context.receive,
                     lambda: context.info, context.cancel):
            self.assertRaisesRegex(ValueError, "closed", call)
        with self.assertRaises(KeyError), gpume.Context(16, 16, backend="cpu") as context:
            raise KeyError
        self.assertRaises(ValueError, context.finish)
        gpume.Context(16, 16, backend="cpu").send(frame)
        gc.collect()
        context = gpume.Context(16, 16, backend="cpu")
        context.cancel()
        with self.assertRaises(gpume.CancelledError) as raised:
            context.send(frame)
        self.assertEqual(raised.exception.status, -10)

    def test_one_sequence(self):
        """A context that has had its frames, or whose loop was left, takes no others."""
        frames = pictures((16, 16), 4)
        with gpume.Context(16, 16, backend="cpu") as context:
            self.assertEqual(len(list(context.pairs(frames))), 3)
            self.assertRaisesRegex(ValueError, "another", list, context.pairs(frames))
            self.assertRaisesRegex(ValueError, "another", context.send, frames[0])
        with gpume.Context(16, 16, backend="cpu") as context:
            for _ in context.pairs(frames):
                break
            self.assertRaisesRegex(ValueError, "another", list, context.pairs(frames))

    def test_interrupted(self):
        """Ctrl-C ends a search that would take hours, also when it is pressed again."""
        program = ("import gpume, numpy; frame = numpy.zeros((4096, 4096), numpy.uint8); "
                   "print(flush=True); gpume.search(frame, frame, block=4, window=512, "
                   "subpel=4, subpel_search='full', elimination=False, backend='cpu')")
        for presses in (1, 3):
            with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.readline()
                for _ in range(presses):
                    time.sleep(0.5)
                    process.send_signal(signal.SIGINT)
                self.assertIn(b"KeyboardInterrupt", process.communicate(timeout=60)[1])
                self.assertIn(process.returncode, (1, -signal.SIGINT))

    def test_alarm(self):
        """What a handler of another signal raises ends a search, too."""
        def ring(*_):
            raise TimeoutError

        frame = np.zeros((4096, 4096), np.uint8)
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            with self.assertRaises(TimeoutError):
                gpume.search(frame, frame, block=4, window=512, subpel=4, subpel_search="full",
                             elimination=False, backend="cpu")
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_forked(self):
        """A process can search after its parent has, as with multiprocessing."""
        program = ("import gpume, numpy, os, signal; frame = numpy.zeros((16, 16), numpy.uint8); "
                   "gpume.search(frame, frame, backend='cpu'); child = os.fork(); "
                   "child or signal.alarm(30); gpume.search(frame, frame, backend='cpu'); "
                   "child and exit(os.waitpid(child, 0)[1] != 0)")
        self.assertEqual(subprocess.run([sys.executable, "-c", program]).returncode, 0)

    def test_version(self):
        """The version of the library that is loaded; other names are errors as ever."""
        self.assertEqual(gpume.__version__, gpume.version())
        self.assertRegex(gpume.__version__, r"^\d+\.\d+\.\d+$")
        with self.assertRaisesRegex(AttributeError, "module 'gpume' has no attribute 'verson'"):
            gpume.verson

    def test_short_forms(self):
        """What an interactive session shows of a pair is one line."""
        pair = gpume.search(*pictures((20, 24)), block="8..4", backend="cpu")
        self.assertRegex(repr(pair), r"^<Pair: frame 1 from 0; 24x20 pixels, 8 bits; 8x8 blocks in 3"
                         r" rows and 3 columns, 4x4 blocks in 5 rows and 6 columns; PSNR .*>$")
        self.assertEqual(repr(pair.layers[1]), "<Layer: 4x4 blocks in 5 rows and 6 columns>")

    def test_other_threads(self):
        """Contexts in several threads at once, with functions of Python that the library calls."""
        frames = pictures((24, 32), 12)
        results = {}

        def run(number):
            zeros = np.zeros((3, 4, 2))
            with gpume.Context(32, 24, backend="cpu", lambda_=3,
                               predictor=lambda *_: zeros) as context:
                results[number] = list(context.pairs(frames))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 4)
        for pairs in results.values():
            for pair, other in zip(pairs, results[0], strict=True):
                self.assert_same(pair, other)

    def test_wrong_frames(self):
        frame, _ = pictures((16, 16))
        with gpume.Context(16, 16, backend="cpu") as context:
            self.assertRaisesRegex(ValueError, r"\(16, 8\)", context.send, frame[:, :8])
            self.assertRaises(TypeError, context.send, frame.astype("u2"))
            context.send(frame)
            context.finish()
            self.assertRaisesRegex(ValueError, "another", context.send, frame)
            with self.assertRaises(TypeError):
                context.search("a", 0)


if __name__ == "__main__":
    unittest.main()
