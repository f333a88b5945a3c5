#!/usr/bin/env python3
"""Runs the PTX that nvcc makes of stoker/cuda/*.cu in the interpreter of tests/ptx and compares with numpy.

  ptx_test.py CASE      NVCC names the compiler

The interpreter is slow: Correlation and Sobel have every kernel, CorrelationAll and SobelAll every shape. Nightly runs these.
"""

import functools
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "ptx"))
import interpreter  # noqa: E402
from interpreter import Device, PtxError  # noqa: E402

KINDS = {"f": np.float32, "d": np.float64, "i": np.int32, "h": np.uint8, "l": np.int64}


@functools.cache
def kernels(source, omit=""):
    """The kernels of a .cu file as the build compiles it, without one barrier where asked."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "kernels.ptx"
        subprocess.run([os.environ["NVCC"], "-std=c++20", "-O3", "--diag-suppress=554", f"-I{ROOT}", "-arch=compute_75",
                        f'-DSTOKER_OMIT_BARRIER="{omit}"', "--ptx", str(ROOT / "stoker" / "cuda" / source), "-o", str(out)],
                       check=True)
        return interpreter.parse(out.read_text())


def kernel(source, mangled, omit=""):
    found = [k for name, k in kernels(source, omit).items() if mangled in name]
    assert len(found) == 1, (mangled, list(kernels(source, omit)))
    return found[0]


def pointer(address):
    return struct.pack("<Q", address)


def flag(value):
    return struct.pack("<?", value)


def refused(action, expected):
    try:
        action()
    except PtxError as error:
        assert expected in str(error), f"Expected {expected!r}, got {error}"
        return
    raise AssertionError(f"was not refused: {expected}")


def whole_numbers(rng, shape, dtype, low=-20, high=20):
    return rng.integers(0, 256, shape).astype(dtype) if dtype == np.uint8 else rng.integers(low, high, shape).astype(dtype)


# --- single instructions -------------------------------------------------------------------------------------------

ONE = """
.visible .entry one(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)
{
  .reg .pred %p<9>; .reg .b16 %rs<12>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<12>; .reg .f64 %fd<12>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u64 %rd4, [c];
  mul.wide.u32 %rd5, %r1, IN; mul.wide.u32 %rd6, %r1, OUT;
  add.s64 %rd1, %rd1, %rd6; add.s64 %rd2, %rd2, %rd5; add.s64 %rd3, %rd3, %rd5; add.s64 %rd4, %rd4, %rd5;
  CODE
  ret;
}
"""

def register(dtype, number):
    prefix = {"f4": "f", "f8": "fd"}.get(np.dtype(dtype).str[1:]) or {1: "rs", 2: "rs", 4: "r", 8: "rd"}[np.dtype(dtype).itemsize]
    return f"%{prefix}{number}"


def memory_type(dtype):
    return f"{'f' if np.dtype(dtype).kind == 'f' else 'u'}{8 * np.dtype(dtype).itemsize}"


def run_one(instruction, inputs, out_type, code=None):
    """The instruction for each row of inputs (arrays of one type), one lane each; or code that leaves its result in
    register 8 of the result's type."""
    dtype = inputs[0].dtype
    if code is None:
        names = [register(dtype, 9 + i) for i in range(len(inputs))]
        code = "".join(f"ld.global.{memory_type(dtype)} {name}, [%rd{i + 2}];" for i, name in enumerate(names))
        code += f"{instruction} {register(out_type, 8)}, {', '.join(names)};"
    code += f" st.global.{memory_type(out_type)} [%rd1], {register(out_type, 8)};"
    out = np.dtype(out_type)
    text = ONE.replace("IN", str(dtype.itemsize)).replace("OUT", str(out.itemsize)).replace("CODE", code)
    device = Device(1 << 16)
    count = len(inputs[0])
    addresses = [device.upload(values) for values in inputs] + [0] * (3 - len(inputs))
    target = device.upload(np.zeros(count, out))
    device.launch(interpreter.parse(text)["one"], (1, 1, 1), (count, 1, 1), [pointer(a) for a in [target] + addresses])
    return device.download(target, (count,), out)


def expect_integers(instruction, kind, function, arity=2, out=None):
    dtype = interpreter.dtype_of(kind)
    rng = np.random.default_rng(len(instruction))
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.max, 0, 1, info.max - 1, info.min + 1, 7, 100], dtype)
    inputs = [np.concatenate([rng.permutation(edges), rng.integers(info.min, info.max, 24, dtype, endpoint=True)])
              for _ in range(arity)]
    if instruction.startswith(("div", "rem")):
        inputs[1][inputs[1] == 0] = 3
    out = interpreter.dtype_of(out or kind)
    mask = (1 << 8 * out.itemsize) - 1
    expected = [function(*(int(v) for v in row)) & mask for row in zip(*inputs)]
    actual = run_one(f"{instruction}.{kind}", inputs, out).view(f"u{out.itemsize}").tolist()
    assert actual == expected, (instruction, kind, [x.tolist() for x in inputs], actual, expected)


def toward_zero(a, b):
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def instructions():
    for bits in (16, 32, 64):
        for kind in (f"s{bits}", f"u{bits}"):
            expect_integers("add", kind, lambda a, b: a + b)
            expect_integers("sub", kind, lambda a, b: a - b)
            expect_integers("mul.lo", kind, lambda a, b: a * b)
            expect_integers("mul.hi", kind, lambda a, b: a * b >> bits)
            expect_integers("max", kind, max)
            expect_integers("min", kind, min)
            expect_integers("div", kind, toward_zero)
            expect_integers("rem", kind, lambda a, b: a - toward_zero(a, b) * b)
            expect_integers("mad.lo", kind, lambda a, b, c: a * b + c, 3)
            if bits < 64:
                expect_integers("mul.wide", kind, lambda a, b: a * b, out=f"{kind[0]}{2 * bits}")
        for name, function in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
            expect_integers(name, f"b{bits}", function)
        expect_integers("not", f"b{bits}", lambda a: ~a, 1)
    for source, target in (("s32", "s64"), ("u32", "u64"), ("u64", "u32"), ("u16", "u32"), ("u32", "u16"), ("s16", "s32")):
        expect_integers(f"cvt.{target}", source, lambda a: a, 1, out=target)
    parts = "ld.global.u32 %r9, [%rd2]; mov.b32 {%rs1, %rs2}, %r9; mov.b32 %r8, {%rs2, %rs1};"
    assert run_one("", [np.array([0x12345678], np.uint32)], np.uint32, parts)[0] == 0x56781234
    shifts()
    floats()
    comparisons()
    print("every instruction gives what Python's whole numbers, or exact fractions, give")


def shifts():
    for kind in ("b32", "u32", "s32", "s64", "u64"):
        dtype = interpreter.dtype_of(kind)
        bits = 8 * dtype.itemsize
        values = np.array([1, 3, 2 ** (bits - 1) - 1] * 2 + ([-5, -1] if kind[0] == "s" else [2 ** (bits - 1), 9]), dtype)
        for amount in (0, 1, bits - 1, bits, bits + 7):
            operation = "shl" if kind == "b32" else "shr"
            code = (f"ld.global.u{bits} {register(dtype, 9)}, [%rd2];"
                    f"{operation}.{kind} {register(dtype, 8)}, {register(dtype, 9)}, {amount};")
            actual = run_one("", [values], dtype, code)
            expected = [(int(v) << amount if operation == "shl" else int(v) >> amount) & (2 ** bits - 1) for v in values]
            assert actual.view(f"u{dtype.itemsize}").tolist() == expected, (kind, amount, actual, expected)


def floats():
    from fractions import Fraction

    rng = np.random.default_rng(3)
    for dtype, kind in ((np.float32, "f32"), (np.float64, "f64")):
        a, b = (rng.standard_normal(32).astype(dtype) for _ in range(2))
        c = (-a * b).astype(dtype)  # cancels: what is left is what rounding twice would lose
        c[::2] = rng.standard_normal(16).astype(dtype)
        exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c)]
        assert run_one(f"fma.rn.{kind}", [a, b, c], dtype).tolist() == [float(dtype(float(e))) for e in exact], kind
        assert (run_one(f"mul.{kind}", [a, b], dtype) == a * b).all()
        assert (run_one(f"add.{kind}", [a, b], dtype) == a + b).all()
        assert (run_one(f"sub.{kind}", [a, b], dtype) == a - b).all()
        assert (run_one(f"sqrt.rn.{kind}", [np.abs(a)], dtype) == np.sqrt(np.abs(a))).all()
    # In this one a sum in double that is rounded to nearest lies halfway between two floats, and goes the wrong way.
    a, b, c = (np.full(4, x, np.float32) for x in (1 + 2**-12, 1 + 2**-12, 2.0**-60))
    assert run_one("fma.rn.f32", [a, b, c], np.float32)[0] == np.float32(1 + 2**-11 + 2**-23)
    values = np.array([0, 1, 255, 65535], np.uint16)
    assert run_one("cvt.rn.f32.u16", [values], np.float32).tolist() == [0.0, 1.0, 255.0, 65535.0]


def comparisons():
    a, b = np.array([-1, 0, 1, 5], np.int32), np.array([0, 0, -1, 5], np.int32)
    for name, kind, expected in (("lt", "s32", a < b), ("ge", "s32", a >= b), ("eq", "s32", a == b), ("ne", "s32", a != b),
                                 ("lt", "u32", a.view("u4") < b.view("u4")), ("gt", "u32", a.view("u4") > b.view("u4")),
                                 ("le", "s32", a <= b)):
        code = (f"ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd3]; setp.{name}.{kind} %p1, %r2, %r3;"
                "mov.u32 %r8, 0; @%p1 mov.u32 %r8, 1; not.pred %p2, %p1; @!%p1 add.s32 %r8, %r8, 0;")
        assert run_one("", [a, b], np.uint32, code).tolist() == expected.astype(int).tolist(), (name, kind)


def refusals():
    """Anything unknown or wrong stops the run."""
    ones = np.ones(4, np.int32)

    def run(code):
        return lambda: run_one("", [ones], np.int32, code)

    for unknown in ("popc.b32 %r8, %r1;", "add.sat.s32 %r8, %r1, %r1;", "mul.hi.f32 %f8, %f1, %f1;", "mul24.lo.s32 %r8, %r1, %r1;",
                    "ld.global.cg.u32 %r8, [%rd2];", "atom.global.add.u32 %r8, [%rd2], 1;", "fma.rz.f32 %f1, %f1, %f1, %f1;",
                    "shfl.sync.bfly.b32 %r8, %r1, 1, 31, -1;", "cvt.rzi.s32.f32 %r8, %f1;", "setp.lt.and.s32 %p1, %r1, %r1, %p2;",
                    "mov.b64 {%r1, %r2, %r3}, %rd1;", "prmt.b32 %r8, %r1, %r1, 1;"):
        refused(run("mov.f32 %f1, 0f3F800000; setp.eq.s32 %p2, %r1, 0;" + unknown), "unknown")
    refused(run("mov.u32 %r8, %r7;"), "read before it is written")
    refused(run("mov.u32 %r8, %nosuch;"), "unknown")
    refused(run("mov.u32 %q8, %r1;"), "unknown register")
    refused(run("ld.global.u32 %r8, [%rd2+16];"), "out of bounds")
    refused(run("ld.global.u32 %r8, [%rd2+-4];"), "out of bounds")
    refused(run("ld.global.u32 %r8, [%rd2+2];"), "not a multiple")
    refused(run("ld.global.v4.u32 {%r2,%r3,%r4,%r8}, [%rd2];"), "not a multiple")
    refused(run("setp.eq.s32 %p1, %r1, 0; @%p1 bra $none;"), "unknown label")
    refused(run("setp.eq.s32 %p1, %r1, 0; @%p1 bra $end; bar.sync 0; $end: mov.u32 %r8, 0;"), "divergent barrier")
    refused(run("setp.eq.s32 %p1, %r1, 0; @%p1 ret; bar.sync 0; mov.u32 %r8, 0;"), "divergent barrier")
    print("unknown instructions, wrong addresses and divergent barriers stop the run")


# --- our kernels ---------------------------------------------------------------------------------------------------

def maximum():
    rng = np.random.default_rng(1)
    for letter in "hil":
        dtype = KINDS[letter]
        for name, counts in (("maximum_kernelI", (1, 37, 1000)), ("maximum_packed_kernelI", (1, 16, 50, 1003))):
            for count in counts:
                device = Device()
                a, b = whole_numbers(rng, count, dtype), whole_numbers(rng, count, dtype)
                out = device.upload(np.zeros(count, dtype))
                arguments = [pointer(x) for x in (out, device.upload(a), device.upload(b))] + [struct.pack("<q", count)]
                device.launch(kernel("maximum.cu", name + letter), (2, 1, 1), (100, 1, 1), arguments, seed=count)
                assert (device.download(out, count, dtype) == np.maximum(a, b)).all(), (letter, name, count)
    print("maximum: u8, i32, i64, plain and packed, equal numpy's")


def run_gram(dtype, letter, rows, columns, plain, omit="", seed=0, check_races=True):
    device = Device()
    x = whole_numbers(np.random.default_rng(rows), (rows, columns), dtype)
    out = device.upload(np.full((rows, rows), -1, dtype))
    shape = struct.pack("<iiqq", rows, columns, columns, rows)
    arguments = [pointer(out), pointer(device.upload(x)), shape]
    if plain:
        device.launch(kernel("gram.cu", "gram_one_block_kernelI" + letter), (1, 1, 1), (1024, 1, 1), arguments, seed)
    else:
        tiles = -(-rows // 64)
        packed = columns * np.dtype(dtype).itemsize % 16 == 0
        device.launch(kernel("gram.cu", "gram_tiled_kernelI" + letter, omit), (tiles, tiles, 1), (16, 16, 1),
                      arguments + [flag(packed)], seed, check_races)
    return device.download(out, (rows, rows), dtype), x @ x.T


def gram():
    for letter in "fd":
        for rows, columns, plain in ((1, 3, True), (40, 7, True), (1, 1, False), (9, 20, False), (66, 18, False), (64, 16, False)):
            actual, expected = run_gram(KINDS[letter], letter, rows, columns, plain)
            assert (actual == expected).all(), (letter, rows, columns, plain)
    print("X·Xᵀ: f32, f64, one block and tiled, equal numpy's")


def correlated(image, weights, dtype):
    rows, columns = weights.shape
    image = np.pad(image.astype(dtype), ((rows // 2,) * 2, (columns // 2,) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(image, weights.shape)
    return np.einsum("yxij,ij->yx", windows, weights)


def image_arguments(device, image, out_dtype, skipped):
    rows, columns = image.shape
    out = device.upload(np.full(image.shape, 77, out_dtype))
    return out, [pointer(out), pointer(device.upload(image, skipped)), struct.pack("<iiqq", rows, columns, columns, columns)]


def is_packed(columns, *dtypes):
    return all(columns * np.dtype(d).itemsize % 16 == 0 for d in dtypes)


def run_correlation(letters, way, image_shape, kernel_shape, omit="", check_races=True, seed=0, skipped=0):
    """`way`: pixel, loaded or tiled, as dispatch.h chooses kernels for these."""
    rng = np.random.default_rng(sum(image_shape))
    source, dtype = KINDS[letters[0]], KINDS[letters[1]]
    image = whole_numbers(rng, image_shape, source)
    weights = whole_numbers(rng, kernel_shape, dtype, -9, 9)
    device = Device()
    out, arguments = image_arguments(device, image, dtype, skipped)
    shape = struct.pack("<ii", *kernel_shape)
    reach = max(kernel_shape) // 2
    square = kernel_shape[0] if way == "tiled" and dtype == np.float32 and kernel_shape[0] == kernel_shape[1] <= 7 else 0
    bucket = square // 2 if square > 1 else (3 if reach <= 3 else 15) if way == "loaded" else (5 if reach <= 5 else 15)
    fixed = square if square > 1 else 0
    tile = (32 * 16 // np.dtype(dtype).itemsize, 8 * (4 if bucket <= 5 else 2))
    flags = [flag(is_packed(image.shape[1], source) and not skipped), flag(is_packed(image.shape[1], dtype))]
    suffix = {"pixel": f"I{letters}E", "loaded": f"I{letters}Li{bucket}E",
              "tiled": f"I{letters}Li{bucket}ELi{fixed}ELi{fixed}E"}[way]
    if way == "pixel":
        tile = (32, 8)
        arguments += [pointer(device.upload(weights)), shape]
    elif way == "loaded":
        arguments += [pointer(device.upload(weights)), shape] + flags
    else:
        constant = np.zeros((2 * bucket + 1) ** 2, dtype)
        constant[: weights.size] = weights.reshape(-1)
        arguments += [constant.tobytes(), shape] + flags
    blocks = -(-image_shape[0] // tile[1]) * -(-image_shape[1] // tile[0])
    source_file = "correlation_f32.cu" if dtype == np.float32 else "correlation_others.cu"
    device.launch(kernel(source_file, f"correlation_{way}_kernel{suffix}", omit), (blocks, 1, 1), (32, 8, 1), arguments, seed,
                  check_races)
    return device.download(out, image_shape, dtype), correlated(image, weights, dtype)


# Each kernel once, for each kind of numbers one with several tiles.
CORRELATIONS = [("ff", "pixel", (9, 40), (3, 5)), ("ff", "tiled", (20, 132), (3, 3)), ("ff", "tiled", (5, 30), (5, 5)),
                ("ff", "tiled", (4, 30), (7, 7)), ("ff", "tiled", (5, 9), (3, 11)), ("ff", "loaded", (9, 33), (3, 3)),
                ("ff", "loaded", (4, 20), (9, 9)), ("ff", "tiled", (4, 20), (13, 3)),
                ("hf", "tiled", (9, 144), (3, 3)), ("hf", "pixel", (3, 5), (3, 3)), ("hf", "loaded", (9, 33), (5, 3)),
                ("hf", "tiled", (5, 32), (5, 5)), ("hf", "tiled", (5, 20), (7, 7)), ("hf", "tiled", (4, 20), (15, 3)),
                ("hf", "tiled", (5, 20), (3, 11)), ("dd", "loaded", (3, 20), (9, 3)),
                ("dd", "pixel", (9, 33), (3, 3)), ("dd", "tiled", (9, 66), (3, 3)), ("dd", "loaded", (5, 33), (3, 5)),
                ("dd", "tiled", (3, 20), (13, 3)), ("ii", "tiled", (9, 132), (3, 3)), ("ii", "pixel", (9, 33), (3, 3)),
                ("ii", "loaded", (5, 33), (3, 3)), ("ii", "tiled", (4, 20), (13, 3)), ("hi", "tiled", (9, 132), (3, 3)),
                ("hi", "pixel", (9, 33), (3, 3)), ("hi", "loaded", (5, 33), (3, 3)), ("hi", "loaded", (3, 20), (9, 3))]
MORE_CORRELATIONS = [("ff", "tiled", (5, 9), (13, 3)),
                     ("ff", "tiled", (9, 131), (7, 7)), ("ff", "tiled", (3, 70), (1, 9)), ("ff", "loaded", (4, 40), (9, 9)),
                     ("hf", "tiled", (9, 64), (5, 5)), ("hf", "tiled", (9, 40), (7, 7)), ("hf", "tiled", (9, 40), (3, 11)),
                     ("ii", "tiled", (9, 132), (5, 5)), ("ff", "tiled", (4, 20), (31, 31)),
                     ("dd", "tiled", (4, 20), (13, 17)), ("dd", "loaded", (3, 20), (9, 31))]


def correlation(cases=tuple(CORRELATIONS), seeds=1):
    for case in cases:
        actual, expected = run_correlation(*case)
        assert (actual == expected).all(), case
    actual, expected = run_correlation("ff", "tiled", (20, 132), (3, 3), skipped=4)
    assert (actual == expected).all()
    for seed in range(1, seeds + 1):
        actual, expected = run_correlation("ff", "tiled", (20, 132), (3, 3), seed=seed)
        assert (actual == expected).all(), seed
    print(f"correlation: {len(cases)} kernels and shapes equal numpy's")


# R17: f1 to f4.
DOCUMENTS_FILTERS = (np.outer([1, 2, 1], [1, 0, -1]), np.outer([3, 10, 3], [1, 0, -1]), np.outer([1, 2, 1, 2, 1], [1, 0, -1]),
                     np.outer([1, 2, 1, 2, 1], [1, 0, 0, 0, -1]))


def run_sobel(letters, tiled, image_shape, filter_shape, omit="", check_races=True, weights=None):
    rng = np.random.default_rng(sum(image_shape))
    source, dtype = KINDS[letters[0]], KINDS[letters[1]]
    image = whole_numbers(rng, image_shape, source)
    weights = whole_numbers(rng, filter_shape, dtype, -9, 9) if weights is None else np.ascontiguousarray(weights, dtype)
    device = Device()
    out, arguments = image_arguments(device, image, dtype, 0)
    shape = struct.pack("<ii", *filter_shape)
    square = filter_shape[0] if filter_shape[0] == filter_shape[1] and filter_shape[0] in (3, 5) else 0
    bucket = square // 2 if square else 3
    if tiled:
        constant = np.zeros((2, (2 * bucket + 1) ** 2), dtype)
        constant[0, : weights.size], constant[1, : weights.size] = weights.reshape(-1), weights.T.reshape(-1)
        flags = [flag(is_packed(image.shape[1], source)), flag(is_packed(image.shape[1], dtype))]
        arguments += [constant.tobytes(), shape] + flags
        name, tile = f"sobel_tiled_kernelI{letters}Li{bucket}ELi{square}E", (32 * 16 // np.dtype(dtype).itemsize, 16)
    else:
        arguments += [pointer(device.upload(weights)), shape]
        name, tile = f"sobel_pixel_kernelI{letters}E", (32, 8)
    blocks = -(-image_shape[0] // tile[1]) * -(-image_shape[1] // tile[0])
    device.launch(kernel("sobel.cu", name, omit), (blocks, 1, 1), (32, 8, 1), arguments, 0, check_races)
    gx, gy = correlated(image, weights, dtype), correlated(image, weights.T, dtype)
    return device.download(out, image_shape, dtype), np.sqrt(gx * gx + gy * gy)


def sobel(everything=False):
    """Each kernel once, the documents' filters on the first kind of numbers; or everything with everything."""
    for letters in ("ff", "hf", "dd"):
        for tiled, image, filter_shape in ((True, (9, 70), (3, 3)), (True, (18, 36), (5, 5)), (True, (9, 130), (5, 3)),
                                           (True, (3, 5), (1, 7)), (False, (9, 33), (5, 3))):
            actual, expected = run_sobel(letters, tiled, image, filter_shape)
            assert (actual == expected).all(), (letters, tiled, image, filter_shape)
        if letters != "ff" and not everything:
            continue
        for number, weights in enumerate(DOCUMENTS_FILTERS, 1):
            for tiled in (True, False):
                actual, expected = run_sobel(letters, tiled, (9, 70) if everything else (6, 36), weights.shape, weights=weights)
                assert (actual == expected).all(), (letters, tiled, number)
    print("Sobel: f32, u8, f64, plain and tiled, the documents' four filters among them, equal numpy's")


def barriers():
    """Compiled without one of their barriers, kernels are caught, by the checks and by their results."""
    for omit in ("tiles_filled", "tiles_used"):
        refused(lambda: run_gram(np.float32, "f", 66, 40, False, omit), "shared memory")
        actual, expected = run_gram(np.float32, "f", 66, 40, False, omit, check_races=False)
        assert (actual != expected).any(), omit
    for way in ("tiled", "loaded"):
        refused(lambda: run_correlation("ff", way, (20, 132), (3, 3), "tile_filled"), "shared memory")
        actual, expected = run_correlation("ff", way, (20, 132), (3, 3), "tile_filled", check_races=False)
        assert (actual != expected).any(), way
    refused(lambda: run_sobel("ff", True, (9, 70), (3, 3), "tile_filled"), "shared memory")
    actual, expected = run_sobel("ff", True, (9, 70), (3, 3), "tile_filled", check_races=False)
    assert (actual != expected).any()
    print("kernels without a barrier are caught")


def bounds():
    """A kernel is stopped if the size it is given exceeds the memory of the image."""
    real = Device.upload

    def short(self, values, skipped=0):
        return real(self, values[:-1] if getattr(values, "ndim", 0) == 2 and values.shape == (20, 132) else values, skipped)

    Device.upload = short
    try:
        for way in ("pixel", "tiled", "loaded"):
            refused(lambda: run_correlation("ff", way, (20, 132), (3, 3)), "out of bounds")
    finally:
        Device.upload = real
    print("reads out of bounds are caught")


CASES = {"Instructions": instructions, "Refusals": refusals, "Maximum": maximum, "Gram": gram, "Correlation": correlation,
         "Sobel": sobel, "Barriers": barriers, "Bounds": bounds,
         "CorrelationAll": lambda: correlation(CORRELATIONS + MORE_CORRELATIONS, 5), "SobelAll": lambda: sobel(True)}

if __name__ == "__main__":
    CASES[sys.argv[1]]()
