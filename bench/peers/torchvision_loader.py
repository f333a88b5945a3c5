"""Side b: torchvision.transforms.v2 on single images in a DataLoader.

RandomAffine draws a shear angle where the policy draws a tilt, and rounds its shift to whole
pixels; the amount of work is the same.
"""

import math

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import InterpolationMode, v2

from .policy import ANGLE, CENTRE, NOISE, SHIFT, SIDE, TILT
from .side import Side


def add_noise(image):
    return image.add_(torch.empty_like(image).uniform_(-NOISE, NOISE)).clamp_(0.0, 1.0)


class AffineFromTheTop(v2.RandomAffine):
    """RandomAffine shears about the middle row; the policy leaves the top row in place."""

    def make_params(self, flat_inputs):
        params = super().make_params(flat_inputs)
        across, down = params["translate"]
        tilt = math.tan(math.radians(params["shear"][0]))
        params["translate"] = (across - tilt * CENTRE, down)
        return params


def transform(kind):
    shear = math.degrees(math.atan(TILT))
    affine = AffineFromTheTop(
        ANGLE,
        translate=(SHIFT / SIDE, SHIFT / SIDE),
        shear=(-shear, shear),
        interpolation=InterpolationMode.BILINEAR,
    )
    to_float = v2.ToDtype(torch.float32, scale=True)
    if kind == "PIL":
        return v2.Compose([affine, v2.PILToTensor(), to_float, add_noise])
    # Floats first: the warp would otherwise convert to float and back by itself.
    return v2.Compose([to_float, affine, add_noise])


class Images(Dataset):
    def __init__(self, images, kind):
        self.images = images if kind == "PIL" else torch.from_numpy(images).unsqueeze(1)
        self.load = Image.fromarray if kind == "PIL" else lambda image: image
        self.transform = transform(kind)

    def __getitem__(self, index):
        return self.transform(self.load(self.images[index]))


class TorchvisionLoader(Side):
    letter = "b"
    name = "torchvision v2 per sample"
    asked = 100
    loader = DataLoader

    def settings(self, workers):
        return [{"kind": "tensor"}, {"kind": "PIL"}]

    def start(self, workers, kind="tensor"):
        self.workers = workers
        self.dataset = Images(self.context.images, kind)

    def batches(self, index_batches):
        loader = self.loader(
            self.dataset,
            batch_sampler=index_batches,
            num_workers=self.workers,
            multiprocessing_context="fork",
        )
        yield from loader  # its workers end with the iterator


SIDES = [TorchvisionLoader]
