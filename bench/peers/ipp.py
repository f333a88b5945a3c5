"""Intel IPP through ctypes: filters with a border of zeros, in as many threads as asked for.

The functions used have one thread of their own, so two threads are two calls on halves of the image; the inner border
reads the other half. The package `ipp` puts its libraries into the environment's lib folder.
"""

import atexit
import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np

BORDER_CONSTANT, IN_MEMORY_TOP, IN_MEMORY_BOTTOM = 6, 0x10, 0x20
TYPES = {np.dtype(np.uint8): 1, np.dtype(np.int16): 7, np.dtype(np.float32): 13}
ROUND_NEAR, NORM_L2, MASK_3X3 = 1, 4, 33
MARK = "STOKER_BENCH_IPP"  # set where the path is


class Size(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int)]


def start_again_with_path(folder):
    """IPP opens its part for this CPU under a name that the package does not have, on the path that the process was
    started with: the program is started again, with links of those names on it."""
    if MARK in os.environ or not (folder / "libippi.so.12").exists():
        return
    links = pathlib.Path(tempfile.mkdtemp(prefix="ipp-"))
    for library in folder.glob("libipp*.so.12"):
        (links / (library.name + ".1")).symlink_to(library)
    path = f"{links}:{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]],
              {**os.environ, MARK: str(links), "LD_LIBRARY_PATH": path})


def load():
    """The library, or None where it is not installed."""
    folder = pathlib.Path(sys.prefix, "lib")
    start_again_with_path(folder)
    try:
        core, _, _, library = (ctypes.CDLL(str(folder / f"lib{name}.so.12"), ctypes.RTLD_GLOBAL)
                               for name in ("ippcore", "ippvm", "ipps", "ippi"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, os.environ[MARK], ignore_errors=True)
    core.ippInit()
    return library


def pointer(array, row=0):
    return ctypes.c_void_p(array.ctypes.data + row * array.strides[0])


def check(status):
    if status != 0:
        raise RuntimeError(f"IPP: status {status}")


class Bands:
    """Calls work(first row, end, border flags) on equal bands in `threads` threads."""

    def __init__(self, threads):
        self.threads = threads
        self.pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None

    def __call__(self, rows, work):
        if self.pool is None:
            return work(0, 0, rows, BORDER_CONSTANT)
        cuts = [rows * i // self.threads for i in range(self.threads + 1)]
        jobs = []
        for i in range(self.threads):
            flags = BORDER_CONSTANT | (IN_MEMORY_TOP if i else 0) | (IN_MEMORY_BOTTOM if i + 1 < self.threads else 0)
            jobs.append(self.pool.submit(work, i, cuts[i], cuts[i + 1], flags))
        for job in jobs:
            job.result()


def filter_border(library, image, kernel, out, threads):
    """A function that correlates. f32, or bytes with 16-bit weights, cut off to bytes."""
    whole = image.dtype == np.uint8
    size, roi = Size(kernel.shape[1], kernel.shape[0]), Size(image.shape[1], image.shape[0])
    spec_bytes, buffer_bytes = ctypes.c_int(), ctypes.c_int()
    kernel_type = TYPES[np.dtype(np.int16 if whole else np.float32)]
    check(library.ippiFilterBorderGetSize(size, roi, TYPES[image.dtype], kernel_type, 1, ctypes.byref(spec_bytes),
                                          ctypes.byref(buffer_bytes)))
    spec = np.zeros(spec_bytes.value, np.uint8)
    weights = np.ascontiguousarray(kernel, np.int16 if whole else np.float32)
    if whole:
        check(library.ippiFilterBorderInit_16s(pointer(weights), size, 1, TYPES[image.dtype], 1, ROUND_NEAR, pointer(spec)))
    else:
        check(library.ippiFilterBorderInit_32f(pointer(weights), size, TYPES[image.dtype], 1, ROUND_NEAR, pointer(spec)))
    buffers = [np.zeros(buffer_bytes.value, np.uint8) for _ in range(threads)]
    function = library.ippiFilterBorder_8u_C1R if whole else library.ippiFilterBorder_32f_C1R
    zero = np.zeros(1, image.dtype)
    bands = Bands(threads)

    def work(index, begin, end, flags):
        check(function(pointer(image, begin), image.strides[0], pointer(out, begin), out.strides[0],
                       Size(image.shape[1], end - begin), flags, pointer(zero), pointer(spec), pointer(buffers[index])))

    return lambda: bands(image.shape[0], work)


def sobel(library, image, out, threads):
    """A function that computes the magnitude, 3x3; bytes give 16-bit results."""
    whole = image.dtype == np.uint8
    buffer_bytes = ctypes.c_int()
    check(library.ippiFilterSobelGetBufferSize(Size(image.shape[1], image.shape[0]), MASK_3X3, NORM_L2,
                                               TYPES[image.dtype], TYPES[out.dtype], 1, ctypes.byref(buffer_bytes)))
    buffers = [np.zeros(buffer_bytes.value, np.uint8) for _ in range(threads)]
    if whole:
        function, zero = library.ippiFilterSobel_8u16s_C1R, ctypes.c_uint8(0)
    else:
        function, zero = library.ippiFilterSobel_32f_C1R, ctypes.c_float(0)
    bands = Bands(threads)

    def work(index, begin, end, flags):
        check(function(pointer(image, begin), image.strides[0], pointer(out, begin), out.strides[0],
                       Size(image.shape[1], end - begin), MASK_3X3, NORM_L2, flags, zero, pointer(buffers[index])))

    return lambda: bands(image.shape[0], work)
