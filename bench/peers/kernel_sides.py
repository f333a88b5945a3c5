"""The libraries that kernels.py compares, each as a function that computes into memory of its own.

A side is (name, call, result): call() computes, result() gives what it computed as an array. Peers that are not
installed are left out and named in MISSING.
"""

import ctypes
import os
import pathlib
import time

import numpy as np
from scipy import ndimage, signal

from . import ipp

MISSING = []
try:
    import cv2
except ImportError as error:
    cv2 = None
    MISSING.append(str(error))
try:
    import torch
except ImportError as error:
    torch = None
    MISSING.append(str(error))
try:
    import threadpoolctl  # the only way to numpy's number of threads
except ImportError as error:
    threadpoolctl = None
    MISSING.append(str(error))
try:
    import numba
except ImportError as error:
    numba = None
    MISSING.append(str(error))
IPP = ipp.load()
if IPP is None:
    MISSING.append("libippi.so.12, of the package ipp")

SOBEL = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], np.float32)


def load_stoker(path):
    library = ctypes.CDLL(str(path))
    library.limit_flops.restype = ctypes.c_double
    library.limit_flops.argtypes = [ctypes.c_long, ctypes.c_int]
    library.limit_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    library.stoker_simd.restype = ctypes.c_char_p
    if torch is not None:  # its BLAS, for X·Xᵀ
        blas = pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"
        ctypes.CDLL(str(blas), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    return library


def set_threads(threads):
    if cv2 is not None:
        cv2.setNumThreads(threads)
    if torch is not None:
        torch.set_num_threads(threads)
    if numba is not None:
        numba.set_num_threads(threads)
    if threadpoolctl is not None:
        threadpoolctl.threadpool_limits(threads, user_api="blas")


if numba is not None:
    @numba.njit(parallel=True, fastmath=True, cache=False)
    def numba_correlation(image, kernel, out):
        rows, columns = image.shape
        kernel_rows, kernel_columns = kernel.shape
        for y in numba.prange(rows):
            for x in range(columns):
                total = out.dtype.type(0)
                for i in range(kernel_rows):
                    row = y + i - kernel_rows // 2
                    if 0 <= row < rows:
                        for j in range(kernel_columns):
                            column = x + j - kernel_columns // 2
                            if 0 <= column < columns:
                                total += kernel[i, j] * image[row, column]
                out[y, x] = total

    @numba.njit(parallel=True)
    def numba_maximum(a, b, out):
        for y in numba.prange(a.shape[0]):
            for x in range(a.shape[1]):
                out[y, x] = max(a[y, x], b[y, x])


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def aligned(shape, kind):
    """Zeros at a multiple of 64 bytes: all sides get the same."""
    count = int(np.prod(shape)) * np.dtype(kind).itemsize
    raw = np.zeros(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(kind).reshape(shape)


class Into:
    """Keeps what the last call returned, for libraries that make their own result."""

    def __init__(self, function):
        self.function, self.value = function, None

    def __call__(self):
        self.value = self.function()

    def result(self):
        return np.asarray(self.value)


def side(name, function, out):
    return name, function, lambda: out


def opencv_correlation(image, kernel, kind):
    out = aligned(image.shape, kind)
    depth = {np.float32: cv2.CV_32F, np.uint8: cv2.CV_8U}[kind]
    weights = kernel.astype(np.float32)
    return lambda: cv2.filter2D(image, depth, weights, dst=out, borderType=cv2.BORDER_CONSTANT), out


def torch_correlation(image, kernel):
    batch, weights = torch.from_numpy(image)[None, None], torch.from_numpy(kernel)[None, None]
    into = Into(lambda: torch.nn.functional.conv2d(batch, weights, padding=kernel.shape[0] // 2)[0, 0])
    return into, into.result


def scipy_correlation(image, kernel):
    out, wide = aligned(image.shape, kernel.dtype), image.astype(kernel.dtype)
    into = Into(lambda: signal.convolve2d(wide, kernel[::-1, ::-1], mode="same"))
    return [side("scipy.ndimage", lambda: ndimage.correlate(image, kernel, output=out, mode="constant"), out),
            ("scipy.signal", into, into.result)]


def correlation(stoker, kind, image, kernel, threads, slow):
    """Kinds: f32; u8, bytes that are cut off to bytes; u8 to i32. `slow` says whether those that take seconds are
    worth it."""
    functions = {"f32": (stoker.stoker_correlate_f32, np.float32), "u8": (stoker.stoker_correlate_u8, np.uint8),
                 "u8 to i32": (stoker.stoker_correlate_u8_i32, np.int32)}
    function, out_type = functions[kind]
    out = aligned(image.shape, out_type)
    sides = [side("stoker", lambda: function(pointer(out), pointer(image), *image.shape, pointer(kernel),
                                             kernel.shape[0], threads), out)]
    if cv2 is not None:
        # It has no i32; f32 is of the same size.
        sides.append(side("OpenCV", *opencv_correlation(image, kernel, np.uint8 if kind == "u8" else np.float32)))
    if IPP is not None and kind != "u8 to i32":
        result = aligned(image.shape, out_type)
        sides.append(side("IPP", ipp.filter_border(IPP, image, kernel, result, threads), result))
    if torch is not None and kind == "f32":
        sides.append(("torch conv2d", *torch_correlation(image, kernel)))
    if numba is not None and kind != "u8":
        by_numba = aligned(image.shape, out_type)
        sides.append(side("numba", lambda: numba_correlation(image, kernel, by_numba), by_numba))
    if slow and kind != "u8":
        sides += scipy_correlation(image, kernel)
    return sides


def sobel(stoker, image, threads, slow):
    whole = image.dtype == np.uint8
    rows, columns = image.shape
    out = aligned(image.shape, np.float32)
    function = stoker.stoker_sobel_u8 if whole else stoker.stoker_sobel_f32
    sides = [side("stoker", lambda: function(pointer(out), pointer(image), rows, columns, pointer(SOBEL), 3, threads),
                  out)]
    if cv2 is not None:
        gx, gy, result = (aligned(image.shape, np.float32) for _ in range(3))

        def by_opencv():
            cv2.Sobel(image, cv2.CV_32F, 1, 0, dst=gx, borderType=cv2.BORDER_CONSTANT)
            cv2.Sobel(image, cv2.CV_32F, 0, 1, dst=gy, borderType=cv2.BORDER_CONSTANT)
            cv2.magnitude(gx, gy, magnitude=result)

        sides.append(side("OpenCV", by_opencv, result))
    if IPP is not None:
        ipp_result = aligned(image.shape, np.int16 if whole else np.float32)
        sides.append(side("IPP, 16 bits out" if whole else "IPP", ipp.sobel(IPP, image, ipp_result, threads),
                          ipp_result))
    if torch is not None and not whole:
        batch = torch.from_numpy(image)[None, None]
        weights = torch.from_numpy(np.stack([SOBEL, SOBEL.T]))[:, None]
        into = Into(lambda: torch.hypot(*torch.nn.functional.conv2d(batch, weights, padding=1)[0]))
        sides.append(("torch conv2d", into, into.result))
    if slow:
        into = Into(lambda: np.hypot(ndimage.correlate(image, SOBEL, output=np.float32, mode="constant"),
                                     ndimage.correlate(image, SOBEL.T, output=np.float32, mode="constant")))
        sides.append(("scipy.ndimage", into, into.result))
    return sides


def python_maximum(a, b, out):
    """R14's loop as users had it: interpreted, on numpy's matrices."""
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            out[y, x] = a[y, x] if a[y, x] > b[y, x] else b[y, x]


def maximum(stoker, a, b, threads):
    """All write to the same memory: where its pages lie made a difference of 15 %."""
    rows, columns = a.shape
    out = aligned(a.shape, a.dtype)
    pointers = [pointer(array) for array in (out, a, b)]  # which take longer than a small kernel
    sides = [side("stoker", lambda: stoker.stoker_maximum_i32(*pointers, rows, columns, threads), out)]
    if threads == 1:
        sides.append(side("numpy", lambda: np.maximum(a, b, out=out), out))
    if torch is not None:
        ta, tb, to = (torch.from_numpy(array) for array in (a, b, out))
        sides.append(side("torch", lambda: torch.maximum(ta, tb, out=to), out))
    if numba is not None:
        sides.append(side("numba", lambda: numba_maximum(a, b, out), out))
    return sides


def gram(stoker, x, threads):
    rows, columns = x.shape
    outs = [aligned((rows, rows), x.dtype) for _ in range(4)]

    def ours(out, method):
        return lambda: stoker.stoker_gram_f32(pointer(out), pointer(x), rows, columns, threads, method)

    sides = [side("stoker, own", ours(outs[0], 2), outs[0]), side("stoker, OpenBLAS", ours(outs[1], 3), outs[1])]
    if torch is not None:
        tensor, result = torch.from_numpy(x), torch.from_numpy(outs[2])
        sides.append(side("LibTorch's BLAS, full product", lambda: torch.mm(tensor, tensor.T, out=result), outs[2]))
    if threadpoolctl is not None:
        # numpy sees that both factors are one matrix and calls syrk.
        sides.append(side("numpy, OpenBLAS's syrk", lambda: np.matmul(x, x.T, out=outs[3]), outs[3]))
    return sides
