"""Side s: Stoker itself, `stoker bench feed` on an image folder."""

import resource

import numpy as np

from .photos import DEVIATION, MEAN
from .stoker import Program


class Stoker(Program):
    name = "Stoker"
    policy = "imagenet-train"
    antialias, like = "on", "antialiased"
    extra = ()

    def start(self, workers):
        super().start(workers)
        # Bytes become floats by one product and one sum in any case; only the numbers differ.
        self.normalises = "--mean" in self.call([str(self.context.stoker), "bench", "feed", "-h"])

    def flags(self):
        if not self.normalises:
            return [*self.extra]
        words = [["--mean", *map(str, MEAN)], ["--std", *map(str, DEVIATION)]]
        return [*self.extra, *words[0], *words[1]]

    def run(self, seconds):
        """The program times itself, without its start; --stoker-epochs sets how long it runs.

        CPU seconds are the difference to a run of one batch, so that the start cancels.
        """
        short, short_cpu = self.with_cpu(1, ["--batches-per-epoch", "1"])
        long, long_cpu = self.with_cpu(self.context.stoker_epochs, [])
        cpu = (long_cpu - short_cpu) / (long["samples"] - short["samples"])
        kept = ("wait_share", "workers", "simd", "samples", "seconds", "stages", "antialias")
        self.notes = {key: long[key] for key in kept} | {"cpu_seconds_per_1000": 1000 * cpu}
        return float(long["samples_per_second"])

    def with_cpu(self, epochs, extra):
        before = children_cpu_seconds()
        extra = ["--no-digest", *self.flags(), *extra]
        report = self.feed(self.context.folder, epochs, extra=extra)
        return report, children_cpu_seconds() - before

    def images(self, n):
        """Every photograph in turn, as the other sides show them; each turn with its own seed."""
        once, done = len(self.context.once), []
        for seed in range(-(-n // once)):
            extra = ["--no-digest", "--seed", str(seed), *self.flags()]
            done.append(self.first_batch(self.context.once_folder, once, extra))
        images = np.concatenate(done)[:n]
        if self.normalises:
            return images
        return (images - MEAN[:, None, None]) / DEVIATION[:, None, None]


class WithoutAntialias(Stoker):
    name = "Stoker, --no-antialias"
    antialias, like = "off", "plain"
    extra = ("--no-antialias",)


def children_cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


SIDES = [Stoker, WithoutAntialias]
