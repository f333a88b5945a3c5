#!/usr/bin/env python3
"""A folder of images of which nearly all are empty files, as an interrupted copy leaves them: messages stay short, and every command is
quick and takes little memory.

Run by ctest with the program's path as STOKER. The class All has 100,000 empty files; .ci/nightly runs it.
"""

import csv
import json
import os
import random
import subprocess
import sys
import time
import unittest

import helpers
import runs

STOKER = os.environ["STOKER"]
GOOD = 24


class Few(runs.Case):
    EMPTY = 2000
    SECONDS = 15
    MEGABYTES = 700  # LibTorch takes 300

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.output / "data"
        for number in range(GOOD):
            noise = random.Random(number).randbytes(1200)
            helpers.png(cls.data / "xy"[number % 2] / f"{number:07}.png", 40, 30, lambda x, y, n=noise: n[40 * y + x])
        for number in range(GOOD, GOOD + cls.EMPTY):
            os.close(os.open(cls.data / "xy"[number % 2] / f"{number:07}.png", os.O_CREAT | os.O_WRONLY))

    def program(self, *words, status, prefix=()):
        """The command's standard output and error, which are short, whatever it finds."""
        begin = time.monotonic()
        out, errors = self.output / "stdout", self.output / "stderr"
        with open(out, "wb") as to, open(errors, "wb") as says:
            process = subprocess.Popen([*prefix, STOKER, *map(str, words)], stdout=to, stderr=says, cwd=self.output)
            _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        seconds, megabytes = time.monotonic() - begin, usage.ru_maxrss / 1024
        texts = [path.read_text(encoding="utf-8") for path in (out, errors)]
        print(f"{words[0]}: {seconds:.1f} s, {megabytes:.0f} MB, {sum(len(text) for text in texts)} characters")
        self.assertEqual(process.returncode, status, texts[1][-2000:])
        self.assertLess(seconds, self.SECONDS)
        self.assertLess(megabytes, self.MEGABYTES)
        for text in texts:
            self.assertLess(len(text.splitlines()), 60, text[:3000])
            self.assertLess(len(text), 10_000, text[:3000])
        return texts

    def train(self, name, *more):
        return ["train", self.data, "--model", "cnn:4,8", "--aa", "resize(24,24)", "--epochs", "1", "--batch-size", "32", "--threads", "1",
                "--output", self.output / "runs", "--experiment", name, "--no-report", *more]

    def test_training_names_one_and_sends_to_the_doctor(self):
        _, errors = self.program(*self.train("stopped", "--val-every", "4"), status=1)
        self.assertEqual(len(errors.strip().splitlines()), 1, errors)
        self.assertIn("an empty file", errors)
        self.assertIn("stoker doctor", errors)
        self.assertIn("--on-error skip", errors)

    def test_training_ends_soon_where_most_cannot_be_read(self):
        _, errors = self.program(*self.train("most", "--val-every", "4", "--on-error", "skip"), status=1)
        self.assertEqual(len(errors.strip().splitlines()), 1, errors)
        self.assertIn("too many samples cannot be made", errors)
        self.assertIn("--max-errors", errors)

    def test_training_on_the_rest_counts_them(self):
        out, _ = self.program(*self.train("rest", "--val-every", "4", "--on-error", "skip", "--max-errors", "1000000"), status=0)
        run = self.output / "runs/rest"
        with open(run / "errors.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        # Every 4th is for validation.
        self.assertGreater(len(rows), self.EMPTY // 2)
        self.assertLessEqual(len(rows), self.EMPTY + GOOD)
        self.assertIn(f"{len(rows)}", out.replace(",", ""))

    def test_the_doctor_counts_them_and_lists_the_rest(self):
        out, _ = self.program("doctor", self.data, "--out", self.output / "doctor", "--write-list", self.output / "list.tsv", "--force",
                              status=1)
        self.assertIn(f"({self.EMPTY})", out)
        self.assertEqual(len((self.output / "list.tsv").read_text(encoding="utf-8").splitlines()), GOOD)
        found = json.loads((self.output / "doctor/doctor.json").read_text(encoding="utf-8"))
        self.assertEqual(found["summary"]["error"], self.EMPTY)
        self.assertLess((self.output / "doctor/doctor.html").stat().st_size, 2_000_000)

    def test_preview_names_one(self):
        self.program("preview", self.data, "--out", self.output / "p.png", "--force", status=1)

    def test_split_divides_them_like_others(self):
        self.program("split", self.data, "--every", "4", "--out", self.output / "lists", status=0)
        lines = [line for path in (self.output / "lists").rglob("*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
        lines = [line for line in lines if not line.startswith("#")]
        self.assertEqual(len(lines), GOOD + self.EMPTY)

    def test_shard_names_one(self):
        _, errors = self.program("shard", self.data, "--out", self.output / "shards", status=1)
        self.assertEqual(len(errors.strip().splitlines()), 1, errors)

    def test_prediction_has_a_row_for_each(self):
        good = self.output / "good"
        for path in self.data.rglob("*.png"):
            if path.stat().st_size > 0:
                target = good / path.relative_to(self.data)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(path, target)
        words = [word if word != self.data else good for word in self.train("good", "--val-every", "4")]
        self.program(*words, status=0)
        weights = self.output / "runs/good"
        _, errors = self.program("predict", self.data, "--weights", weights, "--out", self.output / "rows.csv", "--force", status=1)
        self.assertEqual(len((self.output / "rows.csv").read_text(encoding="utf-8").splitlines()), 1 + GOOD + self.EMPTY)
        self.assertIn(f"{self.EMPTY}", errors.replace(",", ""))
        _, errors = self.program("eval", self.data, "--weights", weights, status=1)
        self.assertIn(f"{self.EMPTY}", errors.replace(",", ""))


class All(Few):
    EMPTY = 100_000
    SECONDS = 60
    MEGABYTES = 1000


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    sys.exit(1 if not outcome.wasSuccessful() else 0)
