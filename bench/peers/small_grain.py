"""Side g: grain on 28x28 images with OpenCV and NumPy: threads in one process, or processes."""

import importlib.util

import cv2
import numpy as np

from .policy import SIDE
from .side import Side
from .small_opencv import augment_into


class Change:
    """A picklable function of an image and its generator, as random_map wants it."""

    def __call__(self, image, rng):
        return augment_into(np.empty((1, 1, SIDE, SIDE), np.float32), image[None], rng)[0]


class Grain(Side):
    letter = "g"
    name = "grain, OpenCV"

    def missing(self):
        return None if importlib.util.find_spec("grain") else "small_grain is not installed: no module named 'grain'"

    def settings(self, workers):
        return [{"kind": "threads"}, {"kind": "processes"}]

    def start(self, workers, kind="threads"):
        self.workers, self.kind = workers, kind
        cv2.setNumThreads(0)

    def stream(self, images, shuffled):
        from grain.python import MapDataset, MultiprocessingOptions, ReadOptions

        data = MapDataset.source(images).seed(1)
        data = data.shuffle().repeat() if shuffled else data
        data = data.random_map(Change()).batch(self.batch)
        if self.kind == "threads":
            return iter(data.to_iter_dataset(ReadOptions(num_threads=self.workers, prefetch_buffer_size=2 * self.workers)))
        one = data.to_iter_dataset(ReadOptions(num_threads=1, prefetch_buffer_size=1))
        return iter(one.mp_prefetch(MultiprocessingOptions(num_workers=self.workers)))

    def endless(self):
        return self.stream(self.context.images, shuffled=True)

    def images(self, n):
        return np.concatenate([np.array(batch) for batch in self.stream(self.context.images[:n], shuffled=False)])


SIDES = [Grain]
