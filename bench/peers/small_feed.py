"""Side s: Stoker's feed in Python, `stoker.Feed`, on 28x28 images."""

import importlib.util
import os

import numpy as np

from .data import DEBIAN_DATASETS
from .side import BATCH, Side


class StokerFeed(Side):
    letter = "s"
    name = "Stoker, torch tensors"
    framework = "torch"

    def missing(self):
        found = importlib.util.find_spec("stoker") and importlib.util.find_spec("stoker._feed")
        return None if found else "the extension stoker._feed is not built or not on the path"

    def start(self, workers):
        self.workers = workers
        if self.context.data_root != DEBIAN_DATASETS:
            os.environ["STOKER_DATA"] = str(self.context.data_root)

    def feed(self, **options):
        import stoker

        name = self.context.data_name
        return stoker.Feed(name, augment="mnist", workers=self.workers, framework=self.framework, **options)

    def endless(self):
        feed = self.feed(batch_size=BATCH, seed=1, drop_last=True)
        while True:
            for images, _ in feed:
                yield images

    def images(self, n):
        (images, _) = next(iter(self.feed(batch_size=n, shuffle=False)))
        return np.array(images)


class StokerNumpy(StokerFeed):
    name = "Stoker, NumPy arrays"
    framework = "numpy"


SIDES = [StokerFeed, StokerNumpy]
