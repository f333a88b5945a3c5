"""Side s: Stoker's feed in Python, `stoker.Feed`; torch tensors, and NumPy arrays without torch."""

import importlib.util

import numpy as np

from .photos import DEVIATION, MEAN, PhotoSide
from .side import BATCH


class StokerFeed(PhotoSide):
    letter = "s"
    name = "Stoker, torch tensors"
    antialias, like = "on", "antialiased"
    framework = "torch"
    more = {}

    def missing(self):
        found = importlib.util.find_spec("stoker") and importlib.util.find_spec("stoker._feed")
        return None if found else "the extension stoker._feed is not built or not on the path"

    def feed(self, folder, **options):
        import stoker  # in the measured process only: it starts threads

        return stoker.Feed(
            folder,
            augment="imagenet-train",
            batch_size=BATCH,
            workers=self.workers,
            mean=tuple(map(float, MEAN)),
            std=tuple(map(float, DEVIATION)),
            framework=self.framework,
            **self.more,
            **options,
        )

    def endless(self):
        feed = self.feed(str(self.context.folder), seed=1, drop_last=True)
        while True:
            for images, _ in feed:
                yield images

    def images(self, n):
        """Every photograph in turn; each epoch draws other parts."""
        feed, done = self.feed(str(self.context.once_folder), shuffle=False), []
        while sum(map(len, done)) < n:
            done += [np.array(images) for images, _ in feed]
        return np.concatenate(done)[:n]


class StokerNumpy(StokerFeed):
    name = "Stoker, NumPy arrays"
    framework = "numpy"


class StokerPlain(StokerFeed):
    name = "Stoker, antialias=False"
    antialias, like = "off", "plain"
    more = {"antialias": False}


SIDES = [StokerFeed, StokerNumpy, StokerPlain]
