"""The photographs, what is done to them, and what the sides of bench/feed_jpeg.py share.

Done to each: a random part of it (torchvision's rule and defaults) resized to 224x224, mirrored
half of the time, normalised to float32 [3, 224, 224] by ImageNet's mean and deviation.
"""

import math
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .side import BATCH, Side

SIDE = 224
AREA = (0.08, 1.0)  # of the photograph
RATIO = (3 / 4, 4 / 3)  # width over height
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
# The same as one product and one sum of a byte.
FACTOR = 1 / (255 * DEVIATION)
OFFSET = -MEAN / DEVIATION


@dataclass
class PhotoContext:
    """What all sides share."""

    folder: Path  # class/number.jpg, what is measured
    once_folder: Path  # the same with every photograph once, what is looked at
    stoker: Path
    stoker_epochs: int

    def __post_init__(self):
        self.files = list_files(self.folder)
        self.once = list_files(self.once_folder)

    @property
    def size(self):
        return len(self.files)


def list_files(folder):
    """Sorted as everybody's image folders are."""
    return sorted(str(path) for path in folder.glob("*/*.jpg"))


def find_photos(repository):
    root = os.environ.get("STOKER_TEST_DATA", repository / ".." / "shared" / "data")
    photos = sorted((Path(root) / "photos").glob("*.JPEG"))
    if not photos:
        raise RuntimeError(f"no photographs in {root}/photos (see $STOKER_TEST_DATA)")
    return photos


def lay_out(photos, folder, copies):
    """An image folder with one class a photograph.

    Real copies: each file has pages of its own in the page cache, as in a data set of that many
    photographs. Links would make all copies one file, small enough for the processor's cache.
    """
    for photo in photos:
        into = folder / photo.stem
        into.mkdir(parents=True)
        for number in range(copies):
            shutil.copyfile(photo, into / f"{number:03}.jpg")


def crop_box(height, width):
    """Top, left, height, width: torchvision's RandomResizedCrop, for sides that have none."""
    for _ in range(10):
        area = height * width * random.uniform(*AREA)
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    w = min(width, round(height * RATIO[1]))
    h = min(height, round(width / RATIO[0]))
    return (height - h) // 2, (width - w) // 2, h, w


class PhotoSide(Side):
    """A peer. It gives batches of 64, float32 [64, 3, 224, 224]."""

    like = "antialiased"  # or "plain"

    def start(self, workers):
        self.workers = workers
        self.files = self.context.files

    def images(self, n):
        """Every photograph in turn, until there are n."""
        self.files = self.context.once
        order = np.arange(n) % len(self.files)
        done = self.batches(np.split(order, range(BATCH, n, BATCH)))
        return np.concatenate([np.array(batch) for batch in done])


class NativeSide(PhotoSide):
    """A peer with a reader and an order of its own: a subclass provides stream."""

    def stream(self, files, shuffled):
        """Yields batches of the files: for ever in a random order, or once in their order."""
        raise NotImplementedError

    def endless(self):
        return self.stream(self.files, shuffled=True)

    def batches(self, index_batches):
        files = [self.files[index] for indices in index_batches for index in indices]
        return self.stream(files, shuffled=False)
