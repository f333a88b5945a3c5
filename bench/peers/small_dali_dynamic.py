"""Side i: NVIDIA DALI on the CPU in its imperative (dynamic) mode, 28x28 images, matrices from NumPy."""

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
from nvidia.dali import types

from .dali import numpy_matrices
from .policy import NOISE
from .side import Side


class DaliDynamic(Side):
    letter = "i"
    name = "NVIDIA DALI, CPU, dynamic mode"
    asked = 20

    def start(self, workers):
        self.workers = workers
        ndd.set_num_threads(workers)

    def batches(self, index_batches):
        rng = np.random.default_rng()
        for indices in index_batches:
            n = len(indices)
            images = ndd.as_batch(self.context.images[indices][..., np.newaxis], layout="HWC")
            warped = ndd.warp_affine(
                images,
                matrix=ndd.as_batch(numpy_matrices(rng, n)),
                inverse_map=True,
                interp_type=types.INTERP_LINEAR,
                fill_value=0,
                dtype=ndd.float32,
            )
            noise = ndd.random.uniform(warped, range=[-NOISE, NOISE], batch_size=n)
            clipped = ndd.math.clamp(warped * np.float32(1 / 255) + noise, np.float32(0), np.float32(1))
            yield ndd.reshape(clipped, shape=[1, 28, 28], layout="CHW").torch()


SIDES = [DaliDynamic]
