#!/usr/bin/env python3
"""The functions for C, called through Python's ctypes, beside `stoker predict`. STOKER_LIB is the folder of the libraries."""

import array
import ctypes
import os
import pathlib
import struct
import tempfile
import threading
import unittest

import small_run

STOKER = os.environ["STOKER"]
LIBRARIES = pathlib.Path(os.environ["STOKER_LIB"])


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("engine", ctypes.c_char_p), ("precision", ctypes.c_char_p),
                ("threads", ctypes.c_int32), ("max_batch", ctypes.c_uint32), ("max_delay_us", ctypes.c_int64), ("max_callers", ctypes.c_size_t),
                ("max_side", ctypes.c_int32), ("isolate", ctypes.c_int32), ("max_pixels", ctypes.c_int64)]


class Pixels(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("height", ctypes.c_int32), ("width", ctypes.c_int32), ("channels", ctypes.c_int32),
                ("bytes_per_row", ctypes.c_size_t)]


class Prediction(ctypes.Structure):
    _fields_ = [("best", ctypes.c_size_t), ("probability", ctypes.c_double)]


class Classify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        small = small_run.SmallRun(STOKER, cls.folder)
        cls.weights, cls.images, cls.said = small.weights, small.images, small.said
        cls.library = ctypes.CDLL(str(LIBRARIES / "libstoker.so"))
        for name, result in (("stoker_classifier_create", ctypes.c_void_p), ("stoker_class_name", ctypes.c_char_p),
                             ("stoker_last_error", ctypes.c_char_p), ("stoker_class_count", ctypes.c_size_t)):
            getattr(cls.library, name).restype = result
        cls.handle = ctypes.c_void_p(cls.library.stoker_classifier_create(str(cls.weights).encode(), None))
        assert cls.handle, cls.library.stoker_last_error()

    @classmethod
    def tearDownClass(cls):
        cls.library.stoker_classifier_free(cls.handle)

    def classify(self, function, *arguments, timeout=-1):
        found, probabilities = Prediction(), (ctypes.c_float * 2)()
        status = getattr(self.library, function)(self.handle, *arguments, ctypes.c_int64(timeout), ctypes.byref(found), probabilities)
        return status, found, list(probabilities)

    def compare(self, path, answer):
        status, found, probabilities = answer
        self.assertEqual(status, 0, self.library.stoker_last_error())
        said = self.said[str(path)]
        label = self.library.stoker_class_name(self.handle, ctypes.c_size_t(found.best)).decode()
        self.assertEqual(label, "x" if said[0] > said[1] else "y")
        for wanted, probability in zip(said, probabilities, strict=True):
            self.assertAlmostEqual(wanted, probability, places=5)

    def test_files_and_bytes_are_as_the_program_says(self):
        self.assertEqual(len(self.said), 24)
        for path in self.images:
            self.compare(path, self.classify("stoker_classify_file", str(path).encode()))
            data = path.read_bytes()
            self.compare(path, self.classify("stoker_classify_encoded", data, ctypes.c_size_t(len(data))))

    def test_pixels(self):
        width, height = 30, 24
        rows = bytes(v for y in range(height) for x in range(width) for v in [5 * x] * 3)
        pixels = Pixels(rows, height, width, 3, 0)
        self.compare(self.folder / "data/x/0.png", self.classify("stoker_classify_pixels", ctypes.byref(pixels)))

    def test_many_threads(self):
        wrong = []

        def work(offset):
            for number in range(20):
                path = self.images[(offset + number) % len(self.images)]
                try:
                    self.compare(path, self.classify("stoker_classify_file", str(path).encode()))
                except AssertionError as error:
                    wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_errors_are_values(self):
        self.assertEqual(self.classify("stoker_classify_encoded", b"no image", ctypes.c_size_t(8))[0], 2)
        self.assertTrue(self.library.stoker_last_error())
        self.assertEqual(self.classify("stoker_classify_encoded", None, ctypes.c_size_t(8))[0], 1)
        self.assertEqual(self.classify("stoker_classify_file", str(self.images[0]).encode(), timeout=0)[0], 4)
        self.assertFalse(self.library.stoker_classifier_create(b"/nowhere/m.safetensors", None))
        self.assertIn(b"/nowhere", self.library.stoker_last_error())
        options = Options()
        self.library.stoker_classifier_defaults(ctypes.byref(options))
        self.assertEqual(options.struct_size, ctypes.sizeof(Options))
        self.assertEqual(options.max_batch, 32)
        options.engine = b"nonsense"
        self.assertFalse(self.library.stoker_classifier_create(str(self.weights).encode(), ctypes.byref(options)))

    def test_the_preprocessing_needs_no_libtorch(self):
        feed = ctypes.CDLL(str(LIBRARIES / "libstoker_feed.so"))
        feed.stoker_preprocessor_from_model.restype = ctypes.c_void_p
        feed.stoker_preprocessor_bytes.restype = ctypes.c_size_t
        handle = ctypes.c_void_p(feed.stoker_preprocessor_from_model(str(self.weights).encode(), 0))
        self.assertTrue(handle)
        size = feed.stoker_preprocessor_bytes(handle)
        self.assertEqual(size, 3 * 16 * 16 * 4)
        out = (ctypes.c_float * (size // 4))()
        self.assertEqual(feed.stoker_preprocess_file(handle, str(self.images[0]).encode(), out, ctypes.c_size_t(size)), 0)
        feed.stoker_preprocessor_free(handle)
        text = self.weights.read_bytes()
        header = text[8:8 + struct.unpack("<Q", text[:8])[0]].decode()
        self.assertIn("stoker.mean", header)
        self.assertGreater(max(array.array("f", out)), min(array.array("f", out)))


if __name__ == "__main__":
    unittest.main()
