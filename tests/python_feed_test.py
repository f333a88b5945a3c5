#!/usr/bin/env python3
"""The feed in Python: the batches of the program for any number of workers, states and arrays.

Run with the program as STOKER and build/<preset>/python in PYTHONPATH. Where torch cannot be imported, the tests of it say so
and are skipped; .venv-networks has torch. STOKER_LONG=1 takes and drops a million batches instead of ten thousand.
"""

import doctest
import gc
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import textwrap
import unittest

import numpy

import stoker
import stoker.feed
from python_feeds import MNIST, PHOTOGRAPHS, POLICY, Digest, Folder, digest_of, importable, program_digest, run_python


class Same(Folder):
    """One digest from the program and from Python."""

    def test_small_images_with_threads(self):
        expected = program_digest(MNIST, "--aa", POLICY, "--seed", "3", "--epochs", "2", "-b", "60")
        for workers in (1, 2, 8):
            with stoker.Feed(MNIST, augment=POLICY, seed=3, batch_size=60, workers=workers, framework="numpy") as feed:
                digest = Digest()
                for _ in range(2):
                    for images, labels in feed:
                        digest.add(images, labels)
                self.assertEqual(digest.hex(), expected, workers)

    def test_photographs_with_threads_and_processes(self):
        for dtype in ("float32", "uint8"):
            expected = program_digest(self.photographs, "--aa", PHOTOGRAPHS, "-b", "5", "--dtype", dtype)
            for isolate in (False, True):
                for workers in (1, 2, 8):
                    layout = "channels_first" if dtype == "float32" else "channels_last"
                    with stoker.Feed(self.photographs, augment=PHOTOGRAPHS, batch_size=5, workers=workers, isolate=isolate, dtype=dtype,
                                     layout=layout, framework="numpy") as feed:
                        self.assertEqual(digest_of(feed), expected, (dtype, isolate, workers))

    def test_ranks_together_give_the_batches_of_one(self):
        def labels_of(**options):
            with stoker.Feed(MNIST, batch_size=64, seed=2, fields=("index",), framework="numpy", **options) as feed:
                return [batch.tolist() for batch, in feed]

        whole = labels_of()
        parts = [labels_of(rank=rank, ranks=3) for rank in range(3)]
        for number, batch in enumerate(whole):
            self.assertEqual([parts[i % 3][number][i // 3] for i in range(len(batch))], batch)

    def test_the_rank_comes_from_the_environment(self):
        code = f"import stoker; feed = stoker.Feed({MNIST!r}, rank='auto'); print(feed.rank, feed.ranks)"
        for variables in ({"RANK": "1", "WORLD_SIZE": "4"}, {"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}):
            self.assertEqual(run_python(code, env={**os.environ, **variables}).stdout, "1 4\n")


class State(Folder):
    def test_continues_exactly_at_a_hundred_places(self):
        options = {"augment": POLICY, "seed": 4, "framework": "numpy", "fields": ("image", "label")}
        with stoker.Feed(MNIST + ":train[:500]", batch_size=32, workers=2, **options) as feed:
            whole = [digest_of([batch]) for _ in range(3) for batch in feed]
        per_epoch = 16
        self.assertEqual(len(whole), 3 * per_epoch)
        generator = random.Random(5)
        for _ in range(100):
            stop, workers = generator.randrange(3 * per_epoch), generator.choice((1, 2, 3))
            first = stoker.Feed(MNIST + ":train[:500]", batch_size=32, workers=1, **options)
            first.load_state_dict({**first.state_dict(), "epoch": stop // per_epoch, "position": stop % per_epoch * 32})
            given = next(iter(first))
            self.assertEqual(digest_of([given]), whole[stop])
            state = json.loads(json.dumps(first.state_dict()))
            first.close()
            with stoker.Feed(MNIST + ":train[:500]", batch_size=32, workers=workers, **options) as second:
                second.load_state_dict(state)
                self.assertEqual(second.state_dict(), state)
                rest = [digest_of([batch]) for batch in second]
                self.assertEqual(rest, whole[stop + 1:(stop // per_epoch + 1) * per_epoch])
                if stop // per_epoch < 2:
                    self.assertEqual(digest_of([next(iter(second))]), whole[(stop // per_epoch + 1) * per_epoch])

    def test_counts_batches_given_and_not_those_made(self):
        with stoker.Feed(MNIST, batch_size=100, prefetch_batches=8, framework="numpy") as feed:
            self.assertEqual((feed.state_dict()["epoch"], feed.state_dict()["position"]), (0, 0))
            batches = iter(feed)
            self.assertEqual(feed.state_dict()["position"], 0)
            for given in range(1, 21):
                next(batches)
                self.assertEqual(feed.state_dict()["position"], given * 100)
            self.assertEqual(feed.state_dict()["epoch"], 0, "the last batch is given, the epoch not left")
            self.assertIsNone(next(batches, None))
            self.assertEqual((feed.state_dict()["epoch"], feed.state_dict()["position"]), (1, 0))

    def test_other_ranks_continue(self):
        first = stoker.Feed(MNIST, batch_size=64, seed=1, framework="numpy", fields=("index",))
        batches = iter(first)
        for _ in range(7):
            next(batches)
        state = first.state_dict()
        expected = next(batches)[0].tolist()
        first.close()
        parts = []
        for rank in range(2):
            with stoker.Feed(MNIST, batch_size=64, seed=1, framework="numpy", fields=("index",), rank=rank, ranks=2) as feed:
                feed.load_state_dict(state)
                parts.append(next(iter(feed))[0].tolist())
        self.assertEqual([parts[i % 2][i // 2] for i in range(64)], expected)

    def test_another_batch_size_continues_inside_a_batch(self):
        feed = stoker.Feed(MNIST, batch_size=64, framework="numpy", fields=("index",))
        order = [index for batch, in feed for index in batch.tolist()]
        with stoker.Feed(MNIST, batch_size=100, framework="numpy", fields=("index",)) as other:
            other.load_state_dict({**feed.state_dict(), "epoch": 0, "position": 64 * 3})
            rest = [batch.tolist() for batch, in other]
        self.assertEqual(len(rest[0]), 8)
        self.assertEqual([index for batch in rest for index in batch], order[64 * 3:])

    def test_a_new_iterator_starts_the_next_epoch(self):
        with stoker.Feed(MNIST, batch_size=500, seed=6, framework="numpy", fields=("index",)) as feed:
            epochs = [[batch.tolist() for batch, in feed] for _ in range(4)]
            feed.set_epoch(0)
            for batch, in feed:
                break
            self.assertEqual(batch.tolist(), epochs[0][0])
            self.assertEqual([batch.tolist() for batch, in feed], epochs[1], "also after a break")
            old = iter(feed)
            self.assertEqual(next(old)[0].tolist(), epochs[2][0])
            self.assertEqual(next(iter(feed))[0].tolist(), epochs[3][0])
            with self.assertRaisesRegex(RuntimeError, "no longer valid"):
                next(old)
            feed.set_epoch(2)
            self.assertEqual([batch.tolist() for batch, in feed], epochs[2])

    def test_states_of_other_data_are_refused(self):
        feed = stoker.Feed(MNIST, seed=1, framework="numpy")
        for name, value in (("seed", 2), ("samples", 5), ("position", -1), ("position", 2001)):
            with self.assertRaises(ValueError):
                feed.load_state_dict({**feed.state_dict(), name: value})


class Arrays(Folder):
    def test_all_batches_may_be_held(self):
        with stoker.Feed(MNIST, batch_size=50, augment=POLICY, framework="numpy", workers=2) as feed:
            held = list(feed)
            feed.set_epoch(0)
            for (images, labels), (kept_images, kept_labels) in zip(feed, held):
                numpy.testing.assert_array_equal(images, kept_images)
                numpy.testing.assert_array_equal(labels, kept_labels)

    def test_there_is_a_limit_to_what_is_held(self):
        with stoker.Feed(MNIST, batch_size=50, framework="numpy", held_bytes=1 << 20) as feed:
            with self.assertRaisesRegex(stoker.Error, "held_bytes"):
                list(feed)

    def test_layouts_and_types(self):
        def first(**options):
            with stoker.Feed(self.photographs, augment="resize(20,24)", batch_size=4, framework="numpy", **options) as feed:
                return next(iter(feed))[0]

        planes, last = first(), first(layout="channels_last")
        self.assertEqual((planes.shape, last.shape), ((4, 3, 20, 24), (4, 20, 24, 3)))
        self.assertTrue(planes.flags.c_contiguous and last.flags.c_contiguous and planes.flags.writeable)
        numpy.testing.assert_array_equal(planes.transpose(0, 2, 3, 1), last)
        small, strided = first(dtype="uint8", layout="channels_last"), first(dtype="uint8")
        self.assertEqual((small.shape, small.dtype, strided.shape), ((4, 20, 24, 3), numpy.uint8, (4, 3, 20, 24)))
        numpy.testing.assert_array_equal(strided.transpose(0, 2, 3, 1), small)
        numpy.testing.assert_allclose(first(mean=0, std=1), strided / 255, atol=1e-6)
        self.assertEqual(first(views=2).shape, (4, 2, 3, 20, 24))

    def test_fields(self):
        with stoker.Feed(self.photographs, augment="resize(8,8)", batch_size=4, fields=("name", "index", "label"), framework="numpy") as feed:
            names, indices, labels = next(iter(feed))
            self.assertEqual(feed.classes, ("cat", "dog"))
        for name, label in zip(names, labels):
            self.assertEqual(pathlib.Path(name).parent.name, ("cat", "dog")[label])
        self.assertEqual(indices.dtype, numpy.int64)
        with self.assertRaisesRegex(stoker.Error, "no field \"size\""):
            stoker.Feed(MNIST, fields=("size",))

    def test_objects_with_dlpack_share_memory(self):
        with stoker.Feed(MNIST, batch_size=8, framework="dlpack") as feed:
            images, _ = next(iter(feed))
        first, second = numpy.from_dlpack(images), numpy.from_dlpack(images)
        self.assertEqual(first.shape, (8, 1, 28, 28))
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        self.assertEqual(first.ctypes.data % 64, 0)

    def test_operations_get_a_key_of_the_place(self):
        def run(workers):
            keys = []

            def operation(batch, key):
                keys.append(key)
                return (batch[0] * 0 + key % 7, batch[1])

            with stoker.Feed(MNIST, batch_size=500, seed=3, workers=workers, operations=[operation], framework="numpy") as feed:
                means = [float(images.mean()) for _ in range(2) for images, _ in feed]
            self.assertEqual(means, [key % 7 for key in keys])
            return keys

        self.assertEqual(run(1), run(3))
        self.assertEqual(len(set(run(1))), 8)

    def test_batches_dropped_in_any_order_leave_nothing(self):
        count = 1_000_000 if os.environ.get("STOKER_LONG") == "1" else 10_000
        generator = random.Random(7)

        def memory():
            gc.collect()
            return int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096

        with stoker.Feed(MNIST + ":train[:256]", batch_size=4, dtype="uint8", framework="numpy", workers=2, fields=("image", "label", "index")) as feed:
            held, taken, at_first = [], 0, None
            while taken < count:
                for images, _, indices in feed:
                    held.append((images, indices, int(images.sum())))
                    taken += 1
                    while held and generator.random() < len(held) / 60:
                        place = generator.randrange(len(held))
                        held[place], held[-1] = held[-1], held[place]
                        kept, _, total = held.pop()
                        self.assertEqual(int(kept.sum()), total, "a batch changed while it was held")
                    if taken == count // 5:
                        at_first = memory()
            if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps freed memory
                self.assertLess(memory() - at_first, 8 << 20)

    def test_import_is_fast_and_needs_no_array_library(self):
        code = """
            import sys, time
            start = time.perf_counter()
            import stoker
            stoker.Feed
            print(time.perf_counter() - start, [name for name in ("torch", "numpy", "jax", "pyarrow") if name in sys.modules])
        """
        fastest = min(run_python(code).stdout.split(maxsplit=1) for _ in range(3))
        self.assertLess(float(fastest[0]), 0.1)
        self.assertEqual(fastest[1].strip(), "[]")


@unittest.skipUnless(importable("torch"), "torch cannot be imported here")
class Torch(Folder):
    def test_tensors_share_memory_and_have_the_memory_format(self):
        import torch
        for dtype in ("float32", "uint8"):
            with stoker.Feed(self.photographs, augment="resize(8,8)", batch_size=4, dtype=dtype, layout="channels_last") as feed:
                images, labels = next(iter(feed))
            self.assertEqual((tuple(images.shape), labels.dtype), ((4, 3, 8, 8), torch.int64))
            self.assertTrue(images.is_contiguous(memory_format=torch.channels_last))
        with stoker.Feed(MNIST, batch_size=4) as feed, stoker.Feed(MNIST, batch_size=4, framework="numpy") as other:
            for (images, _), (arrays, _) in zip(feed, other):
                numpy.testing.assert_array_equal(images.numpy(), arrays)
            held = list(feed)
            self.assertEqual(len(held), 500)

    def test_tensors_are_dropped_by_threads_of_autograd(self):
        import torch
        with stoker.Feed(MNIST, batch_size=32) as feed:
            weight = torch.ones(1, 1, 28, 28, requires_grad=True)
            for images, _ in feed:
                (images * weight).sum().backward()

    def test_processes_of_torch_have_feeds_of_their_own(self):
        code = f"""
            import stoker, torch, torch.multiprocessing as mp
            def work(rank, queue):
                with stoker.Feed({MNIST!r}, batch_size=100, rank=rank, ranks=2) as feed:
                    queue.put((rank, sum(int(labels.sum()) for _, labels in feed)))
            if __name__ == "__main__":
                for method in ("fork", "spawn"):
                    context = mp.get_context(method)
                    queue = context.Queue()
                    with stoker.Feed({MNIST!r}, batch_size=100) as feed:
                        total = sum(int(labels.sum()) for _, labels in feed)
                        children = [context.Process(target=work, args=(rank, queue)) for rank in range(2)]
                        [child.start() for child in children]
                        assert sum(queue.get()[1] for _ in children) == total
                        [child.join() for child in children]
                        assert all(child.exitcode == 0 for child in children)
                print("done")
        """
        path = self.folder / "processes.py"
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stdout, "done\n", done.stderr)


class Documents(unittest.TestCase):
    def test_examples_in_docstrings(self):
        for module in (stoker, stoker.feed):
            out = io.StringIO()
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            found = [test for test in doctest.DocTestFinder().find(module, globs={}) if test.examples]
            self.assertTrue(found, module)
            for test in found:
                runner.run(test, out=out.write)
            self.assertEqual(runner.failures, 0, out.getvalue())


if __name__ == "__main__":
    unittest.main()
