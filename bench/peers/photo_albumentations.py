"""Side a: Albumentations in a DataLoader, with OpenCV's decoder."""

import os

os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")  # it would ask the network at its import

import albumentations as A  # noqa: E402
import cv2  # noqa: E402
from albumentations.pytorch import ToTensorV2  # noqa: E402

from .photo_loader import LoaderSide  # noqa: E402
from .photos import AREA, DEVIATION, MEAN, RATIO, SIDE  # noqa: E402


class Albumentations(LoaderSide):
    letter = "a"
    name = "Albumentations"
    antialias, like = "off", "plain"
    asked = 1.7

    def init_worker(self, worker):
        cv2.setNumThreads(0)  # in the worker itself

    def make_load(self):
        linear = cv2.INTER_LINEAR
        crop = A.RandomResizedCrop((SIDE, SIDE), scale=AREA, ratio=RATIO, interpolation=linear)
        normalise = A.Normalize(MEAN.tolist(), DEVIATION.tolist())
        change = A.Compose([crop, A.HorizontalFlip(p=0.5), normalise, ToTensorV2()])

        def load(path):
            image = cv2.cvtColor(cv2.imread(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
            return change(image=image)["image"]

        return load


SIDES = [Albumentations]
