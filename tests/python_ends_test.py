#!/usr/bin/env python3
"""The feed in Python: all ways to end, broken files, and data of programs.

Run as python_feed_test.py. Tests of pyarrow and of Hugging Face's datasets say so and are skipped where these are missing.
"""

import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy
from PIL import Image

import stoker
from python_feeds import MNIST, PHOTOGRAPHS, Folder, digest_of, run_python, write_photographs


class Ends(Folder):
    """However a program ends, it ends, and soon."""

    FEED = f"import stoker, os, sys, threading, time\nfeed = stoker.Feed({MNIST!r}, batch_size=10, workers=4, framework='numpy'%s)\n"

    def ends_well(self, code, options="", timeout=30):
        done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", self.FEED % options + textwrap.dedent(code)], capture_output=True, text=True, timeout=timeout,
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

    def test_an_error_ends_workers_that_wait_for_python(self):
        self.assertEqual(self.ends_well("""
            class Data:
                def __len__(self): return 400
                def __getitem__(self, index):
                    if index == 0: raise ValueError("broken")
                    time.sleep(0.02)
                    return bytes(50), 0
            other = stoker.Feed(Data(), augment="resize(4,4)", channels=3, batch_size=1, shuffle=False, workers=8, framework="numpy",
                                prefetch_batches=400)
            batches = iter(other)
            time.sleep(0.2)
            try: next(batches)
            except stoker.SampleError as error: print("ValueError: broken" in str(error))
        """), "True\n")

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


if __name__ == "__main__":
    unittest.main()
