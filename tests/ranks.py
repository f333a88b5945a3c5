"""Starts the ranks of a training run as real processes, as a launcher does: each gets its rank, their number and the
meeting place in its environment."""

import csv
import json
import os
import pathlib
import random
import socket
import subprocess
import tempfile
import time
import unittest

import numpy
from safetensors import safe_open

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("STOKER_TEST_DATA", str(SOURCE.parent / "shared" / "data"))
HAS_MNIST = pathlib.Path(os.environ["STOKER_TEST_DATA"], "mnist").is_dir()
needs_mnist = unittest.skipUnless(HAS_MNIST, "needs MNIST in $STOKER_TEST_DATA/mnist")

LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def free_port(address="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def clean_environment():
    """Without a launcher's variables."""
    return {name: value for name, value in os.environ.items() if name not in LAUNCHERS}


def children(process):
    found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    return [int(number) for number in found]


def saved_step(folder):
    """The step of a run's newest checkpoint; 0 before the first."""
    saved = sorted((folder / "checkpoints").glob("step-*.safetensors"))
    return int(saved[-1].stem.split("-")[1]) if saved else 0


def kill_and_resume(command, folder, kills, **options):
    """Starts the command, which resumes the run in `folder`, and kills it soon after it has written another checkpoint; so
    often, then lets it end. Returns how it ended."""
    for life in range(kills):
        before = saved_step(folder)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        while process.poll() is None and saved_step(folder) == before:
            time.sleep(0.002)
        time.sleep(random.Random(life).uniform(0, 0.03))
        if process.poll() is not None:
            raise AssertionError("the run ended before it was killed")
        process.kill()
        process.wait()
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Rank:
    """One process. What it prints goes to files, so that no pipe can fill up."""

    def __init__(self, command, environment, number):
        self.number = number
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err, env=environment)

    def wait(self, timeout):
        return self.process.wait(timeout)

    def text(self, file):
        file.seek(0)
        return file.read()

    @property
    def stdout(self):
        return self.text(self.out)

    @property
    def stderr(self):
        return self.text(self.err)


class Ranks:
    """All processes of a job; used in a with block, which leaves none behind."""

    def __init__(self, count, arguments, prefix=None, address="127.0.0.1", extra=lambda rank: []):
        port = str(free_port() if address.startswith("127.") else 29612)
        self.ranks = []
        for rank in range(count):
            environment = dict(clean_environment(), RANK=str(rank), WORLD_SIZE=str(count), LOCAL_RANK=str(rank), MASTER_ADDR=address,
                               LOCAL_WORLD_SIZE=str(count), MASTER_PORT=port)
            command = [*(prefix(rank) if prefix else []), STOKER, *map(str, arguments), *extra(rank)]
            self.ranks.append(Rank(command, environment, rank))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for rank in self.ranks:
            if rank.process.poll() is None:
                rank.process.kill()
                rank.process.wait()
            rank.out.close()
            rank.err.close()

    def __getitem__(self, index):
        return self.ranks[index]

    def wait(self, timeout=120):
        """Exit codes of all."""
        end = time.monotonic() + timeout
        return [rank.wait(max(0.1, end - time.monotonic())) for rank in self.ranks]

    def wait_until_step(self, folder, step, timeout=60):
        """Until a checkpoint of this step or a later one is there."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if saved_step(folder) >= step:
                return
            for rank in self.ranks:
                assert rank.process.poll() is None, self.report()
            time.sleep(0.05)
        raise AssertionError(f"step {step} was never saved\n" + self.report())

    def report(self):
        return "\n".join(f"--- rank {r.number}: {r.process.poll()}\n{r.stdout}\n{r.stderr}" for r in self.ranks)


def train(count, *arguments, timeout=120):
    """Trains with so many ranks (1: plainly) and fails unless all end well."""
    if count == 1:
        done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, env=clean_environment(),
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return
    with Ranks(count, arguments) as ranks:
        codes = ranks.wait(timeout)
        assert codes == [0] * count, ranks.report()


def facts(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def table(folder, name="results.csv"):
    with open(folder / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def weights(folder, which="last"):
    return (folder / "weights" / f"{which}.safetensors").read_bytes()


def tensors(folder, which="last"):
    with safe_open(folder / "weights" / f"{which}.safetensors", framework="np") as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def distance(folder, other, least=0.0):
    """The largest relative difference of a tensor's weights between two runs: |a - b| / |b|. Weights that are smaller than
    `least` on average, as means that only rounding keeps from 0, count as that large."""
    a, b = tensors(folder), tensors(other)
    assert a.keys() == b.keys()
    found = 0.0
    for name, values in b.items():
        if not numpy.issubdtype(values.dtype, numpy.floating):
            assert numpy.array_equal(values, a[name]), name
            continue
        gap = numpy.linalg.norm(a[name].astype(numpy.float64) - values)
        found = max(found, gap / max(1e-30, least * values.size**0.5, numpy.linalg.norm(values.astype(numpy.float64))))
    return found
