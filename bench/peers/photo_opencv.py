"""Side o: OpenCV in a DataLoader.

INTER_LINEAR does not antialias. INTER_AREA averages all pixels under the new one when it shrinks,
which is an antialiasing with a box; it is compared with Stoker's antialiased rate.
"""

import random

import cv2
import numpy as np
import torch

from .photo_loader import LoaderSide
from .photos import FACTOR, OFFSET, SIDE, crop_box


def load_into(out, path, interpolation):
    """out: float32 [3, 224, 224]."""
    image = cv2.imread(path, cv2.IMREAD_COLOR)
    top, left, h, w = crop_box(*image.shape[:2])
    part = image[top : top + h, left : left + w]
    part = cv2.resize(part, (SIDE, SIDE), interpolation=interpolation)
    if random.random() < 0.5:
        part = cv2.flip(part, 1)
    for channel in range(3):
        plane = out[channel]
        np.multiply(part[..., 2 - channel], FACTOR[channel], out=plane)  # from blue, green, red
        plane += OFFSET[channel]


class OpenCv(LoaderSide):
    letter = "o"
    name = "OpenCV, INTER_LINEAR"
    antialias, like = "off", "plain"
    asked = 1.7
    interpolation = cv2.INTER_LINEAR

    def init_worker(self, worker):
        cv2.setNumThreads(0)  # in the worker itself

    def make_load(self):
        def load(path):
            out = np.empty((3, SIDE, SIDE), np.float32)
            load_into(out, path, self.interpolation)
            return torch.from_numpy(out)

        return load


class OpenCvArea(OpenCv):
    name = "OpenCV, INTER_AREA"
    antialias, like = "box", "antialiased"
    asked = 2
    interpolation = cv2.INTER_AREA


SIDES = [OpenCv, OpenCvArea]
