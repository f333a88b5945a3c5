"""Side o: OpenCV in a DataLoader.

INTER_LINEAR does not antialias. INTER_AREA averages all pixels under the new one when it shrinks,
which is an antialiasing with a box; it is compared with Stoker's antialiased rate.
"""

import cv2
import numpy as np
import torch

from .opencv_load import load_into
from .photo_loader import LoaderSide
from .photos import SIDE


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
