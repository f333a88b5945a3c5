"""Side s: Stoker itself, `stoker bench feed`."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .data import DEBIAN_DATASETS
from .side import BATCH, Side


class Program(Side):
    """Runs `stoker bench feed`. A subclass says on which data and how."""

    letter = "s"
    name = "Stoker"
    policy = ""

    def missing(self):
        program = self.context.stoker
        return None if program.is_file() else f"{program} is not built (see --stoker)"

    def start(self, workers):
        self.workers = workers

    def first_batch(self, data, batch, extra):
        """Its pixels, in the data's order."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "batch.npy"
            self.feed(data, 1, batch, ["--no-shuffle", "--save-batch", str(file), *extra])
            return np.load(file)

    def feed(self, data, epochs, batch=BATCH, extra=()):
        command = [str(self.context.stoker), "bench", "feed", "--data", str(data)]
        command += ["--aa", self.policy, "--epochs", str(epochs), "--workers", str(self.workers)]
        command += ["--batch-size", str(batch), "--json", *extra]
        return json.loads(self.call(command))

    def call(self, command):
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment())
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def environment(self):
        return os.environ


class Stoker(Program):
    policy = "mnist"

    def start(self, workers):
        super().start(workers)
        # The program and the data are in the page cache from here on.
        self.feed(self.context.data_name, epochs=1)

    def run(self, seconds):
        """The program times itself, without its start; --stoker-epochs sets how long it runs."""
        report = self.feed(self.context.data_name, self.context.stoker_epochs)
        self.notes = {k: report[k] for k in ("digest", "wait_share", "workers", "simd")}
        return float(report["samples_per_second"])

    def images(self, n):
        """The first n images, as the other sides show them."""
        return self.first_batch(self.context.data_name, n, self.context.stoker_image_args)

    def environment(self):
        """Both read the same files; Stoker finds Debian's by itself."""
        root = self.context.data_root
        return os.environ | ({} if root == DEBIAN_DATASETS else {"STOKER_DATA": str(root)})


SIDES = [Stoker]
