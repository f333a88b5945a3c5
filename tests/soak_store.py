"""For soak tests: flowers12 as shards of an S3 server (moto), a way there for machines of namespaces that breaks answers, and
which samples a run over them must see."""

import os
import pathlib
import subprocess

import hosts
from ranks import STOKER
from servers import STORE_FAULTS, FaultProxy, S3Server

FLOWERS = pathlib.Path(os.environ["STOKER_TEST_DATA"]) / "flowers12"
SAMPLES, BATCH, WINDOW = 720, 32, 4
TRAIN, VALIDATION = "s3://bucket/train", "s3://bucket/validation"
# A small network, so that most of the work is the store's and the feed's. The augmentation draws random numbers.
FLAGS = ["train", "--data", TRAIN, "--val-data", VALIDATION, "--model", "cnn:8,16", "--aa", "resize(32,32),rotate(-15,15)",
         "--batch-size", BATCH, "--shuffle-window", WINDOW, "--threads", 1, "--workers", 1, "--lr", 0.02, "--no-report"]
MASK = (1 << 64) - 1


class Store:
    """The server with the shards, in the network of this process. Used in a with block."""

    def __enter__(self):
        self.server = S3Server()
        for data, where in ((FLOWERS / "train", TRAIN), (FLOWERS / "test", VALIDATION)):
            subprocess.run([STOKER, "shard", data, "--out", where, "--shard-size", "300KB"], check=True, capture_output=True,
                           env={**os.environ, **self.environment(self.server.url)})
        return self

    def __exit__(self, *_):
        self.server.__exit__()

    @staticmethod
    def environment(url):
        return {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": url}

    def order(self, path, seed, epochs, cache):
        """The batches of a run, as the feed alone gives them: in each epoch a list of lists of samples."""
        subprocess.run([STOKER, "bench", "feed", "--no-digest", "--data", TRAIN, "--aa", "resize(8,8)", "--dtype", "uint8", "-b", str(BATCH),
                        "--shuffle-window", str(WINDOW), "--seed", str(seed), "--epochs", str(epochs), "--save-order", path,
                        "--cache-dir", cache, "-j", "1"], check=True, capture_output=True,
                       env={**os.environ, **self.environment(self.server.url)})
        batches = [list(map(int, line.split("\t")[1].split())) for line in path.read_text(encoding="utf-8").splitlines()]
        per_epoch = -(-SAMPLES // BATCH)
        return [batches[first:first + per_epoch] for first in range(0, len(batches), per_epoch)]


class Doorway(FaultProxy):
    """Listens on the machines' switch and asks the server in the network of this process. Of the answers, 15 % are broken."""

    SHARE = 0.15

    def __init__(self, machines, store, seed):
        self.machines, self.address = machines, (machines.give_switch_an_address(), 0)
        super().__init__(store.server.url, STORE_FAULTS, share=self.SHARE, seed=seed)

    def listen(self, handler):
        with hosts.inside(self.machines.switch):
            return super().listen(handler)

    def close(self):
        """From now on no request is answered."""
        with self.lock:
            self.kinds, self.share = ["down"], 1.0

    def open(self):
        with self.lock:
            self.kinds, self.share = list(STORE_FAULTS), self.SHARE


def has_each_sample_once(epochs):
    return all(sorted(sample for batch in epoch for sample in batch) == list(range(SAMPLES)) for epoch in epochs)


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def digest_of(epochs):
    """`samples_digest` of a run whose steps saw these batches and nothing else (stoker/train/sample_digest.h)."""
    digest = 0
    for number, epoch in enumerate(epochs):
        position = 0
        for batch in epoch:
            marks = sum(mixed(mixed(mixed(number) ^ (position + place)) ^ sample) for place, sample in enumerate(batch)) & MASK
            digest = mixed(mixed(digest) ^ marks)
            position += len(batch)
    return f"{digest:016x}"
