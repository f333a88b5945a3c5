#!/usr/bin/env python3
"""A model of training speed from five measured constants, checked against twelve runs.

The constants, of this machine, these photographs and each network: seconds of a core to read, decode and frame an image; to augment one
(a warp and noise); to train on one with one thread, at 96x96; the bytes a second of a store; the bytes a second that ranks sum.

The model, for R ranks, each with W workers and T compute threads, on C cores. A sample takes the longest of

    train x (side / 96)^2 / T / R             compute
    (decode + augment) / W / R                the feed
    (train + decode + augment) / C            all cores together
    bytes / store                             the store

and, with ranks, the time of a sum of the gradients on top, divided by the samples of a step.

What it leaves out: gains of larger images and batches for kernels, losses of several threads, sums that hide behind the backward pass.
Exit status: 0 measured, 1 a run failed.
"""

import argparse
import csv
import dataclasses
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))
STOKER = os.environ.get("STOKER", str(REPOSITORY / "build/release/stoker"))
PHOTOS = Path(os.environ.get("STOKER_TEST_DATA") or REPOSITORY.parent / "shared/data") / "photos"
SIDE = 96  # at which networks are measured
HEAVY = "rotate(-15,15),noise(0.1)"
STORE_SPEED = 20e6
MLP = "mlp:27648,16,2"  # takes next to no time


@dataclasses.dataclass
class Run:
    model: str
    side: int = SIDE
    workers: int = 2
    threads: int = 2
    ranks: int = 1
    heavy: bool = False
    store: bool = False
    batch: int = 16

    def name(self):
        words = [self.model.split(":")[0] if self.model == MLP else self.model, f"{self.side}²", f"{self.workers} workers",
                 f"{self.threads} threads", *([f"{self.ranks} ranks"] if self.ranks > 1 else []), *(["warp and noise"] if self.heavy else []),
                 *(["from a store of 20 MB/s"] if self.store else [])]
        return ", ".join(words)


RUNS = [Run("resnet18", threads=2), Run("resnet18", side=160, threads=1, workers=1), Run("resnet18", side=224),
        Run("mobilenet_v2", side=160), Run("mobilenet_v2", threads=1, side=128), Run("cnn:small"), Run("cnn:small", workers=1, threads=1),
        Run(MLP, workers=1, threads=1), Run(MLP), Run(MLP, heavy=True), Run(MLP, store=True), Run("resnet18", ranks=2, workers=1, threads=1)]


def policy(run):
    return f"random_resized_crop({run.side})" + ("," + HEAVY if run.heavy else "")


class Bench:
    def __init__(self, folder, images):
        self.folder, self.count = folder, 0
        paths = sorted(PHOTOS.glob("*.JPEG"))
        for number in range(images):
            link = folder / "photos" / str(number % 2) / f"{number}.jpg"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(paths[number % len(paths)])
        for number in range(2):
            (folder / "val" / str(number)).mkdir(parents=True)
            (folder / "val" / str(number) / "0.jpg").symlink_to(paths[number])
        subprocess.run([STOKER, "shard", folder / "photos", "--out", folder / "shards", "--shard-size", "2MB"], check=True, capture_output=True)
        self.images = images
        self.bytes = sum(path.stat().st_size for path in (folder / "shards").glob("*.tar")) / images

    def feed(self, aa):
        """Seconds of a core to make a sample: reading and all the rest."""
        done = subprocess.run([STOKER, "bench", "feed", "--json", "--no-digest", "--data", self.folder / "photos", "--aa", aa, "-b", "16",
                               "-j", "1", "--epochs", "2"], capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        each = result["seconds"] / result["samples"]
        stages = result["stages"]
        return each * stages["read"], each * (stages["augment"] + stages["write"])

    def train(self, run, batches, data=None):
        """The rows of timing.csv and ranks.csv of a second epoch, when everything is warm."""
        self.count += 1
        out = self.folder / "runs" / str(self.count)
        words = [STOKER, "train", data or self.folder / "photos", "--val-data", self.folder / "val", "--model", run.model, "--aa", policy(run),
                 "-b", run.batch * run.ranks, "-j", run.workers, "--threads", run.threads, "--epochs", 2, "--batches-per-epoch", batches,
                 "--no-report", "--checkpoint-every", "100epochs", "--output", out.parent, "--experiment", out.name]
        if run.store:
            words += ["--cache-dir", self.folder / f"cache{self.count}", "--cache-size", "40MB"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        processes = []
        for rank in range(run.ranks):
            launcher = {} if run.ranks == 1 else {"RANK": str(rank), "WORLD_SIZE": str(run.ranks), "LOCAL_RANK": str(rank),
                                                  "LOCAL_WORLD_SIZE": str(run.ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            processes.append(subprocess.Popen([str(word) for word in words], env={**os.environ, **launcher}, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.PIPE, text=True))
        errors = [process.communicate()[1] for process in processes]
        if any(process.returncode for process in processes):
            raise RuntimeError("\n".join(errors))
        rows = {}
        for name in ("timing.csv", "ranks.csv"):
            if (out / name).exists():
                rows[name] = list(csv.DictReader((out / name).open(encoding="utf-8")))[-1]
        shutil.rmtree(out)
        return rows


def seconds_of(row, *keys):
    return sum(float(row[key]) for key in keys)


class Constants:
    def __init__(self, bench):
        self.bench = bench
        self.read, self.write = bench.feed(f"random_resized_crop({SIDE})")
        self.augment = max(0.0, bench.feed(f"random_resized_crop({SIDE}),{HEAVY}")[1] - self.write)
        self.network = {}
        for model in dict.fromkeys(run.model for run in RUNS):
            row = bench.train(Run(model, workers=1, threads=1), 40 if model == MLP else 12)["timing.csv"]
            samples = float(row["samples_per_second"]) * float(row["seconds"])
            self.network[model] = seconds_of(row, "forward", "backward", "step") / samples
        pair = bench.train(Run("mobilenet_v2", ranks=2, workers=1, threads=1), 12)["ranks.csv"]
        self.sums = float(pair["reduced_bytes"]) / float(pair["reduction_seconds"])

    def limits(self, run):
        """Seconds a sample that each part alone would take."""
        area = (run.side / SIDE) ** 2
        feed = self.read + area * (self.write + (self.augment if run.heavy else 0))
        compute = self.network[run.model] * area
        found = {"compute": compute / run.threads / run.ranks, "feed": feed / run.workers / run.ranks,
                 "all cores": (compute + feed) / os.cpu_count()}
        if run.store:
            found["store"] = self.bench.bytes / STORE_SPEED
        return found

    def predict(self, run, gradient_bytes):
        limits = self.limits(run)
        sums = gradient_bytes / self.sums / (run.batch * run.ranks) if run.ranks > 1 else 0
        limit = max(limits, key=limits.get)
        return limits[limit] + sums, limit


def measure(bench, run):
    batches = max(4, bench.images // (run.batch * run.ranks)) if run.model in (MLP, "cnn:small") else 12
    if not run.store:
        return bench.train(run, batches)
    from line import Line
    from servers import FileServer
    with FileServer(bench.folder) as server, Line(server.url, 0.001, STORE_SPEED) as line:
        return bench.train(run, batches, f"{line.url}/shards")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="performance-model-") as folder:
        bench = Bench(Path(folder), options.images)
        constants = [Constants(bench) for _ in range(options.rounds)]
        rates = {run.name(): [] for run in RUNS}
        gradients = {}
        for _ in range(options.rounds):
            for run in RUNS:
                rows = measure(bench, run)
                rates[run.name()].append(float(rows["timing.csv"]["samples_per_second"]))
                if run.ranks > 1:
                    steps = float(rows["timing.csv"]["samples_per_second"]) * float(rows["timing.csv"]["seconds"]) / (run.batch * run.ranks)
                    gradients[run.name()] = float(rows["ranks.csv"]["reduced_bytes"]) / steps
        middle = constants[0]
        for key in ("read", "write", "augment", "sums"):
            setattr(middle, key, statistics.median(getattr(one, key) for one in constants))
        for model in middle.network:
            middle.network[model] = statistics.median(one.network[model] for one in constants)
        print(f"read and decode {1e3 * middle.read:.2f} ms, write {1e3 * middle.write:.3f} ms, warp and noise {1e3 * middle.augment:.3f} ms, "
              f"sums {middle.sums / 1e6:.0f} MB/s, store {STORE_SPEED / 1e6:.0f} MB/s, images of {bench.bytes / 1e3:.0f} kB; training on one: "
              + ", ".join(f"{model.split(':')[0] if model == MLP else model} {1e3 * value:.2f} ms" for model, value in middle.network.items()))
        print("\n| run | limit, by the model | samples/s, by the model | measured | error |\n|---|---|---|---|---|")
        errors = []
        for run in RUNS:
            seconds, limit = middle.predict(run, gradients.get(run.name(), 0))
            measured = statistics.median(rates[run.name()])
            errors.append(1 / seconds / measured - 1)
            print(f"| {run.name()} | {limit} | {1 / seconds:,.0f} | {measured:,.0f} | {100 * errors[-1]:+.0f} % |")
        print(f"\nmedian error {100 * statistics.median(map(abs, errors)):.0f} %, largest {100 * max(map(abs, errors)):.0f} %")


if __name__ == "__main__":
    main()
