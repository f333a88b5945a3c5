"""Side l: SPDL, threads in one process; a worker makes a whole batch with OpenCV and NumPy."""

import importlib.util
import threading

import cv2
import numpy as np

from .policy import SIDE
from .side import Side
from .small_opencv import augment_into


class Spdl(Side):
    letter = "l"
    name = "SPDL, OpenCV"

    def missing(self):
        found = importlib.util.find_spec("spdl")
        return None if found else "small_spdl is not installed: no module named 'spdl'"

    def start(self, workers):
        self.workers, self.local = workers, threading.local()
        cv2.setNumThreads(0)

    def load(self, indices):
        if not hasattr(self.local, "rng"):
            self.local.rng = np.random.default_rng()
        out = np.empty((len(indices), 1, SIDE, SIDE), np.float32)
        return augment_into(out, self.context.images[indices], self.local.rng)

    def batches(self, index_batches):
        from spdl.pipeline import PipelineBuilder

        pipeline = (
            PipelineBuilder()
            .add_source(index_batches)
            .pipe(self.load, concurrency=self.workers, output_order="input")
            .add_sink(2)
            .build(num_threads=self.workers, max_failures=0)
        )
        with pipeline.auto_stop(timeout=60):
            yield from pipeline


SIDES = [Spdl]
