#!/usr/bin/env python3
"""Correlation with a large kernel by LibTorch's Fourier transforms, in tiles, beside Stoker's direct loop.

Whole numbers in float32: the loop is exact, and the largest error of the transforms is printed. Sides take turns; medians.
Exit status: 0 measured, 1 Stoker's result is not exact.
"""

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np
import torch

from peers import kernel_sides as sides

REPOSITORY = Path(__file__).resolve().parent.parent
TILE = 256


def by_transform(image, kernel):
    side, size = image.shape[0], kernel.shape[0]
    step = TILE - size + 1
    count = (side + step - 1) // step
    before = size // 2
    after = count * step + size - 1 - side - before
    tiles = torch.nn.functional.pad(image, (before, after, before, after)).unfold(0, TILE, step).unfold(1, TILE, step)
    products = torch.fft.rfft2(tiles) * torch.fft.rfft2(kernel, s=(TILE, TILE)).conj()
    results = torch.fft.irfft2(products, s=(TILE, TILE))[..., :step, :step]
    return results.permute(0, 2, 1, 3).reshape(count * step, count * step)[:side, :side]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, default=REPOSITORY / "build/release/lib/libkernels_library.so")
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--size", type=int, default=31)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    stoker = sides.load_stoker(options.library)
    generator = np.random.default_rng(options.size)
    image = generator.integers(0, 256, (options.side, options.side)).astype(np.float32)
    kernel = generator.integers(-8, 9, (options.size, options.size)).astype(np.float32)
    out = np.empty_like(image)
    pointers = [sides.pointer(array) for array in (out, image, kernel)]
    whole, weights = torch.from_numpy(image), torch.from_numpy(kernel)

    def ours(threads):
        stoker.stoker_correlate_f32(pointers[0], pointers[1], options.side, options.side, pointers[2], options.size, threads)

    ours(1)
    corner = 512
    exact = torch.nn.functional.conv2d(whole[None, None, :corner, :corner].double(), weights[None, None].double())[0, 0]
    inside = (slice(options.size // 2, corner - options.size // 2),) * 2
    if not torch.equal(torch.from_numpy(out)[inside].double(), exact):
        sys.exit("Stoker's result is not exact")
    error = (by_transform(whole, weights)[inside].double() - exact).abs().max().item()
    print(f"largest error of the transforms: {error:.3f}, of results up to {exact.abs().max().item():,.0f}\n")
    print("| threads | Stoker, ms | LibTorch's transforms, ms | they take |\n|---|---|---|---|")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        times = [(sides.seconds_of(lambda: ours(threads)), sides.seconds_of(lambda: by_transform(whole, weights)))
                 for _ in range(options.rounds)]
        loop, transforms = (statistics.median(side) for side in zip(*times))
        print(f"| {threads} | {1000 * loop:.0f} | {1000 * transforms:.0f} | {transforms / loop:.2f} × |")


if __name__ == "__main__":
    main()
