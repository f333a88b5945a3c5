"""Side a: Albumentations on single 28x28 images in a DataLoader.

Its Affine shears about the middle row, where the policy leaves the top row in place; one shear more
or less in the shift makes up for it, as in torchvision_loader.py. Noise is NumPy's: it has only
Gaussian noise and noise of one value a channel.
"""

import os

os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")  # it would ask the network at its import

import albumentations as A  # noqa: E402
import cv2  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

from .policy import ANGLE, NOISE, SHIFT, TILT  # noqa: E402
from .side import Side  # noqa: E402

SHEAR = float(np.degrees(np.arctan(TILT)))


class Images(Dataset):
    def __init__(self, images):
        self.images, self.rng = images, None
        shear = {"x": (-SHEAR, SHEAR), "y": (0, 0)}
        shift = {"x": (-SHIFT, SHIFT), "y": (-SHIFT, SHIFT)}
        linear = cv2.INTER_LINEAR
        self.change = A.Affine(rotate=(-ANGLE, ANGLE), translate_px=shift, shear=shear, interpolation=linear, p=1)

    def __getitem__(self, index):
        if self.rng is None:
            self.rng = np.random.default_rng()
        image = self.change(image=self.images[index])["image"] * np.float32(1 / 255)
        image += self.rng.uniform(-NOISE, NOISE, image.shape).astype(np.float32)
        return torch.from_numpy(np.clip(image, 0, 1, out=image)).unsqueeze(0)


class Albumentations(Side):
    letter = "a"
    name = "Albumentations"

    def start(self, workers):
        self.workers, self.dataset = workers, Images(self.context.images)

    def batches(self, index_batches):
        yield from DataLoader(
            self.dataset,
            batch_sampler=index_batches,
            num_workers=self.workers,
            worker_init_fn=lambda worker: cv2.setNumThreads(0),
            multiprocessing_context="fork",
        )


SIDES = [Albumentations]
