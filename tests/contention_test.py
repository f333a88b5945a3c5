#!/usr/bin/env python3
"""Training beside other busy processes: at least a third of the speed alone, and the same weights.

Run by ctest, alone, with the program's path as STOKER. Needs Fashion-MNIST.
"""

import csv
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import runs

STOKER = os.environ["STOKER"]
CPUS = len(os.sched_getaffinity(0))
LEAST = 1 / 3  # of the speed alone
ROUNDS = 4  # at most; the machine may be disturbed in one
HAS_DATA = pathlib.Path("/usr/share/datasets/fashion-mnist").is_dir()
TRAIN = [STOKER, "train", "--data", "fashion-mnist", "--model", "cnn:small", "--epochs", "1", "--batches-per-epoch", "60",
         "--no-report"]


def environment(**settings):
    """As a user has it who sets nothing, but for `settings`."""
    plain = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    return {**plain, **settings}


def die_with_parent():
    """A loop must not outlive a killed test: PR_SET_PDEATHSIG is 1."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class BusyLoops:
    """Processes that need a CPU each, in sessions of their own: the scheduler treats them as other users' work."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=True, preexec_fn=die_with_parent)
                      for _ in range(self.count)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


@unittest.skipUnless(HAS_DATA, "needs Fashion-MNIST")
class Contention(runs.Case):
    def train(self, name):
        """Samples a second."""
        subprocess.run([*TRAIN, "--output", self.output, "--experiment", name], check=True, timeout=600,
                       env=environment(), stdout=subprocess.DEVNULL)
        with open(self.output / name / "results.csv", encoding="utf-8") as file:
            return float(list(csv.DictReader(file))[-1]["samples_per_second"])

    def test_a_busy_loop_for_two_cpus_leaves_a_third_of_the_speed(self):
        alone, beside = [], []
        for turn in range(ROUNDS):
            alone.append(self.train(f"alone{turn}"))
            with BusyLoops(max(1, CPUS // 2)):
                beside.append(self.train(f"beside{turn}"))
            if max(beside) >= LEAST * max(alone):
                break
        print(f"alone {alone}, beside busy loops {beside} samples/s", file=sys.stderr)
        self.assertGreaterEqual(max(beside), LEAST * max(alone))
        self.assertEqual(*((self.output / name / "weights" / "last.safetensors").read_bytes()
                           for name in ("alone0", "beside0")))


@unittest.skipUnless(HAS_DATA, "needs Fashion-MNIST")
class Restart(runs.Case):
    """How the program gets its setting."""

    def settings_of(self, name, **settings):
        """Of the process while it trains: lines of its environment, and its name."""
        process = subprocess.Popen([*TRAIN, "--epochs", "1000", "--output", self.output, "--experiment", name],
                                   env=environment(**settings), stdout=subprocess.PIPE, text=True)
        try:
            process.stdout.readline()  # of the run: it is past its start
            folder = pathlib.Path("/proc", str(process.pid))
            lines = (folder / "environ").read_bytes().decode().split("\0")
            return [line for line in lines if line.startswith(("GOMP_", "OMP_"))], (folder / "comm").read_text().strip()
        finally:
            process.kill()
            process.communicate()

    def test_the_setting_is_there_once_and_the_process_keeps_name_and_number(self):
        self.assertEqual(self.settings_of("plain"), (["GOMP_SPINCOUNT=1000"], "stoker"))

    def test_the_users_setting_wins(self):
        self.assertEqual(self.settings_of("own", GOMP_SPINCOUNT="7"), (["GOMP_SPINCOUNT=7"], "stoker"))
        self.assertEqual(self.settings_of("policy", OMP_WAIT_POLICY="passive"), (["OMP_WAIT_POLICY=passive"], "stoker"))

    def test_words_arrive_as_they_were_given(self):
        done = subprocess.run([STOKER, "train", "--data", "no such data", "--model", "cnn:small"], capture_output=True,
                              text=True, check=False, env=environment())
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such data", done.stderr)


if __name__ == "__main__":
    start = time.monotonic()
    outcome = unittest.main(verbosity=2, exit=False).result
    print(f"{time.monotonic() - start:.1f} s")
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
