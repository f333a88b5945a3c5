"""Side a: worker processes with scipy and numpy, jobs and results through multiprocessing queues.

One image is one job, as the source documents had it. Two variants: three warps one after the
other (the documents), and one composed warp (the better way to write it).
"""

import itertools
import math
import multiprocessing

import numpy as np
from scipy import ndimage

from .policy import ANGLE, CENTRE, NOISE, SHIFT, SIDE, TILT
from .side import Side

WINDOW = 512  # jobs under way: the workers never run dry, and stopping is quick
# Not "constant", which cuts half a pixel off the image at its border, three times for three warps.
BLACK = {"order": 1, "mode": "grid-constant", "cval": 0.0}


def three_warps(image, rng):
    angle, tilt, dx, dy = rng.uniform(-1.0, 1.0, 4)
    out = image.astype(np.float32) * np.float32(1 / 255)
    out = ndimage.rotate(out, angle * ANGLE, reshape=False, **BLACK)
    out = ndimage.shift(out, (dy * SHIFT, dx * SHIFT), **BLACK)
    out = ndimage.affine_transform(out, [[1.0, 0.0], [tilt * TILT, 1.0]], **BLACK)
    return add_noise(out, rng)


def one_warp(image, rng):
    """The same map at once: R(Kp + s) about the centre, here in (y, x)."""
    angle, tilt, dx, dy = rng.uniform(-1.0, 1.0, 4).tolist()
    angle, tilt = math.radians(angle * ANGLE), tilt * TILT
    dx, dy = dx * SHIFT + tilt * CENTRE, dy * SHIFT
    cos, sin = math.cos(angle), math.sin(angle)
    matrix = [[sin * tilt + cos, sin], [cos * tilt - sin, cos]]
    offset_y = CENTRE - (matrix[0][0] + matrix[0][1]) * CENTRE + sin * dx + cos * dy
    offset_x = CENTRE - (matrix[1][0] + matrix[1][1]) * CENTRE + cos * dx - sin * dy
    out = image.astype(np.float32) * np.float32(1 / 255)
    out = ndimage.affine_transform(out, matrix, offset=(offset_y, offset_x), **BLACK)
    return add_noise(out, rng)


def add_noise(image, rng):
    noise = rng.random((SIDE, SIDE), dtype=np.float32)
    noise *= np.float32(2 * NOISE)
    noise -= np.float32(NOISE)
    noise += image
    return np.clip(noise, 0.0, 1.0, out=noise)


def work(jobs, results, augment, seed):
    """A worker's life: until the job None."""
    rng = np.random.default_rng(seed)
    while (job := jobs.get()) is not None:
        index, image = job
        results.put((index, augment(image, rng)))
        jobs.task_done()
    jobs.task_done()


class PythonPool(Side):
    letter = "a"
    asked = 50
    augment = None

    def start(self, workers):
        mp = multiprocessing.get_context("fork")
        self.jobs, self.results, self.under_way = mp.JoinableQueue(), mp.Queue(), 0
        seeds = np.random.SeedSequence().spawn(workers)
        queues = (self.jobs, self.results)
        self.workers = [mp.Process(target=work, args=(*queues, self.augment, s)) for s in seeds]
        for worker in self.workers:
            worker.start()

    def batches(self, index_batches):
        """In the order of completion: the documents' pool promises no other."""
        results = self._results(itertools.chain.from_iterable(index_batches))
        while chunk := list(itertools.islice(results, self.batch)):
            yield np.stack([image for _, image in chunk])[:, np.newaxis]

    def images(self, n):
        out = np.empty((n, 1, SIDE, SIDE), np.float32)
        for index, image in self._results(iter(range(n))):
            out[index, 0] = image
        return out

    def stop(self):
        # A worker cannot leave while its results are unread, so they are read first.
        while self.under_way:
            self._get()
        for _ in self.workers:
            self.jobs.put(None)
        self.jobs.join()
        for worker in self.workers:
            worker.join()

    def _results(self, indices):
        for index in itertools.islice(indices, WINDOW):
            self._put(index)
        while self.under_way:
            yield self._get()
            for index in itertools.islice(indices, 1):
                self._put(index)

    def _put(self, index):
        self.jobs.put((index, self.context.images[index]))
        self.under_way += 1

    def _get(self):
        self.under_way -= 1
        return self.results.get()


class ThreeWarps(PythonPool):
    name = "Python pool, scipy, three warps"
    augment = staticmethod(three_warps)


class OneWarp(PythonPool):
    name = "Python pool, scipy, one warp"
    augment = staticmethod(one_warp)


SIDES = [ThreeWarps, OneWarp]
