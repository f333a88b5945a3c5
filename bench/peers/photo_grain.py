"""Side g: grain with OpenCV's functions: threads in one process, or processes; grain has no decoder of its own."""

import importlib.util

import cv2
import numpy as np

from .opencv_load import load_into
from .photos import SIDE, NativeSide
from .side import BATCH


def load(path):
    out = np.empty((3, SIDE, SIDE), np.float32)
    load_into(out, path, cv2.INTER_LINEAR)
    return out


def use_one_thread(worker, workers):
    cv2.setNumThreads(0)


class Grain(NativeSide):
    letter = "g"
    name = "grain, OpenCV"
    antialias, like = "off", "plain"
    asked = 1.7

    def missing(self):
        return None if importlib.util.find_spec("grain") else "photo_grain is not installed: no module named 'grain'"

    def settings(self, workers):
        return [{"kind": "threads"}, {"kind": "processes"}]

    def start(self, workers, kind="threads"):
        super().start(workers)
        self.kind = kind
        cv2.setNumThreads(0)

    def stream(self, files, shuffled):
        from grain.python import MapDataset, MultiprocessingOptions, ReadOptions

        data = MapDataset.source(files)
        data = data.shuffle(seed=1).repeat() if shuffled else data
        data = data.map(load).batch(BATCH)
        if self.kind == "threads":
            # Elements are batches here: a thread makes a whole one.
            return iter(data.to_iter_dataset(ReadOptions(num_threads=self.workers, prefetch_buffer_size=2 * self.workers)))
        one = data.to_iter_dataset(ReadOptions(num_threads=1, prefetch_buffer_size=1))
        return iter(one.mp_prefetch(MultiprocessingOptions(num_workers=self.workers), worker_init_fn=use_one_thread))


SIDES = [Grain]
