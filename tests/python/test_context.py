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

    def run_program(self, program):
        """In a separate Python; an alarm ends what hangs, here and in its children."""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c",
             "import gpume, numpy, os, signal, sys, threading; signal.alarm(600); "
             "frame = numpy.zeros((32, 48), numpy.uint8)\n" + program],
            capture_output=True, timeout=1200)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return done.stdout.decode()

    # What a child does with what its parent has opened, before it ends in the usual way.
    PARENTS = """
context = gpume.Context(48, 32, backend="cpu")
context.send(frame); context.send(frame)
pairs = context.pairs([frame] * 3); next(pairs)
compute = gpume.Compute("cpu")
"""

    def test_left_to_a_child(self):
        """A child of fork() ends, whatever it does with the contexts of its parent, and has none
        of the parent's threads; the parent goes on."""
        acts = {
            "keeps": "",
            "drops": "context = pairs = compute = None",
            "closes": "context.close(); compute.close(); pairs.close()",
            "leaves": "context.__exit__(KeyError); compute.__exit__(KeyError)",
        }
        for name, act in acts.items():
            with self.subTest(name):
                self.run_program(self.PARENTS + f"""
child = os.fork()
if child == 0:
    signal.alarm(600)
    {act}
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(list(pairs)) == 3
assert compute.sort([3, 1, 2]).tolist() == [1, 2, 3]
""")

    def test_used_in_a_child(self):
        """There every call says whose context it is; new ones work, as do those of functions."""
        self.run_program("""
context = gpume.Context(48, 32, backend="cpu")
context.send(frame); context.send(frame)
compute = gpume.Compute("cpu")
child = os.fork()
if child == 0:
    signal.alarm(600)
    for call in (lambda: context.send(frame), context.receive, context.cancel, context.finish,
                 lambda: context.info, context.stats, lambda: context.search(1, 0),
                 lambda: compute.sort([1])):
        try:
            call()
        except ValueError as error:
            assert "process" in str(error), error
        else:
            raise AssertionError(call)
    assert gpume.search(frame, frame, backend="cpu").vectors.shape == (4, 6, 2)
    assert gpume.Compute("cpu").sort([2, 1]).tolist() == [1, 2]
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
""")

    def test_shared_in_a_child(self):
        """The device that gpume.sort keeps is the parent's, even while a thread of it sorts."""
        self.run_program("""
assert gpume.sort([2, 1]).tolist() == [1, 2]
parents = gpume._compute._shared()
parents._lock.acquire()
child = os.fork()
if child == 0:
    signal.alarm(600)
    assert gpume._compute._shared() is not parents
    assert gpume.sort([2, 1]).tolist() == [1, 2]
    sys.exit(0)
parents._lock.release()
assert os.waitpid(child, 0)[1] == 0
assert gpume._compute._shared() is parents
""")

    def test_worker(self):
        """A worker of multiprocessing that has dropped its parent's context."""
        self.run_program("""
import multiprocessing
context = gpume.Context(48, 32, backend="cpu"); context.send(frame)
def work(number):
    global context
    context = None
    return number
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(work, (7,)).get(300) == 7
context.send(frame)
assert context.receive().frame == 1
""")

    def test_cancelled_while_closing(self):
        """cancel() and close() of other threads meet in every order."""
        self.run_program("""
for number in range(100):
    context = gpume.Context(48, 32, backend="cpu")
    started = threading.Event()
    def cancel(context=context):
        while True:
            try:
                context.cancel()
                started.set()
            except ValueError:
                return
    threads = [threading.Thread(target=cancel) for _ in range(2)]
    for thread in threads:
        thread.start()
    started.wait()
    context.close()
    for thread in threads:
        thread.join()
""")

    def test_closed_by_another_thread(self):
        """A call that is under way is cancelled, and ends before the context does."""
        frame = np.zeros((4096, 4096), np.uint8)
        context = gpume.Context(4096, 4096, block=4, window=512, subpel=4, subpel_search="full",
                                elimination=False, backend="cpu")
        errors = []
        context.send(frame)
        context.send(frame)

        def receive():
            try:
                context.receive()
            except (gpume.CancelledError, ValueError) as error:
                errors.append(error)

        thread = threading.Thread(target=receive)
        thread.start()
        while not context._handle._calls:  # the search takes hours
            time.sleep(0.001)
        context.close()
        thread.join()
        self.assertEqual(len(errors), 1)

    def test_compute_closed_by_another_thread(self):
        """Closing waits for what other threads have asked for."""
        compute = gpume.Compute("cpu")
        array = np.arange(1 << 20, dtype=np.uint32)[::-1]
        results = []

        def sort():
            with self.assertRaisesRegex(ValueError, "closed"):
                while True:
                    results.append(compute.sort(array)[0])

        threads = [threading.Thread(target=sort) for _ in range(3)]
        for thread in threads:
            thread.start()
        while not results:
            time.sleep(0.001)
        compute.close()
        for thread in threads:
            thread.join()
        self.assertEqual(set(results), {0})

        compute = gpume.Compute("cpu")
        entered, ended = threading.Event(), []

        def stay(_):
            entered.set()
            while compute._handle._finalizer.alive:  # until it is being closed
                time.sleep(0.001)
            time.sleep(0.1)
            ended.append(True)

        thread = threading.Thread(target=compute._handle.run, args=(stay,))
        thread.start()
        entered.wait()
        compute.close()
        self.assertTrue(ended)
        thread.join()

    def test_closed_in_a_call(self):
        """A signal's handler that closes the context which it interrupts is refused."""
        context = gpume.Context(16, 16, backend="cpu")
        with self.assertRaisesRegex(RuntimeError, "within a call"):
            context._handle.run(lambda _: context.close())
        context.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            context.finish()

    def test_at_the_end(self):
        """What is left open, or used, when the interpreter ends."""
        self.run_program("""
import atexit
context = gpume.Context(48, 32, backend="cpu")
context.send(frame)
def use():
    context.send(frame)
    context.finish()
    print(len(list(context)))
atexit.register(use)
""")
        self.run_program("""
context = gpume.Context(48, 32, backend="cpu")
def forever():
    while True:
        try:
            context.send(frame)
            context.receive()
        except (gpume.CancelledError, ValueError):
            return
threading.Thread(target=forever, daemon=True).start()
""")

    def test_refused_frames_are_given_back(self):
        """However often a call fails, as many frames are left as before."""
        frames = pictures((32, 48), 6)
        times = [float("nan"), float("inf"), -float("inf"), 1e300, -1e13, 9.3e12, "1", None, 1j]
        with gpume.Context(48, 32, backend="cpu") as context:
            for wrong in 20 * times:
                with self.assertRaises((ValueError, TypeError)):
                    context.send(frames[0], time=wrong)
            for wrong in 20 * [frames[0][:8], frames[0].astype("u2"), frames[0][0], None, "frame"]:
                with self.assertRaises((ValueError, TypeError)):
                    context.send(wrong)
            pairs = list(context.pairs((f, t) for f, t in zip(frames, (-9e12, 0, 1, 2, 3, 9e12))))
        self.assertEqual([p.frame for p in pairs], [1, 2, 3, 4, 5])
        self.assertEqual(pairs[4].time, 9e12)

    def test_interrupted_copies_are_given_back(self):
        """An exception between taking a frame and sending it, such as that of Ctrl-C."""
        frame, other = pictures((32, 48))
        with gpume.Context(48, 32, backend="cpu") as context:
            call = context._call
            for fails in ("gpume_send", "gpume_frame_acquire"):
                def broken(name, *arguments):
                    if name == "gpume_send" and fails == name:
                        raise KeyboardInterrupt
                    status = call(name, *arguments)
                    if name == fails:
                        raise KeyboardInterrupt
                    return status

                context._call = broken
                for _ in range(20):
                    with self.assertRaises(KeyboardInterrupt):
                        context.send(frame)
                context._call = call
            self.assertEqual(len(list(context.pairs([frame, other]))), 1)

    def test_wrong_requests(self):
        """Numbers that the library could not hold are not taken for others."""
        frames = pictures((24, 32), 2)
        with gpume.Context(32, 24, direction="manual", backend="cpu") as context:
            for frame in frames:
                context.send(frame)
            for wrong in ((1 << 64, 0), (1, -1), (1, 1 << 64), (-1, 0)):
                with self.assertRaisesRegex(ValueError, "64 bits"):
                    context.search(*wrong)
            for tag in (-1, 1 << 64):
                with self.assertRaisesRegex(ValueError, "64 bits"):
                    context.search(1, 0, tag=tag)
            with self.assertRaises(TypeError):
                context.search(1.5, 0)
            context.search(np.int64(1), 0, tag=(1 << 64) - 1)
            context.finish()
            self.assertEqual([p.tag for p in context], [(1 << 64) - 1])

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
