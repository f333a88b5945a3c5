"""A photograph with OpenCV's functions; needs no torch, as sides without it share it."""

import random

import cv2
import numpy as np

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
