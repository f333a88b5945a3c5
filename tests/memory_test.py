#!/usr/bin/env python3
"""Runs in a memory group (cgroup v1) with little room: an image that takes all of it, in an isolated worker and in the trainer.

Run by ctest with the program's path as STOKER. Needs root and the memory controller of cgroup v1. The class All also has a trainer
that is killed; .ci/nightly runs it.
"""

import csv
import json
import os
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

import helpers
import pressure
import runs

STOKER = os.environ["STOKER"]
MB = 1 << 20


def bomb(path, side):
    """A grey PNG of side x side pixels in a few hundred kilobytes."""
    squeeze = zlib.compressobj(9)
    data = b"".join(squeeze.compress(bytes(side + 1)) for _ in range(side)) + squeeze.flush()

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) + chunk(b"IDAT", data) +
                     chunk(b"IEND", b""))


@unittest.skipUnless(pressure.memory_root() and os.geteuid() == 0, "needs root and memory groups (cgroup v1)")
class Limits(runs.Case):
    SPARE = 256 * MB
    SIDE = 12_000  # 144 million pixels: 412 MB as colours

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.good, cls.data = cls.output / "good", cls.output / "data"
        for number in range(24):
            for folder in (cls.good, cls.data):
                helpers.png(folder / "xy"[number % 2] / f"{number:02}.png", 40, 30, lambda x, y, n=number: (5 * x + 9 * y + 40 * n) % 256)
        cls.bomb = cls.data / "x/01-bomb.png"  # the second of its class: the first is for validation
        bomb(cls.bomb, cls.SIDE)

    def words(self, name, data, *more):
        return [*map(str, ["train", data, "--model", "cnn:4,8", "--aa", "resize(24,24)", "--batch-size", "4", "--epochs", "2",
                           "--val-every", "4", "--sched", "constant", "--threads", "1", "--workers", "2", "--no-report", "--output",
                           self.output / "runs", "--experiment", name, *more])]

    def plain(self, name, data, *more):
        done = subprocess.run([STOKER, *self.words(name, data, *more)], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.output / "runs" / name / "weights/last.safetensors").read_bytes()

    def limit(self):
        """What a run of the good images takes at most, and the room."""
        if not hasattr(Limits, "used"):
            with pressure.MemoryGroup(f"stoker-{os.getpid()}-use") as group:
                done = subprocess.run([*group.wrapper(), STOKER, *self.words("use", self.good)], capture_output=True, timeout=120,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                Limits.used = group.peak()
            print(f"a run of the good images takes {Limits.used / MB:.0f} MB")
        return Limits.used + self.SPARE

    def limited(self, *words):
        """The command with the limit; how it ended, and how many processes the kernel killed."""
        with pressure.MemoryGroup(f"stoker-{os.getpid()}") as group:
            group.set(self.limit())
            begin = time.monotonic()
            done = subprocess.run([*group.wrapper(), STOKER, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
            kills = group.kills()
        print(f"{done.returncode}, {kills} kills, {time.monotonic() - begin:.1f} s: {done.stderr.strip()[-300:]}")
        return done, kills

    def test_a_run_with_room_is_not_disturbed(self):
        wanted = self.plain("wanted", self.good)
        done, kills = self.limited(*self.words("room", self.good, "--isolate"))
        self.assertEqual((done.returncode, kills), (0, 0), done.stderr)
        self.assertEqual((self.output / "runs/room/weights/last.safetensors").read_bytes(), wanted)

    def test_an_isolated_worker_dies_in_the_trainers_place(self):
        """The image is named and left out; the others are trained on as if it had been another broken one."""
        self.bomb.rename(self.output / "bomb.png")
        self.bomb.write_bytes(b"broken")
        wanted = self.plain("broken", self.data, "--on-error", "skip")
        (self.output / "bomb.png").rename(self.bomb)
        done, kills = self.limited(*self.words("skipped", self.data, "--isolate", "--on-error", "skip"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(kills, 0)
        with open(self.output / "runs/skipped/errors.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(str(self.bomb), row.values(), rows)
            self.assertIn("want of memory", str(row))
        self.assertEqual((self.output / "runs/skipped/weights/last.safetensors").read_bytes(), wanted)

    def test_an_image_that_takes_all_memory_is_named(self):
        done, kills = self.limited(*self.words("named", self.data, "--isolate"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertGreater(kills, 0)
        self.assertIn(str(self.bomb), done.stderr)
        self.assertIn("want of memory", done.stderr)

    def test_limits_of_images_keep_it_out(self):
        for more in ([], ["--isolate"]):
            done, kills = self.limited(*self.words(f"small{len(more)}", self.data, "--max-pixels", "1000000", *more))
            self.assertEqual((done.returncode, kills), (1, 0), done.stderr)
            self.assertIn(str(self.bomb), done.stderr)
            self.assertIn("pixels", done.stderr)

    def test_a_sweep_says_that_a_run_was_killed(self):
        folder = self.output / "sweep"
        flags = self.words("x", self.data)[1:]
        cut = flags.index("--output")
        done, kills = self.limited("sweep", "--output", folder, "--vary", "seed=1,2", "--", *flags[:cut])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertGreater(kills, 0)
        self.assertIn("want of memory", done.stderr)


class All(Limits):
    def test_a_trainer_that_is_killed_resumes(self):
        done, kills = self.limited(*self.words("killed", self.data))
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        self.assertGreater(kills, 0)
        folder = self.output / "runs/killed"
        self.assertEqual(json.loads((folder / "run.json").read_text(encoding="utf-8"))["state"], "running")
        # With memory it ends as if nothing had happened.
        done = subprocess.run([STOKER, "train", "--resume", folder], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((folder / "weights/last.safetensors").read_bytes(), self.plain("unbroken", self.data))


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
