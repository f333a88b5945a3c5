#!/usr/bin/env python3
"""The feed in Python: the batches of the program for any number of workers, states, arrays, own data, and all ways to end.

Run with the program as STOKER and build/<preset>/python in PYTHONPATH. Where torch or datasets cannot be imported, the tests of
them say so and are skipped; .venv-networks has torch. STOKER_LONG=1 takes and drops a million batches instead of ten thousand.
"""

import atexit
import doctest
import gc
import gzip
import importlib.util
import io
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import numpy
from PIL import Image

import stoker
from stoker import _feed
import stoker.feed

PROGRAM = os.environ["STOKER"]
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")  # of Debian's package dataset-fashion-mnist
POLICY = "rotate(-10,10),noise(0.05)"
PHOTOGRAPHS = "random_resized_crop(32),hflip(0.5)"


def small_mnist(folder, count):
    """The first images, not packed, so that a feed opens at once."""
    folder.mkdir()
    for name, header, size in (("train-images-idx3-ubyte", 16, 784), ("train-labels-idx1-ubyte", 8, 1)):
        with gzip.open(FASHION / f"{name}.gz") as file:
            data = file.read(header + count * size)
        (folder / name).write_bytes(data[:4] + struct.pack(">I", count) + data[8:])
    return str(folder)


FOLDER = pathlib.Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, FOLDER)
MNIST = small_mnist(FOLDER / "mnist", 2000)


def importable(name):
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def program_digest(data, *words):
    done = subprocess.run([PROGRAM, "bench", "feed", str(data), *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["digest"]


class Digest:
    """As the program computes it: each sample's pixels, then its label."""

    def __init__(self):
        self.native = _feed.Digest()

    def add(self, images, labels):
        for image, label in zip(numpy.asarray(images), numpy.asarray(labels)):
            self.native.add(image.tobytes())
            self.native.add(label.tobytes())

    def hex(self):
        return self.native.hex()


def digest_of(batches):
    digest = Digest()
    for images, labels in batches:
        digest.add(images, labels)
    return digest.hex()


def write_photographs(folder, count=24, broken=(), ending="jpg"):
    """Image files of two classes and several sizes."""
    generator = numpy.random.default_rng(1)
    for i in range(count):
        path = folder / ("cat" if i % 2 else "dog") / f"{i:03}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        small = Image.fromarray(generator.integers(0, 256, (6, 8, 3), numpy.uint8))
        small.resize((60 + i % 3 * 10, 50 + i % 5 * 7)).save(path, quality=90)
        if i in broken:
            path.write_bytes(path.read_bytes()[:200])
    return folder


def run_python(code, timeout=60, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout, check=False,
                          **options)


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.photographs = write_photographs(cls.folder / "photographs")


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


class Ends(Folder):
    """However a program ends, it ends, and soon."""

    FEED = f"import stoker, os, sys, threading, time\nfeed = stoker.Feed({MNIST!r}, batch_size=10, workers=4, framework='numpy'%s)\n"

    def ends_well(self, code, options="", timeout=30):
        done = subprocess.run([sys.executable, "-c", self.FEED % options + textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def test_in_the_middle_of_an_epoch(self):
        for options in ("", ", isolate=True"):
            self.ends_well("batches = iter(feed); kept = [next(batches) for _ in range(20)]", options)
            self.ends_well("batches = iter(feed); next(batches); sys.exit()", options)
            self.ends_well("batches = iter(feed); next(batches); os._exit(0)", options)
        self.ends_well("""
            class Slow:
                def __len__(self): return 1000
                def __getitem__(self, index): time.sleep(0.01); return bytes(index), 0
            other = stoker.Feed(Slow(), augment="resize(4,4)", framework="numpy", workers=4, on_error="omit", max_errors=10**6)
            batches = iter(other)
            kept = next(batches)
        """)

    def test_with_an_exception_in_the_loop(self):
        done = run_python(self.FEED % "" + "for images, labels in feed:\n    raise KeyError('mine')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("KeyError: 'mine'", done.stderr)
        self.assertEqual(self.ends_well("""
            try:
                for batch in feed: raise KeyError
            except KeyError:
                print(len(list(feed)), feed.epoch)
        """), "200 2\n")

    def test_by_ctrl_c_while_a_batch_is_made(self):
        code = self.FEED % "" + textwrap.dedent("""
            class Stuck:
                def __len__(self): return 100
                def __getitem__(self, index):
                    while not ended: time.sleep(0.01)
                    return b"", 0
            ended = False
            other = stoker.Feed(Stuck(), augment="resize(4,4)", channels=3, framework="numpy", workers=2)
            print("ready", flush=True)
            try:
                next(iter(other))
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            ended = True
        """)
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            time.sleep(0.3)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.stdout.readline(), "interrupted\n")
            self.assertLess(time.monotonic() - start, 1)
            out, errors = process.communicate(timeout=20)
            self.assertEqual((process.returncode, out, errors), (0, "", ""))

    def test_a_forked_child_is_told_and_ends(self):
        for options in ("", ", isolate=True"):
            self.assertEqual(self.ends_well("""
                import gc
                batches = iter(feed)
                kept = [next(batches) for _ in range(30)]
                child = os.fork()
                if child == 0:
                    said = []
                    for use in (lambda: next(batches), lambda: iter(feed), lambda: feed.stats(), lambda: feed.faults):
                        try: use()
                        except stoker.Error as error: said.append("forked" in str(error))
                    kept.clear(); feed.close(); del batches, feed; gc.collect()
                    sys.exit(0 if said == [True] * 4 else 5)
                assert os.waitpid(child, 0)[1] == 0
                print(len(list(batches)))
            """, options), "170\n")

    def test_a_child_that_lives_longer_does_not_stop_the_end(self):
        self.ends_well("""
            batches = iter(feed); next(batches)
            child = os.fork()
            if child == 0:
                time.sleep(3); os._exit(0)
            start = time.monotonic()
            feed.close()
            assert time.monotonic() - start < 2
        """, ", isolate=True")

    def test_threads_share_a_feed(self):
        self.assertEqual(self.ends_well("""
            batches, lock, taken = iter(feed), threading.Lock(), []
            def work():
                while True:
                    with lock: batch = next(batches, None)
                    if batch is None: return
                    taken.append(int(batch[1].sum()))
            threads = [threading.Thread(target=work) for _ in range(4)]
            [thread.start() for thread in threads]; [thread.join() for thread in threads]
            print(len(taken), sum(taken) == sum(int(labels.sum()) for _, labels in feed))
        """), "200 True\n")

    def test_closing_from_another_thread(self):
        self.ends_well("""
            def work():
                try:
                    while True: list(feed)
                except (stoker.Error, RuntimeError): pass
            thread = threading.Thread(target=work)
            thread.start(); time.sleep(0.2); feed.close(); feed.close(); thread.join(10)
            assert not thread.is_alive()
        """)

    def test_feeds_are_not_pickled(self):
        import pickle
        with stoker.Feed(MNIST) as feed, self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(feed)


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        write_photographs(cls.folder, 24, broken=(5, 11))

    def feed(self, **options):
        return stoker.Feed(self.folder, augment="resize(8,8)", batch_size=4, framework="numpy", workers=2, **options)

    def test_a_broken_file_is_named(self):
        with self.feed() as feed, self.assertRaises(stoker.SampleError) as caught:
            list(feed)
        self.assertRegex(caught.exception.name, "(005|011).jpg")
        self.assertEqual(caught.exception.epoch, 0)
        self.assertIsInstance(caught.exception, RuntimeError)

    def test_it_is_replaced_or_omitted(self):
        for isolate in (False, True):
            with self.feed(on_error="replace", isolate=isolate) as feed:
                self.assertEqual(sum(len(labels) for _, labels in feed), 24)
                self.assertEqual(sorted(pathlib.Path(fault.name).name for fault in feed.faults), ["005.jpg", "011.jpg"])
            with self.feed(on_error="omit", isolate=isolate) as feed:
                labels = numpy.concatenate([labels for _, labels in feed])
                self.assertEqual((labels == -1).sum(), 2)
        with self.feed(on_error="replace", max_errors=1) as feed, self.assertRaises(stoker.Error):
            list(feed)

    def test_wrong_options_are_explained(self):
        for options, text in (({"dtype": "float16"}, "dtype"), ({"augment": "rotat(5)"}, "rotat"), ({"batch_size": 0}, "batch"),
                              ({"mean": (1, 2)}, "mean"), ({"std": 0}, "std"), ({"rank": 3, "ranks": 2}, "rank")):
            with self.assertRaisesRegex((stoker.Error, ValueError), text):
                stoker.Feed(MNIST, **options)
        with self.assertRaises(stoker.Error):
            stoker.Feed("no-such-folder")
        with self.assertRaises(TypeError):
            stoker.Feed(5)


class OwnData(Folder):
    def test_objects_with_getitem_give_the_batches_of_the_folder(self):
        # PNG: Pillow has a JPEG decoder of its own.
        folder = write_photographs(self.folder / "png", ending="png")
        files = sorted(folder.rglob("*.png"))
        names = sorted({path.parent.name for path in files})

        def label(index):
            return names.index(files[index].parent.name)

        class Encoded:
            classes = names

            def __len__(self):
                return len(files)

            def __getitem__(self, index):
                return files[index].read_bytes(), label(index)

        class Dicts(Encoded):
            def __getitem__(self, index):
                return {"image": bytearray(files[index].read_bytes()), "label": numpy.int64(label(index))}

        class Opened(Encoded):
            def __getitem__(self, index):
                return Image.open(files[index]), label(index)

        class Decoded(Encoded):
            def __getitem__(self, index):
                return numpy.asarray(Image.open(files[index])), label(index)

        options = {"augment": PHOTOGRAPHS, "batch_size": 5, "seed": 2, "framework": "numpy", "exact_decode": True, "views": 2}
        with stoker.Feed(folder, **options) as feed:
            expected = digest_of(feed)
        for kind in (Encoded, Dicts, Opened, Decoded):
            for isolate in (False, True):
                for workers in (1, 4):
                    with stoker.Feed(kind(), workers=workers, isolate=isolate, **options) as feed:
                        self.assertEqual(feed.classes, tuple(names))
                        self.assertEqual(digest_of(feed), expected, (kind, isolate, workers))

    def test_arrays_of_one_size_need_no_policy(self):
        images = numpy.random.default_rng(1).integers(0, 256, (50, 9, 7), numpy.uint8)
        with stoker.Feed([(image, i) for i, image in enumerate(images)], batch_size=10, dtype="uint8", framework="numpy") as feed:
            for pixels, labels in feed:
                numpy.testing.assert_array_equal(pixels[:, 0], images[labels])

    def test_errors_of_the_dataset_are_those_of_the_sample(self):
        class Broken:
            def __len__(self):
                return 10

            def __getitem__(self, index):
                if index == 7:
                    raise KeyError("lost")
                return numpy.full((4, 4 + (index == 5)), index, numpy.uint8), index

        with stoker.Feed(Broken(), batch_size=2, shuffle=False, framework="numpy") as feed:
            with self.assertRaisesRegex(stoker.SampleError, r"Broken\[5\].*5 x 4 pixels"):
                list(feed)
        with stoker.Feed(Broken(), batch_size=2, shuffle=False, framework="numpy", on_error="omit") as feed:
            self.assertEqual([labels.tolist() for _, labels in feed], [[0, 1], [2, 3], [4, -1], [6, -1], [8, 9]])
            self.assertIn("KeyError: 'lost'", feed.faults[1].reason)

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is missing")
    def test_tables_are_read_without_a_copy(self):
        import pyarrow
        files = sorted(self.photographs.rglob("*.jpg"))
        table = pyarrow.table({"bytes": [path.read_bytes() for path in files], "label": [path.parent.name for path in files]})
        chunks = pyarrow.concat_tables([table.slice(0, 5), table.slice(5, 9), table.slice(14)])
        options = {"augment": PHOTOGRAPHS, "batch_size": 5, "framework": "numpy"}
        with stoker.Feed(self.photographs, **options) as feed:
            expected = digest_of(feed)
        for data in (table, chunks):
            for isolate in (False, True):
                with stoker.Feed(data, isolate=isolate, **options) as feed:
                    self.assertEqual((digest_of(feed), feed.classes), (expected, ("cat", "dog")))
        import pyarrow.parquet
        pyarrow.parquet.write_table(table, self.folder / "photographs.parquet", row_group_size=7)
        done = subprocess.run([sys.executable, "-m", "stoker", "convert", self.folder / "photographs.parquet", self.folder / "shards"],
                              capture_output=True, text=True, check=False)
        self.assertIn("24 samples", done.stdout, done.stderr)
        with stoker.Feed(self.folder / "shards", augment="resize(8,8)", framework="numpy", fields=("label",)) as feed:
            self.assertEqual(sorted(numpy.concatenate([labels for labels, in feed]).tolist()), [0] * 12 + [1] * 12)

    @unittest.skipUnless(importlib.util.find_spec("datasets"), "datasets is missing")
    def test_hugging_face_datasets_keep_what_was_selected(self):
        import datasets
        files = sorted(self.photographs.rglob("*.jpg"))
        features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["cat", "dog"])})
        items = [{"bytes": path.read_bytes() if i % 2 else None, "path": str(path)} for i, path in enumerate(files)]
        data = datasets.Dataset.from_dict({"image": items, "label": [path.parent.name for path in files]}, features=features)
        order = [5, 3, 20, 11, 8]
        with stoker.Feed(data.select(order), augment="resize(8,8)", shuffle=False, batch_size=5, framework="numpy") as feed:
            images, labels = next(iter(feed))
            self.assertEqual(feed.classes, ("cat", "dog"))
        with stoker.Feed(self.photographs, augment="resize(8,8)", shuffle=False, batch_size=24, framework="numpy") as feed:
            all_images, all_labels = next(iter(feed))
        numpy.testing.assert_array_equal(images, all_images[order])
        numpy.testing.assert_array_equal(labels, all_labels[order])


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
