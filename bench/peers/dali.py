"""Side c: an NVIDIA DALI pipeline on the CPU: warp_affine with a matrix per sample, then noise."""

import numpy as np
from nvidia.dali import fn, math, pipeline_def, types

from .policy import ANGLE, NOISE, SHIFT, SIDE, TILT, source_maps
from .side import Side

CENTRE = SIDE / 2  # DALI has pixel centres at halves


def numpy_matrices(rng, n):
    """One [2, 3] matrix per sample, computed for the whole batch at once."""
    linear, offset = source_maps(rng, n)
    centre = np.full(2, CENTRE, np.float32)
    return np.concatenate([linear, (offset + centre - linear @ centre)[:, :, np.newaxis]], axis=2)


def dali_matrices():
    """The same from DALI's own operators. They apply in the order written."""
    centre = [CENTRE, CENTRE]
    tilt = fn.stack(fn.random.uniform(range=[-TILT, TILT]), np.float32(0.0))
    matrix = fn.transforms.shear(shear=tilt, center=[CENTRE, 0.5])  # the top row stays
    shift = fn.random.uniform(range=[-SHIFT, SHIFT], shape=[2])
    matrix = fn.transforms.translation(matrix, offset=shift)
    angle = fn.random.uniform(range=[-ANGLE, ANGLE])
    return fn.transforms.rotation(matrix, angle=angle, center=centre)


def batch_source(images, index_batches, with_matrices):
    rng = np.random.default_rng()
    for indices in index_batches:
        batch = images[indices][..., np.newaxis]
        if with_matrices:
            yield batch, numpy_matrices(rng, len(indices))
        else:
            yield (batch,)


@pipeline_def
def feed(source, with_matrices):
    inputs = fn.external_source(source, num_outputs=2 if with_matrices else 1, batch=True)
    warped = fn.warp_affine(
        inputs[0],
        matrix=inputs[1] if with_matrices else dali_matrices(),
        inverse_map=True,  # the matrices lead from output to source
        interp_type=types.INTERP_LINEAR,
        fill_value=0,
        dtype=types.FLOAT,
    )
    noise = fn.random.uniform(warped, range=[-NOISE, NOISE])
    clipped = math.clamp(warped * np.float32(1 / 255) + noise, np.float32(0), np.float32(1))
    return fn.reshape(clipped, shape=[1, SIDE, SIDE], layout="CHW")


class Dali(Side):
    letter = "c"
    name = "NVIDIA DALI, CPU"
    asked = 20

    def settings(self, workers):
        return [
            {"batch": batch, "matrices": matrices}
            for batch in (64, 256)
            for matrices in ("numpy", "dali")
        ]

    def start(self, workers, batch=64, matrices="numpy"):
        self.workers, self.batch, self.with_matrices = workers, batch, matrices == "numpy"

    def batches(self, index_batches):
        source = batch_source(self.context.images, index_batches, self.with_matrices)
        options = {"batch_size": self.batch, "num_threads": self.workers, "device_id": None}
        pipeline = feed(source, self.with_matrices, **options)
        pipeline.build()
        while True:
            try:
                (batch,) = pipeline.run()
            except StopIteration:
                return
            yield batch.as_array()  # a view: DALI is not charged for a copy


SIDES = [Dali]
