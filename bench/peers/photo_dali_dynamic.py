"""Side i: NVIDIA DALI on the CPU in its imperative (dynamic) mode: operators are called one by one.

With `capture` it makes a pipeline of the calls that it has seen, which prefetches.
"""

import nvidia.dali.experimental.dynamic as ndd
from nvidia.dali import types

from .photos import AREA, DEVIATION, MEAN, RATIO, SIDE, NativeSide
from .side import BATCH


class DaliDynamic(NativeSide):
    letter = "i"
    name = "NVIDIA DALI, CPU, dynamic mode"
    antialias, like = "on", "antialiased"
    asked = 2

    def settings(self, workers):
        return [{"capture": False}, {"capture": True}]

    def start(self, workers, capture=False):
        super().start(workers)
        self.capture = capture
        ndd.set_num_threads(workers)

    def stream(self, files, shuffled):
        reader = ndd.readers.File(files=files, random_shuffle=shuffled)
        mean, std = (MEAN * 255).tolist(), (DEVIATION * 255).tolist()
        while True:
            for jpegs, _ in reader.next_epoch(batch_size=BATCH, capture=self.capture):
                images = ndd.decoders.image_random_crop(
                    jpegs, output_type=types.RGB, random_area=AREA, random_aspect_ratio=RATIO, device="cpu"
                )
                images = ndd.resize(images, size=[SIDE, SIDE], interp_type=types.INTERP_LINEAR, antialias=True)
                mirror = ndd.random.coin_flip(batch_size=jpegs.batch_size)
                images = ndd.crop_mirror_normalize(
                    images, mean=mean, std=std, mirror=mirror, dtype=ndd.float32, output_layout="CHW"
                )
                yield images.torch()
            if not shuffled:
                return


SIDES = [DaliDynamic]
