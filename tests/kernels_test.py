#!/usr/bin/env python3
"""Our kernels beside scipy and numpy: whole numbers equal, f64 to 1e-12.

Run by ctest with the path of the test program as KERNELS_CAT. Needs `pip install numpy==2.4.6
scipy==1.17.1 pillow`; without them it says so and ends with 77, ctest's "skipped" here.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    from PIL import Image
    from scipy.signal import convolve2d
except ImportError as error:
    print(f"skipped: {error}; pip install numpy==2.4.6 scipy==1.17.1")
    sys.exit(77)

CAT = os.environ["KERNELS_CAT"]
SEED = 20260401
# (image, kernel and result)
TYPES = {"f32": (np.float32, np.float32), "f64": (np.float64, np.float64), "i32": (np.int32, np.int32),
         "u8i32": (np.uint8, np.int32), "u8f32": (np.uint8, np.float32), "u8": (np.uint8, np.uint8),
         "i64": (np.int64, np.int64)}
IMAGES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "images"
# R17: the documents' four, by number.
FILTERS = {1: np.outer([1, 2, 1], [1, 0, -1]), 2: np.outer([3, 10, 3], [1, 0, -1]), 3: np.outer([1, 2, 1, 2, 1], [1, 0, -1]),
           4: np.outer([1, 2, 1, 2, 1], [1, 0, 0, 0, -1])}
BLUR = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])


def convolved(image, kernel):
    """What scipy says, in the kernel's type. It swaps its arguments where the kernel is larger, so small images get a
    margin of zeros, which changes nothing; and it refuses empty ones."""
    if image.size == 0:
        return np.zeros(image.shape, kernel.dtype)
    if image.shape[0] >= kernel.shape[0] and image.shape[1] >= kernel.shape[1]:
        return convolve2d(image.astype(kernel.dtype), kernel[::-1, ::-1], mode="same")
    rows, columns = (side // 2 for side in kernel.shape)
    wide = np.pad(image.astype(kernel.dtype), ((rows, rows), (columns, columns)))
    return convolve2d(wide, kernel[::-1, ::-1], mode="valid")


class Job:
    """One call: what is computed, the operands, and what numpy or scipy makes of them."""

    def __init__(self, name, types, first, second, expected, unit=0.0):
        self.name, self.types, self.first, self.second = name, types, first, second
        self.expected, self.unit = expected, unit  # the tolerance, 0 for equality

    def bytes_for(self, simd):
        kernel = (0, 0) if self.second is None else self.second.shape
        line = " ".join(map(str, [self.name, self.types, *self.first.shape, *kernel, simd]))
        second = b"" if self.second is None else self.second.tobytes()
        return line.encode() + b"\n" + self.first.tobytes() + second

    def __str__(self):
        return f"{self.name} {self.types} {self.first.shape} {None if self.second is None else self.second.shape}"


def correlation_job(types, image, kernel, whole):
    expected = convolved(image, kernel)
    bound = np.abs(image.astype(np.float64)).max(initial=0) * np.abs(kernel.astype(np.float64)).sum()
    relative = {"f64": 1e-12, "f32": 1e-5, "u8f32": 1e-5}.get(types, 0)
    return Job("correlation", types, image, kernel, expected, 0 if whole else relative * bound)


def random_values(random, shape, kind, whole, most):
    if np.issubdtype(kind, np.floating) and not whole:
        return random.uniform(-1, 1, shape).astype(kind)
    low = 0 if kind == np.uint8 else -most
    return random.integers(low, 255 if kind == np.uint8 else most, shape, endpoint=True).astype(kind)


def random_job(random, types, whole, separable=False):
    image_type, kernel_type = TYPES[types]
    rows, columns = (int(np.exp(random.uniform(0, np.log(most))) + 0.5) for most in (80, 200))
    kernel_rows = 1 + 2 * int(random.integers(0, 16))
    kernel_columns = kernel_rows if random.random() < 0.5 else 1 + 2 * int(random.integers(0, 16))
    image = random_values(random, (rows, columns), image_type, whole, 60)
    if separable:
        kernel = random_values(random, (kernel_rows, 1), kernel_type, whole, 5) * random_values(
            random, (1, kernel_columns), kernel_type, whole, 5)
    else:
        kernel = random_values(random, (kernel_rows, kernel_columns), kernel_type, whole, 60)
    return correlation_job(types, image, kernel, whole)


class BesideScipy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([CAT, "simd"], capture_output=True, text=True, timeout=60, check=True)
        cls.versions = done.stdout.split()

    def compare(self, jobs):
        for simd in self.versions:
            data = b"".join(job.bytes_for(simd) for job in jobs)
            done = subprocess.run([CAT], input=data, capture_output=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(done.stdout), sum(job.expected.nbytes for job in jobs))
            start = 0
            for job in jobs:
                ours = np.frombuffer(done.stdout, job.expected.dtype, job.expected.size, start)
                start += job.expected.nbytes
                off = np.abs(ours.reshape(job.expected.shape).astype(np.float64) - job.expected.astype(np.float64))
                worst = off.max(initial=0)
                self.assertTrue(worst <= job.unit, f"{simd}: {job}: off by {worst}, allowed {job.unit}")

    def test_random_shapes_of_real_numbers(self):
        random = np.random.default_rng(SEED)
        for types in ("f64", "f32", "u8f32"):
            self.compare([random_job(random, types, False, i % 4 == 0) for i in range(150)])

    def test_random_shapes_of_whole_numbers_are_equal(self):
        random = np.random.default_rng(SEED + 1)
        for types in ("i32", "u8i32", "f32", "f64", "u8f32"):
            self.compare([random_job(random, types, True, i % 4 == 0) for i in range(100)])

    def test_every_odd_kernel_from_1_to_31(self):
        random = np.random.default_rng(SEED + 2)
        jobs = []
        for rows in range(1, 32, 2):
            for columns in range(1, 32, 2):
                image, kernel = random.uniform(-1, 1, (23, 41)), random.uniform(-1, 1, (rows, columns))
                jobs.append(correlation_job("f64", image, kernel, False))
        self.compare(jobs)

    def test_images_of_one_row_one_column_nothing_and_smaller_than_the_kernel(self):
        random = np.random.default_rng(SEED + 3)
        jobs = []
        for types in ("f64", "i32", "u8i32"):
            image_type, kernel_type = TYPES[types]
            for shape in ((1, 1), (1, 500), (500, 1), (2, 3), (30, 30), (0, 0), (0, 7), (7, 0)):
                for kernel in ((1, 1), (3, 3), (1, 31), (31, 1), (31, 31), (5, 3)):
                    jobs.append(correlation_job(types, random_values(random, shape, image_type, types != "f64", 99),
                                                random_values(random, kernel, kernel_type, types != "f64", 99),
                                                types != "f64"))
        self.compare(jobs)

    def test_sums_beyond_32_bits_wrap_around_as_numpys(self):
        random = np.random.default_rng(SEED + 4)
        image = random.integers(-2**31, 2**31, (40, 50)).astype(np.int32)
        kernel = random.integers(-2**31, 2**31, (5, 7)).astype(np.int32)
        # Modulo 2^64, of which the lower half counts.
        wide = convolve2d(image.astype(np.int64), kernel[::-1, ::-1].astype(np.int64), "same")
        self.compare([Job("correlation", "i32", image, kernel, wide.astype(np.int32))])

    def test_sobel(self):
        random = np.random.default_rng(SEED + 5)
        jobs = []
        for types in ("f32", "f64", "u8f32"):
            image_type, kernel_type = TYPES[types]
            for shape in ((1, 1), (40, 300), (301, 17)):
                for filters in (*FILTERS.values(), np.outer([1, 4, 6, 4, 1], [1, 0, -1])):
                    image = random_values(random, shape, image_type, True, 99)
                    kernel = filters.astype(kernel_type)
                    gx, gy = convolved(image, kernel), convolved(image, np.ascontiguousarray(kernel.T))
                    jobs.append(Job("sobel", types, image, kernel, np.sqrt(gx * gx + gy * gy)))
        self.compare(jobs)

    def test_maximum(self):
        random = np.random.default_rng(SEED + 6)
        jobs = []
        for types in ("u8", "i32", "i64"):
            kind = np.iinfo(TYPES[types][0])
            for shape in ((0, 0), (1, 1), (1000, 1000), (3, 77)):
                a, b = (random.integers(kind.min, kind.max, shape, kind.dtype, endpoint=True) for _ in range(2))
                jobs.append(Job("maximum", types, a, b, np.maximum(a, b)))
        for job in jobs:  # one at a time: differences of 64-bit numbers would not fit the comparison's floats
            for simd in self.versions:
                done = subprocess.run([CAT], input=job.bytes_for(simd), capture_output=True, timeout=60, check=True)
                self.assertEqual(done.stdout, job.expected.tobytes(), f"{simd}: {job}")

    def test_gram(self):
        random = np.random.default_rng(SEED + 7)
        jobs = []
        for types, relative in (("f32", 1e-5), ("f64", 1e-12)):
            for shape in ((0, 3), (3, 0), (1, 1), (1, 900), (150, 2), (97, 301)):
                x = random.uniform(-1, 1, shape).astype(TYPES[types][0])
                jobs.append(Job("gram", types, x, None, x @ x.T, relative * shape[1]))
        self.compare(jobs)


class Photograph(unittest.TestCase):
    """R17: the five images of a photograph, beside scipy's of the same one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "out.png")

    def filtered(self, *arguments, photo=IMAGES / "cat.png"):
        done = subprocess.run([os.environ["STOKER"], "filter", str(photo), *arguments, "--device", "cpu", "--out", str(self.out), "--force"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with Image.open(self.out) as image:
            return np.array(image)

    @staticmethod
    def brightness(values, weights, edges):
        """The image of a filter's values, with the same roundings as filter_image.h: f32, one after the other."""
        scale = np.float32(4 if edges else 1) / np.float32(weights[weights > 0].sum())
        return np.minimum(np.float32(255), np.abs(values) * scale + np.float32(0.5)).astype(np.uint8)

    def expect_scipys(self, photo):
        grey = self.filtered("--kernel", "1", photo=photo)  # what the program takes for the photograph's grey
        for number, weights in FILTERS.items():
            weights = weights.astype(np.float32)
            gx, gy = convolved(grey, weights), convolved(grey, np.ascontiguousarray(weights.T))
            # Sums of bytes times whole numbers are exact in f32; squares and root are rounded as ours are.
            expected = self.brightness(np.sqrt(gx * gx + gy * gy), weights, True)
            np.testing.assert_array_equal(self.filtered("--sobel", str(number), photo=photo), expected, str(number))
        weights = BLUR.astype(np.float32)
        np.testing.assert_array_equal(self.filtered("--sobel", "blur", photo=photo), self.brightness(convolved(grey, weights), weights, False))

    def test_all_five_equal_scipys(self):
        with Image.open(IMAGES / "cat.png") as photo:
            np.testing.assert_array_equal(self.filtered("--kernel", "1"), np.array(photo))
        self.expect_scipys(IMAGES / "cat.png")

    def test_all_five_equal_scipys_of_a_colour_photograph(self):
        photo = pathlib.Path(os.environ.get("STOKER_TEST_DATA", "."), "photos", "n02002724_black_stork.JPEG")
        if not photo.is_file():
            self.skipTest(f"needs {photo}: set STOKER_TEST_DATA")
        self.expect_scipys(photo)

    def test_the_sheet_in_the_documents_is_what_the_program_draws(self):
        self.filtered("--all")
        self.assertEqual(self.out.read_bytes(), (IMAGES / "filters.png").read_bytes(),
                         "make it anew: stoker filter docs/images/cat.png --all --out docs/images/filters.png")


if __name__ == "__main__":
    unittest.main(verbosity=2)
