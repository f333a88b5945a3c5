"""Side s: Stoker itself, `stoker bench feed`."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .data import DEBIAN_DATASETS
from .side import BATCH, Side


class Stoker(Side):
    letter = "s"
    name = "Stoker"

    def missing(self):
        program = self.context.stoker
        return None if program.is_file() else f"{program} is not built (see --stoker)"

    def start(self, workers):
        self.workers = workers
        self._feed(epochs=1)  # the program and the data are in the page cache from here on

    def run(self, seconds):
        """The program times itself, without its start; --stoker-epochs sets how long it runs."""
        report = self._feed(epochs=self.context.stoker_epochs)
        self.notes = {k: report[k] for k in ("digest", "wait_share", "workers", "simd")}
        return float(report["samples_per_second"])

    def pictures(self, n):
        """The first n pictures, as the other sides show them."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "batch.npy"
            extra = ["--no-shuffle", "--save-batch", str(file), *self.context.stoker_picture_args]
            self._feed(epochs=1, batch=n, extra=extra)
            return np.load(file)

    def _feed(self, epochs, batch=BATCH, extra=()):
        command = [str(self.context.stoker), "bench", "feed", "--data", self.context.data_name]
        command += ["--aa", "mnist", "--epochs", str(epochs), "--workers", str(self.workers)]
        command += ["--batch-size", str(batch), "--json", *extra]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment())
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)

    def _environment(self):
        """Both read the same files; Stoker finds Debian's by itself."""
        root = self.context.data_root
        return os.environ | ({} if root == DEBIAN_DATASETS else {"STOKER_DATA": str(root)})


SIDES = [Stoker]
