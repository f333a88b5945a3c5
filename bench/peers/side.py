"""What a side of the comparison is: start(workers), run(seconds), images(n), stop()."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .cpu import tree_cpu_seconds, tree_pss_megabytes

BATCH = 64
WARM_UP_SECONDS = 0.5


@dataclass
class Context:
    """What all sides share."""

    images: np.ndarray  # uint8 [n, 28, 28]
    data_name: str
    data_root: Path
    stoker: Path
    stoker_epochs: int
    stoker_image_args: list

    @property
    def size(self):
        """Samples an epoch."""
        return len(self.images)


class Side:
    """A peer written in Python. A subclass provides start, batches and stop.

    The harness forks a fresh process for every measurement and calls the side in it, so a side
    may set thread counts and start pools without disturbing the next one.
    """

    letter = ""
    name = ""
    asked = None  # Stoker should be this many times faster
    antialias = None  # how it shrinks images, in the table's words
    like = None  # Stoker's side of the same kind is the one to compare with

    def __init__(self, context):
        self.context = context
        self.notes = {}  # facts about the last run, for the JSON file
        self.batch = BATCH

    def missing(self):
        """Why this side cannot run here, or None."""
        return None

    def settings(self, workers):
        """Keyword arguments of start to choose from; the fastest is measured."""
        return [{}]

    def start(self, workers, **setting):
        raise NotImplementedError

    def batches(self, index_batches):
        """Yields float32 arrays [b, 1, 28, 28] for batches of indices, in their order."""
        raise NotImplementedError

    def stop(self):
        pass

    def endless(self):
        """Yields batches for ever, each epoch in a new order."""
        return self.batches(endless_indices(self.context.size, self.batch))

    def run(self, seconds):
        """Samples per second in the steady state: start-up and first batches are not counted."""
        batches = self.endless()
        next(batches)  # all that is started or compiled for it
        warm = time.perf_counter() + WARM_UP_SECONDS
        while time.perf_counter() < warm:
            next(batches)
        samples, cpu, begin = 0, tree_cpu_seconds(), time.perf_counter()
        while (elapsed := time.perf_counter() - begin) < seconds:
            samples += len(next(batches))
        cpu = tree_cpu_seconds() - cpu
        memory = tree_pss_megabytes()
        self.notes = self.notes | {"cpu_seconds_per_1000": 1000 * cpu / samples, "megabytes": memory}
        return samples / elapsed

    def images(self, n):
        """The first n images, augmented."""
        done = self.batches(np.array_split(np.arange(n), range(self.batch, n, self.batch)))
        return np.concatenate([np.array(batch) for batch in done])


def endless_indices(n, batch):
    """Epoch after epoch in a new order. No epoch ends early, so no peer drains its queue."""
    rng = np.random.default_rng()
    while True:
        order = rng.permutation(n)
        for at in range(0, n - batch + 1, batch):
            yield order[at : at + batch]
