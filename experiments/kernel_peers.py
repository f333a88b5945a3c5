#!/usr/bin/env python3
"""Times of the documents' kernels in Python: the interpreted loop, numpy, scipy and numba, those that can be imported.

Run by experiments/kernels with the Python that has them. Prints one JSON object: what was measured, and what is missing and why.
"""

import argparse
import json
import os
import platform
import statistics
import time

FILTERS = {"f1": ([1, 2, 1], [1, 0, -1]), "f2": ([3, 10, 3], [1, 0, -1]), "f3": ([1, 2, 1, 2, 1], [1, 0, -1]),
           "f4": ([1, 2, 1, 2, 1], [1, 0, 0, 0, -1])}
SLOW_SECONDS = 0.5  # a call that takes longer is not repeated
# Sides at which interpreted loops take less than seconds; their times are scaled to the size that was asked for.
INTERPRETED_PRODUCT, INTERPRETED_IMAGE = 100, 48


def timed(call, seconds):
    """Milliseconds: the median of three calls or more after one that does not count."""
    def once():
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin

    first = once()
    if first > SLOW_SECONDS:
        return 1000 * first
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < seconds:
        times.append(once())
    return 1000 * statistics.median(times)


def interpreted_maximum(a, b, out):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = a[y, x] if a[y, x] > b[y, x] else b[y, x]


def interpreted_product(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            total = 0.0
            for k in range(x.shape[1]):
                total += x[i, k] * x[j, k]
            out[i, j] = total


def interpreted_correlation(image, kernel, out):
    kernel_rows, kernel_columns = kernel.shape
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            total = image[0, 0] * 0
            for i in range(kernel_rows):
                row = y + i - kernel_rows // 2
                if 0 <= row < image.shape[0]:
                    for j in range(kernel_columns):
                        column = x + j - kernel_columns // 2
                        if 0 <= column < image.shape[1]:
                            total += kernel[i, j] * image[row, column]
            out[y, x] = total


def compiled_loops(numba):
    """The same loops for numba: maximum, X·Xᵀ and correlation, parallel over rows."""
    prange = numba.prange

    @numba.njit(parallel=True)
    def maximum(a, b, out):
        for y in prange(a.shape[0]):
            for x in range(a.shape[1]):
                out[y, x] = max(a[y, x], b[y, x])

    @numba.njit(parallel=True)
    def product(x, out):
        for i in prange(x.shape[0]):
            for j in range(x.shape[0]):
                total = x[0, 0] * 0
                for k in range(x.shape[1]):
                    total += x[i, k] * x[j, k]
                out[i, j] = total

    @numba.njit(parallel=True)
    def correlation(image, kernel, out):
        kernel_rows, kernel_columns = kernel.shape
        for y in prange(image.shape[0]):
            for x in range(image.shape[1]):
                total = image[0, 0] * 0
                for i in range(kernel_rows):
                    row = y + i - kernel_rows // 2
                    if 0 <= row < image.shape[0]:
                        for j in range(kernel_columns):
                            column = x + j - kernel_columns // 2
                            if 0 <= column < image.shape[1]:
                                total += kernel[i, j] * image[row, column]
                out[y, x] = total

    return maximum, product, correlation


class Peers:
    def __init__(self, options):
        import numpy

        self.np, self.options, self.figures, self.missing = numpy, options, [], []
        self.versions = {"python": platform.python_version(), "numpy": numpy.__version__}
        self.random = numpy.random.default_rng(1)
        self.numba = self.imported("numba")
        self.scipy = self.imported("scipy.signal")
        if self.numba:
            self.loops = compiled_loops(self.numba)

    def imported(self, name):
        try:
            module = __import__(name, fromlist=["_"])
            whole = __import__(name.split(".", maxsplit=1)[0])
        except Exception as error:  # pylint: disable=broad-except; a broken installation is a missing one
            self.missing.append(f"{name.split('.', maxsplit=1)[0]}: {error}")
            return None
        self.versions[whole.__name__] = whole.__version__
        return module

    def add(self, kernel, image, method, ms, threads=1, **more):
        self.figures.append({"kernel": kernel, "filter": "", "image": image, "rows": 0, "columns": 0, "device": "cpu", "threads": threads,
                             "method": method, "ms": ms, **more})

    def numba_figures(self, kernel, image, call, check, **more):
        """For every number of threads that numba has."""
        if not self.numba:
            return
        call()
        check()
        for threads in self.options.threads:
            if threads <= self.numba.config.NUMBA_NUM_THREADS:
                self.numba.set_num_threads(threads)
                self.add(kernel, image, "numba", timed(call, self.options.seconds), threads, **more)

    def maximum(self):
        np, side = self.np, self.options.matrix
        a, b = self.random.integers(0, 256, (2, side, side), np.int32)
        out = np.zeros_like(a)

        def check():
            assert (out == np.maximum(a, b)).all()

        self.add("maximum i32", side, "interpreted", timed(lambda: interpreted_maximum(a, b, out), 0))
        check()
        self.add("maximum i32", side, "numpy", timed(lambda: np.maximum(a, b, out=out), self.options.seconds))
        if self.numba:
            self.numba_figures("maximum i32", side, lambda: self.loops[0](a, b, out), check)

    def product(self):
        np, side = self.np, self.options.matrix
        small = min(INTERPRETED_PRODUCT, side)
        x = self.random.uniform(-1, 1, (side, side)).astype(np.float32)
        out = np.zeros_like(x)
        part = np.zeros((small, small), np.float32)
        ms = timed(lambda: interpreted_product(np.ascontiguousarray(x[:small, :small]), part), 0)
        assert np.allclose(part, x[:small, :small] @ x[:small, :small].T, atol=1e-3)
        self.add("gram f32", side, "interpreted", ms * (side / small) ** 3, note=f"measured at n = {small}, scaled by n³")
        self.add("gram f32", side, "numpy", timed(lambda: np.matmul(x, x.T, out=out), self.options.seconds), os.cpu_count())
        if self.numba:
            self.numba_figures("gram f32", side, lambda: self.loops[1](x, out),
                               lambda: self.close(out, x @ x.T))

    def close(self, found, expected):
        limit = 1e-4 * max(1, self.np.abs(expected).max())
        assert self.np.abs(found - expected).max() <= limit

    def correlation(self, side, size):
        np = self.np
        image = self.random.uniform(0, 255, (side, side)).astype(np.float32)
        kernel = self.random.uniform(-20, 20, (size, size)).astype(np.float32)
        out, more = np.zeros_like(image), {"rows": size, "columns": size}
        small = np.ascontiguousarray(image[:INTERPRETED_IMAGE, :INTERPRETED_IMAGE])
        part = np.zeros_like(small)
        if size <= 7:
            ms = timed(lambda: interpreted_correlation(small, kernel, part), 0)
            self.add("correlation f32", side, "interpreted", ms * (side / small.shape[0]) ** 2,
                     note=f"measured at {small.shape[0]}², scaled by pixels", **more)
        expected = None
        if self.scipy:
            self.add("correlation f32", side, "scipy",
                     timed(lambda: self.scipy.convolve2d(image, kernel[::-1, ::-1], mode="same"), self.options.seconds), **more)
            expected = self.scipy.convolve2d(image, kernel[::-1, ::-1], mode="same")
        if self.numba:
            self.numba_figures("correlation f32", side, lambda: self.loops[2](image, kernel, out),
                               lambda: None if expected is None else self.close(out, expected), **more)

    def sobel(self, side, name):
        np = self.np
        image = self.random.integers(0, 256, (side, side)).astype(np.float32)
        filters = np.outer(*FILTERS[name]).astype(np.float32)
        more = {"rows": filters.shape[0], "columns": filters.shape[1], "filter": name}
        transposed = np.ascontiguousarray(filters.T)
        gx, gy = np.zeros_like(image), np.zeros_like(image)

        def by_scipy():
            pair = [self.scipy.convolve2d(image, f[::-1, ::-1], mode="same") for f in (filters, transposed)]
            return np.sqrt(pair[0] ** 2 + pair[1] ** 2)

        def by_numba():
            self.loops[2](image, filters, gx)
            self.loops[2](image, transposed, gy)
            return np.sqrt(gx ** 2 + gy ** 2)

        if self.scipy:
            self.add("sobel f32", side, "scipy", timed(by_scipy, self.options.seconds), **more)
        if self.numba:
            self.numba_figures("sobel f32", side, by_numba, lambda: self.close(by_numba(), by_scipy()) if self.scipy else None, **more)


def numbers(text):
    return [int(word) for word in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=numbers, default=[512])
    parser.add_argument("--kernels", type=numbers, default=[3, 5, 7, 15, 31])
    parser.add_argument("--threads", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--matrix", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.2)
    return parser.parse_args()


def main():
    options = parse()
    os.environ.setdefault("NUMBA_NUM_THREADS", str(max(options.threads)))
    try:
        peers = Peers(options)
    except ImportError as error:
        print(json.dumps({"versions": {"python": platform.python_version()}, "missing": [f"numpy: {error}"], "figures": []}))
        return
    peers.maximum()
    peers.product()
    for side in options.sizes:
        for size in options.kernels:
            peers.correlation(side, size)
        for name in FILTERS:
            peers.sobel(side, name)
    print(json.dumps({"versions": peers.versions, "missing": peers.missing, "figures": peers.figures}))


if __name__ == "__main__":
    main()
