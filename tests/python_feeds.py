"""What the tests of the feed in Python share: small data, and digests as the program computes them."""

import atexit
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy
from PIL import Image

from stoker import _feed

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
    # The program is not built for the sanitizer that Python may have.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([PROGRAM, "bench", "feed", str(data), *words, "--json"], capture_output=True, text=True, check=True, env=env)
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
