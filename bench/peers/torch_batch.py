"""Side d: whole batches in PyTorch, every sample with its own parameters.

Two variants: affine_grid + grid_sample as everybody writes it, and the same with the grid made by
one matrix product for the whole batch, which is the fastest form of it that we found. Each may
choose its batch size and how it uses its workers.
"""

import collections
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from .policy import ANGLE, CENTRE, NOISE, SHIFT, SIDE, TILT
from .side import Side


def source_maps(n, generator):
    """policy.source_maps in torch, and in grid_sample's units: half an image is 1. [n, 2, 3]"""
    u = torch.rand(4, n, generator=generator).mul_(2.0).sub_(1.0)
    angle, tilt = u[0] * math.radians(ANGLE), u[1] * TILT
    dx, dy = (u[2] * SHIFT + tilt * CENTRE) * (2 / SIDE), u[3] * (2 * SHIFT / SIDE)
    cos, sin = angle.cos(), angle.sin()
    row_x = [cos, cos * tilt - sin, cos * dx - sin * dy]
    row_y = [sin, sin * tilt + cos, sin * dx + cos * dy]
    return torch.stack(row_x + row_y, dim=1).view(n, 2, 3)


def library_grid(maps):
    return F.affine_grid(maps, (len(maps), 1, SIDE, SIDE), align_corners=False)


class ProductGrid:
    """affine_grid multiplies [784, 3] by [3, 2] once per sample; this multiplies once per batch."""

    def __init__(self):
        at = (torch.arange(SIDE) * 2.0 + 1.0) / SIDE - 1.0
        x, y = at.expand(SIDE, SIDE), at[:, None].expand(SIDE, SIDE)
        self.points = torch.stack([x, y, torch.ones(SIDE, SIDE)]).view(3, SIDE * SIDE)

    def __call__(self, maps):
        grid = torch.mm(maps.view(-1, 3), self.points)
        return grid.view(len(maps), 2, SIDE, SIDE).permute(0, 2, 3, 1)


class Batches(Dataset):
    """dataset[indices] is the whole augmented batch."""

    def __init__(self, images, grid):
        self.images = torch.from_numpy(images).unsqueeze(1)
        self.grid = grid
        self.local = threading.local()

    def __getitem__(self, indices):
        generator = self._generator()
        images = self.images.index_select(0, torch.as_tensor(indices)).mul(1 / 255)
        grid = self.grid(source_maps(len(images), generator))
        out = F.grid_sample(images, grid, "bilinear", "zeros", align_corners=False)
        noise = torch.empty_like(out).uniform_(-NOISE, NOISE, generator=generator)
        return out.add_(noise).clamp_(0.0, 1.0)

    def _generator(self):
        """One per thread: torch's default generator is behind a lock."""
        if not hasattr(self.local, "generator"):
            self.local.generator = torch.Generator()
            self.local.generator.seed()
        return self.local.generator


class TorchBatch(Side):
    letter = "d"
    asked = 5
    make_grid = None

    def settings(self, workers):
        # With one worker a thread of ours is the same as torch's own.
        modes = ["torch threads", "loader"] + (["own threads"] if workers > 1 else [])
        return [{"mode": mode, "batch": batch} for mode in modes for batch in (64, 256, 1024)]

    def start(self, workers, mode="torch threads", batch=64):
        self.workers, self.mode, self.batch = workers, mode, batch
        torch.set_num_threads(workers if mode == "torch threads" else 1)
        self.dataset = Batches(self.context.images, self.make_grid())

    def batches(self, index_batches):
        modes = {"loader": self._loader, "own threads": self._own_threads}
        return modes.get(self.mode, self._torch_threads)(index_batches)

    def _torch_threads(self, index_batches):
        return (self.dataset[indices] for indices in index_batches)

    def _loader(self, index_batches):
        options = {"batch_size": None, "num_workers": self.workers}
        yield from DataLoader(
            self.dataset, sampler=index_batches, multiprocessing_context="fork", **options
        )

    def _own_threads(self, index_batches):
        one_each = {"initializer": torch.set_num_threads, "initargs": (1,)}
        with ThreadPoolExecutor(self.workers, **one_each) as pool:
            under_way = collections.deque()
            for indices in index_batches:
                under_way.append(pool.submit(self.dataset.__getitem__, indices))
                if len(under_way) > 2 * self.workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()


class LibraryGrid(TorchBatch):
    name = "torch batch, affine_grid + grid_sample"
    make_grid = staticmethod(lambda: library_grid)


class OneProduct(TorchBatch):
    name = "torch batch, one product + grid_sample"
    make_grid = staticmethod(ProductGrid)


SIDES = [LibraryGrid, OneProduct]
