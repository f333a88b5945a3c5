#!/usr/bin/env python3
"""Our resize and Pillow's give the same bytes.

Run by ctest with the path of the test program as RESIZE_CAT. Needs `pip install pillow==13.0.0
numpy`; without them it says so and ends with 77, ctest's "skipped" here.
"""

import os
import subprocess
import sys
import unittest

try:
    import numpy as np
    from PIL import Image
except ImportError as error:
    print(f"skipped: {error}; pip install pillow==13.0.0 numpy")
    sys.exit(77)

CAT = os.environ["RESIZE_CAT"]
FILTERS = [Image.Resampling.NEAREST, Image.Resampling.BOX, Image.Resampling.BILINEAR, Image.Resampling.BICUBIC,
           Image.Resampling.LANCZOS]  # in the order of ResizeFilter
SEED = 20260401


class Job:
    """One call: pixels, the size of the result (width, height), box, filter, and whether x comes first, as it did
    in Pillow up to 12."""

    def __init__(self, pixels, size, box=None, resample=2, mirror=False, x_first=False):
        self.pixels, self.size, self.resample, self.mirror, self.x_first = pixels, size, resample, mirror, x_first
        height, width = pixels.shape[:2]
        self.box = tuple(map(float, box or (0, 0, width, height)))

    @property
    def channels(self):
        return 1 if self.pixels.ndim == 2 else 3

    def bytes_for(self, simd):
        height, width = self.pixels.shape[:2]
        words = [height, width, self.channels, self.size[1], self.size[0], *map(repr, self.box), self.resample,
                 int(self.x_first), int(self.mirror), simd]
        return " ".join(map(str, words)).encode() + b"\n" + self.pixels.tobytes()

    def expected(self):
        resized, resample = Image.fromarray(self.pixels), FILTERS[self.resample]
        left, top, right, bottom = self.box
        if self.x_first:  # a call for each axis
            resized = resized.resize((self.size[0], resized.height), resample, (left, 0, right, resized.height))
            left, right = 0, self.size[0]
        resized = resized.resize(self.size, resample, (left, top, right, bottom))
        if self.mirror:
            resized = resized.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return np.asarray(resized)

    def __str__(self):
        return (f"{self.pixels.shape} to {self.size}, box {self.box}, {FILTERS[self.resample].name}, "
                f"mirror {self.mirror}, x first {self.x_first}")


def random_side(random, most):
    """Small sides as often as large ones."""
    return int(np.exp(random.uniform(0, np.log(most))) + 0.5)


def random_pixels(random, height, width, channels):
    shape = (height, width) if channels == 1 else (height, width, channels)
    if random.random() < 0.3:  # black and white: the filters' overshoot is cut off
        return (random.integers(0, 2, shape) * 255).astype(np.uint8)
    return random.integers(0, 256, shape, np.uint8)


def random_box(random, width, height):
    """Whole, whole numbers, fractions, or almost nothing."""
    kind = random.integers(0, 5)
    if kind == 0:
        return None
    x, y = np.sort(random.uniform(0, width, 2)), np.sort(random.uniform(0, height, 2))
    if kind == 1:
        return (int(x[0]), int(y[0]), int(x[1]) + 1, int(y[1]) + 1)
    if kind == 2:
        return (x[0], y[0], min(x[0] + 1e-3, width), min(y[0] + 0.3, height))
    return (x[0], y[0], x[1], y[1])


def random_job(random, most=300):
    width, height = random_side(random, most), random_side(random, most)
    pixels = random_pixels(random, height, width, random.choice([1, 3]))
    size = (random_side(random, most), random_side(random, most))
    if random.random() < 0.2:
        size = (width, size[1]) if random.random() < 0.5 else (size[0], height)
    return Job(pixels, size, random_box(random, width, height), int(random.integers(0, len(FILTERS))),
               *map(bool, random.integers(0, 2, 2)))


class BesidePillow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([CAT, "simd"], capture_output=True, text=True, timeout=60, check=True)
        cls.versions = done.stdout.split()

    def compare(self, jobs):
        expected = [job.expected() for job in jobs]
        for simd in self.versions:
            data = b"".join(job.bytes_for(simd) for job in jobs)
            done = subprocess.run([CAT], input=data, capture_output=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = np.frombuffer(done.stdout, np.uint8)
            self.assertEqual(found.size, sum(result.size for result in expected))
            start = 0
            for job, result in zip(jobs, expected, strict=True):
                ours = found[start:start + result.size].reshape(result.shape)
                start += result.size
                wrong = np.argwhere(ours != result)
                self.assertEqual(len(wrong), 0, f"{simd}: {job}: first at {wrong[:3]}")

    def test_random_sizes_and_boxes(self):
        random = np.random.default_rng(SEED)
        self.compare([random_job(random) for _ in range(1000)])

    def test_crops_of_photographs_size(self):
        random = np.random.default_rng(SEED + 1)
        pixels = random_pixels(random, 375, 500, 3)
        jobs = []
        for i in range(40):
            width, height = random.integers(60, 501), random.integers(60, 376)
            left, top = random.integers(0, 501 - width), random.integers(0, 376 - height)
            jobs.append(Job(pixels, (224, 224), (left, top, left + width, top + height), 1 + i % 4, i % 3 == 0))
        self.compare(jobs)

    def test_one_pixel_and_extreme_shapes(self):
        random = np.random.default_rng(SEED + 2)
        jobs = []
        for channels in (1, 3):
            for resample in range(len(FILTERS)):
                for (height, width), size in (((1, 1), (1, 1)), ((1, 1), (70, 3)), ((2, 1), (1, 9)), ((5, 7), (1, 1)),
                                              ((1, 4000), (3, 5)), ((4000, 1), (5, 3)), ((1, 65500), (1, 1)),
                                              ((65500, 1), (1, 1)), ((3, 2), (2000, 1)), ((2, 3), (1, 2000))):
                    jobs.append(Job(random_pixels(random, height, width, channels), size, None, resample))
        self.compare(jobs)

    def test_every_scale_from_a_tenth_to_ten(self):
        random = np.random.default_rng(SEED + 3)
        jobs = []
        for size in (10, 11, 15, 25, 33, 47, 50, 51, 66, 75, 99, 100, 101, 133, 150, 199, 200, 201, 333, 500, 1000):
            for resample in range(1, len(FILTERS)):
                for channels in (1, 3):
                    jobs.append(Job(random_pixels(random, 20, 100, channels), (size, 13), None, resample))
                    jobs.append(Job(random_pixels(random, 100, 20, channels), (21, size), None, resample))
        self.compare(jobs)

    def test_empty_boxes(self):
        random = np.random.default_rng(SEED + 4)
        pixels = random_pixels(random, 9, 8, 3)
        self.compare([Job(pixels, (5, 4), box, resample) for resample in range(1, len(FILTERS))
                      for box in ((3, 0, 3, 9), (0, 4.5, 8, 4.5), (8, 0, 8, 9), (0, 9, 8, 9), (8, 9, 8, 9))])

    def test_both_refuse_boxes_beyond_the_image(self):
        pixels = np.zeros((9, 8, 3), np.uint8)
        for box in ((-0.1, 0, 8, 9), (0, 0, 8.1, 9), (0, 0, 8, 9.1), (5, 0, 4, 9), (0, -1, 8, 9)):
            job = Job(pixels, (5, 4), box)
            with self.assertRaises(ValueError):
                job.expected()
            done = subprocess.run([CAT], input=job.bytes_for("auto"), capture_output=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"Expected edges in order", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
