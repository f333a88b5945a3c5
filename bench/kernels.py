#!/usr/bin/env python3
"""Correlation, Sobel, maximum and X·Xᵀ beside other libraries, and beside what the machine can do.

Before a cell is timed, all sides must give the same result. Every round measures every side once, each round in another
order; figures are medians. Exit status: 0 measured, 1 a result differs.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time
from pathlib import Path

# Before the libraries are loaded: threads of one side that wait awake would take time from the next side.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

from peers import kernel_sides as sides

REPOSITORY = Path(__file__).resolve().parent.parent
SIZES, KERNELS, THREADS = (512, 4096), (3, 5, 7, 15, 31), (1, 2)
SAMPLE_SECONDS = 0.02  # a sample is as many calls as fit, at least one
SLOW_SECONDS = 1.0     # a call that takes longer is not called again in every round


def check(cell, entries, tolerance):
    """All sides compute the same as the first; returns the time of each one's second call."""
    expected, times = None, {}
    for name, call, result in entries:
        call()
        times[name] = sides.seconds_of(call)
        found = np.asarray(result(), np.float64)
        if expected is None:
            expected = found.copy()
            continue
        off = np.abs(found - expected).max()
        if not off <= tolerance * max(1.0, np.abs(expected).max()):
            raise SystemExit(f"{cell}: {name} is off by {off}")
    return times


def measure(cell, entries, rounds, tolerance=0.0):
    """Milliseconds of each side."""
    first = check(cell, entries, tolerance)
    samples = {name: [] for name, _, _ in entries}
    for number in range(rounds):
        order = list(entries)
        random.Random(number).shuffle(order)
        for name, call, _ in order:
            if first[name] > SLOW_SECONDS and number > 0:
                continue
            calls = max(1, int(SAMPLE_SECONDS / first[name]))
            start = time.perf_counter()
            for _ in range(calls):
                call()
            samples[name].append((time.perf_counter() - start) / calls)
    return {name: 1000 * statistics.median(values) for name, values in samples.items()}


def copy_rate(stoker, count, threads, rounds):
    """Bytes a second, read and written, of the better kind of copy between arrays of this many bytes."""
    a, b = sides.aligned((count,), np.uint8), sides.aligned((count,), np.uint8)
    a[:] = 1
    rates = []
    for stream in (0, 1):
        times = []
        for _ in range(rounds):
            calls = max(1, int(2e8 / count))
            start = time.perf_counter()
            for _ in range(calls):
                stoker.limit_copy(sides.pointer(b), sides.pointer(a), count, threads, stream)
            times.append((time.perf_counter() - start) / calls)
        rates.append(2 * count / statistics.median(times))
    return max(rates)


def flop_rate(stoker, threads, rounds):
    steps = 2_000_000
    rates = []
    for _ in range(rounds):
        start = time.perf_counter()
        done = stoker.limit_flops(steps, threads)
        rates.append(done / (time.perf_counter() - start))
    return statistics.median(rates)


class Limits:
    """The machine's limits, measured in this run."""

    def __init__(self, stoker, rounds):
        self.stoker, self.rounds, self.copies = stoker, rounds, {}
        self.flops = {threads: flop_rate(stoker, threads, rounds) for threads in THREADS}

    def copy(self, count, threads):
        """For matrices of about this many bytes each."""
        if (count, threads) not in self.copies:
            self.copies[count, threads] = copy_rate(self.stoker, count, threads, self.rounds)
        return self.copies[count, threads]

    def share(self, milliseconds, moved, largest, flops, threads):
        """What the stricter of both limits would take, as a share of what it took. Methods that need fewer
        operations than the formula has can exceed 1."""
        threads = min(threads, max(THREADS))
        least = max(moved / self.copy(largest, threads), flops / self.flops[threads])
        return 1000 * least / milliseconds


def operands(kind, side, size):
    """Image and kernel. Bytes get weights of which a third is 0 and the sum is small, so that results cut off to bytes
    are not all black or white."""
    generator = np.random.default_rng(side + size)
    image = sides.aligned((side, side), np.float32 if kind == "f32" else np.uint8)
    image[:] = generator.uniform(0, 1, image.shape) if kind == "f32" else generator.integers(0, 256, image.shape)
    kernel = (generator.uniform(-1, 1, (size, size)).astype(np.float32) if kind == "f32" else
              generator.integers(-1, 2, (size, size)).astype(np.int32))
    return image, kernel


def correlation_cells(stoker, options, limits):
    for side in options.sizes:
        for kind in ("f32", "u8", "u8 to i32"):
            for size in options.kernels:
                image, kernel = operands(kind, side, size)
                for threads in options.threads:
                    sides.set_threads(threads)
                    cell = {"kernel": f"correlation {kind}", "image": side, "size": size, "threads": threads}
                    slow = side * side * size * size < 4e8
                    entries = sides.correlation(stoker, kind, image, kernel, threads, slow)
                    # OpenCV's large kernels go through a Fourier transform, in f32.
                    times = measure(cell, entries, options.rounds, 0 if kind == "u8" else 2e-5)
                    out_bytes = 1 if kind == "u8" else 4
                    cell["share"] = limits.share(times["stoker"], side * side * (image.itemsize + out_bytes),
                                                 out_bytes * side * side, 2 * side * side * size * size, threads)
                    yield {**cell, "ms": times}


def sobel_cells(stoker, options, limits):
    generator = np.random.default_rng(2)
    for side in options.sizes:
        for kind in ("f32", "u8"):
            image = sides.aligned((side, side), np.float32 if kind == "f32" else np.uint8)
            image[:] = generator.integers(0, 256, (side, side))
            for threads in options.threads:
                sides.set_threads(threads)
                cell = {"kernel": f"sobel {kind}", "image": side, "size": 3, "threads": threads}
                entries = sides.sobel(stoker, image, threads, side < 1000)
                # 16-bit results are rounded to whole numbers.
                times = measure(cell, entries, options.rounds, 2e-5 if kind == "f32" else 1e-3)
                moved = side * side * (image.itemsize + 4)
                cell["share"] = limits.share(times["stoker"], moved, 4 * side * side, 4 * 9 * side * side, threads)
                yield {**cell, "ms": times}


def maximum_cells(stoker, options, limits):
    generator = np.random.default_rng(3)
    for side in (1000, 4096):
        a, b = (sides.aligned((side, side), np.int32) for _ in range(2))
        a[:], b[:] = generator.integers(0, 256, (2, side, side))
        for threads in (1, 2, 4, 8):
            sides.set_threads(min(threads, os.cpu_count() or 1))
            cell = {"kernel": "maximum i32", "image": side, "size": 0, "threads": threads}
            entries = sides.maximum(stoker, a, b, threads)
            times = measure(cell, entries, options.rounds)
            if threads == 1 and side == 1000:
                out = np.zeros_like(a)
                times["Python, interpreted"] = 1000 * sides.seconds_of(lambda: sides.python_maximum(a, b, out))
                assert (out == np.maximum(a, b)).all()
            cell["share"] = limits.share(times["stoker"], 12 * side * side, 4 * side * side, 0,
                                         min(threads, os.cpu_count() or 1))
            yield {**cell, "ms": times}


def gram_cells(stoker, options, limits):
    generator = np.random.default_rng(4)
    x = sides.aligned((1000, 1000), np.float32)
    x[:] = generator.uniform(-1, 1, x.shape)
    for threads in options.threads:
        sides.set_threads(threads)
        cell = {"kernel": "gram f32", "image": 1000, "size": 0, "threads": threads}
        times = measure(cell, sides.gram(stoker, x, threads), options.rounds, 1e-4)
        best = min(times[name] for name in times if name.startswith("stoker"))
        cell["share"] = limits.share(best, 8e6, 4_000_000, 1e9, threads)
        full = times.get("LibTorch's BLAS, full product")
        if full:
            cell["of_full_product"] = best / full
        yield {**cell, "ms": times}


def verdict(cell):
    """Ours against the best of the others."""
    ours = min(value for name, value in cell["ms"].items() if name.startswith("stoker"))
    others = {name: value for name, value in cell["ms"].items() if not name.startswith("stoker")}
    if not others:
        return ours, "", float("nan")
    best = min(others, key=others.get)
    return ours, best, others[best] / ours


def markdown(report):
    machine = report["machine"]
    lines = [f"{machine['cpu']}, {machine['cpus']} CPUs, kernels `{machine['simd']}`, {report['rounds']} rounds. Limits in "
             f"this run: {machine['gflops']['1']:.0f} / {machine['gflops'].get('2', float('nan')):.0f} GFLOP/s with 1 / 2 "
             "threads; copies " + ", ".join(f"{name} {rate:.1f} GB/s" for name, rate in machine["copies"].items()) + ".", "",
             "| kernel | image | size | threads | ours, ms | share of the limit | best other | it takes | others, ms |",
             "|---|---|---|---|---|---|---|---|---|"]
    for cell in report["cells"]:
        ours, best, ratio = verdict(cell)
        rest = ", ".join(f"{name} {value:.3g}" for name, value in sorted(cell["ms"].items(), key=lambda item: item[1])
                         if name != "stoker")
        size = f"{cell['size']}×{cell['size']}" if cell["size"] else "–"
        lost = "" if ratio >= 1 else " **lost**"
        lines.append(f"| {cell['kernel']} | {cell['image']}² | {size} | {cell['threads']} | {ours:.3g} | "
                     f"{100 * cell['share']:.0f} % | {best} | {ratio:.2f} ×{lost} | {rest} |")
    return "\n".join(lines) + "\n"


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def numbers(text):
    return tuple(int(word) for word in text.split(","))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, default=REPOSITORY / "build/release/lib/libkernels_library.so")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sizes", type=numbers, default=SIZES)
    parser.add_argument("--kernels", type=numbers, default=KERNELS)
    parser.add_argument("--threads", type=numbers, default=THREADS)
    parser.add_argument("--only", default="", help="correlation, sobel, maximum or gram")
    parser.add_argument("--json", type=Path, default=REPOSITORY / "build/bench/kernels.json")
    parser.add_argument("--markdown", type=Path, default=REPOSITORY / "build/bench/kernels.md")
    return parser.parse_args()


def main():
    options = parse()
    if os.getloadavg()[0] > 0.5:
        print(f"warning: the load is {os.getloadavg()[0]:.1f}; figures of a busy machine mean little", file=sys.stderr)
    for missing in sides.MISSING:
        print(f"left out: {missing}", file=sys.stderr)
    stoker = sides.load_stoker(options.library)
    limits = Limits(stoker, options.rounds)
    cells = []
    for name, make in (("correlation", correlation_cells), ("sobel", sobel_cells), ("maximum", maximum_cells),
                       ("gram", gram_cells)):
        if options.only not in ("", name):
            continue
        for cell in make(stoker, options, limits):
            cells.append(cell)
            ours, best, ratio = verdict(cell)
            print(f"{cell['kernel']:16} {cell['image']:5} {cell['size']:3} threads {cell['threads']}: {ours:9.3f} ms, "
                  f"{100 * cell['share']:4.0f} % of the limit, {best} takes {ratio:.2f} times as long", flush=True)
    report = {"machine": {"cpu": cpu_name(), "cpus": os.cpu_count(), "simd": stoker.stoker_simd().decode(),
                          "gflops": {str(threads): rate / 1e9 for threads, rate in limits.flops.items()},
                          "copies": {f"{count / 1e6:.0f} MB, {threads} thread(s):": rate / 1e9
                                     for (count, threads), rate in sorted(limits.copies.items())}},
              "rounds": options.rounds, "cells": cells}
    for path, text in ((options.json, json.dumps(report, indent=1) + "\n"), (options.markdown, markdown(report))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{options.json}, {options.markdown}")


if __name__ == "__main__":
    main()
