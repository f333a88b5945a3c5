"""Side d: an NVIDIA DALI pipeline on the CPU that decodes only the part that was drawn."""

from nvidia.dali import fn, pipeline_def, types

from .photos import AREA, DEVIATION, MEAN, RATIO, SIDE, NativeSide
from .side import BATCH


@pipeline_def
def feed(files, shuffled, antialias):
    jpegs, _ = fn.readers.file(files=files, random_shuffle=shuffled, name="reader")
    images = fn.decoders.image_random_crop(
        jpegs, output_type=types.RGB, random_area=AREA, random_aspect_ratio=RATIO
    )
    linear = types.INTERP_LINEAR
    images = fn.resize(images, size=[SIDE, SIDE], interp_type=linear, antialias=antialias)
    return fn.crop_mirror_normalize(
        images,
        mean=(MEAN * 255).tolist(),
        std=(DEVIATION * 255).tolist(),
        mirror=fn.random.coin_flip(),
        dtype=types.FLOAT,
        output_layout="CHW",
    )


class Dali(NativeSide):
    letter = "d"
    name = "NVIDIA DALI, CPU"
    antialias, like = "on", "antialiased"
    asked = 2

    def stream(self, files, shuffled):
        options = {"batch_size": BATCH, "num_threads": self.workers, "device_id": None}
        pipeline = feed(files, shuffled, antialias=self.antialias == "on", **options)
        pipeline.build()
        given = 0
        while shuffled or given < len(files):
            (batch,) = pipeline.run()
            given += BATCH
            yield batch.as_array()  # a view: DALI is not charged for a copy


class DaliPlain(Dali):
    name = "NVIDIA DALI, CPU, antialias=False"
    antialias, like = "off", "plain"
    asked = 1.7


SIDES = [Dali, DaliPlain]
