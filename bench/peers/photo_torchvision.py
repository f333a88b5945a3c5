"""Side t: torchvision in a DataLoader, with Pillow and with its own decoder."""

import torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

from .photo_loader import LoaderSide
from .photos import AREA, DEVIATION, MEAN, RATIO, SIDE


def transform(*to_tensor):
    return v2.Compose(
        [
            v2.RandomResizedCrop(SIDE, scale=AREA, ratio=RATIO, antialias=True),
            v2.RandomHorizontalFlip(0.5),
            *to_tensor,
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN.tolist(), DEVIATION.tolist(), inplace=True),
        ]
    )


class WithPillow(LoaderSide):
    letter = "t"
    name = "torchvision v2, Pillow"
    antialias = "on"
    asked = 3.5

    def make_load(self):
        change = transform(v2.PILToTensor())

        def load(path):
            with Image.open(path) as image:
                return change(image.convert("RGB"))

        return load


class WithDecodeJpeg(LoaderSide):
    letter = "t"
    name = "torchvision v2, decode_jpeg"
    antialias = "on"
    asked = 2

    def make_load(self):
        change = transform()
        return lambda path: change(decode_jpeg(read_file(path), mode=ImageReadMode.RGB))


SIDES = [WithPillow, WithDecodeJpeg]
