#!/usr/bin/env python3
"""What other releases wrote: the data-order version that keeps runs apart, and files of earlier releases.

    compatibility_test.py DataOrder|Earlier

Run by ctest with the program's path as STOKER. Earlier reads what is in tests/fixtures, a folder for each release.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest

from helpers import png
from runs import Case

ROOT = pathlib.Path(__file__).resolve().parent.parent
STOKER = os.environ.get("STOKER", str(ROOT / "build/release/stoker"))
HEADER = (ROOT / "stoker/core/data_order.h").read_text(encoding="utf-8")
DATA_ORDER = int(re.search(r"kDataOrderVersion = (\d+);", HEADER)[1])
RELEASE = re.search(r"project\(stoker VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def stoker(*arguments, code=0, **options):
    done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False, **options)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def split_safetensors(path):
    """Its header, and the bytes behind it."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8:8 + length]), content[8 + length:]


def write_safetensors(path, header, rest):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + rest)


class DataOrder(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.output / "images"
        for label, level in (("dark", 40), ("light", 180)):
            for number in range(8):
                png(cls.data / label / f"{number}.png", 8, 8, lambda x, y, base=level + number: base + x + y)
        cls.run_folder = cls.output / "small"
        stoker("train", "--data", cls.data, "--model", "mlp:192,4,2", "--img-size", "8", "--epochs", "2", "--sched", "constant", "--keep", "1",
               "--checkpoint-every", "1epoch", "--output", cls.output, "--experiment", "small", "--threads", "1", "-j", "1")
        (cls.checkpoint,) = (cls.run_folder / "checkpoints").iterdir()

    def resume(self, code):
        return stoker("train", "--resume", self.run_folder, "--epochs", "3", code=code)

    def test_digests_and_runs_have_the_version(self):
        words = ("bench", "feed", "--data", self.data, "--aa", "resize(8,8)", "-j", "1")
        self.assertEqual(json.loads(stoker(*words, "--json"))["data_order_version"], DATA_ORDER)
        self.assertRegex(stoker(*words), rf"digest +[0-9a-f]{{32}} \(data order {DATA_ORDER}\)")
        facts = json.loads((self.run_folder / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(facts["data_order_version"], DATA_ORDER)
        self.assertIn("data order version", (self.run_folder / "report.html").read_text(encoding="utf-8"))

    def test_a_checkpoint_of_another_data_order_is_refused_with_the_release_to_use(self):
        header, rest = split_safetensors(self.checkpoint)
        metadata = header["__metadata__"]
        self.assertEqual((metadata["stoker.data_order_version"], metadata["stoker.release"]), (str(DATA_ORDER), RELEASE))
        whole = self.checkpoint.read_bytes()
        metadata.update({"stoker.data_order_version": str(DATA_ORDER + 1), "stoker.release": "97.5.3"})
        write_safetensors(self.checkpoint, header, rest)
        # The digest is over all of it; the message has the one that the file now needs.
        metadata["stoker.digest"] = re.search(r"digest [0-9a-f]{32}, got ([0-9a-f]{32})", self.resume(1))[1]
        write_safetensors(self.checkpoint, header, rest)
        message = self.resume(1)
        for part in ("data order", f"version {DATA_ORDER + 1}, of Stoker 97.5.3", "Resume it with Stoker 97.5.3"):
            self.assertIn(part, message)
        self.checkpoint.write_bytes(whole)
        self.resume(0)


def tensors_of(path):
    """The bytes of each tensor, by name."""
    header, rest = split_safetensors(path)
    return {name: rest[slice(*entry["data_offsets"])] for name, entry in header.items() if name != "__metadata__"}


def largest_difference(a, b):
    """Of float32 numbers."""
    pairs = zip(struct.unpack(f"<{len(a) // 4}f", a), struct.unpack(f"<{len(b) // 4}f", b), strict=True)
    return max(abs(x - y) for x, y in pairs)


class Earlier(Case):
    """Files that earlier releases wrote. Each case holds for every release."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.releases = sorted(path.parent.name for path in (ROOT / "tests/fixtures").glob("*/expected.json"))

    def copies(self):
        """For each release: files that the test may change, and what that release said about them."""
        self.assertIn("0.1", self.releases)
        for release in self.releases:
            folder = self.output / release / self.id()
            shutil.copytree(ROOT / "tests/fixtures" / release, folder)
            yield folder, json.loads((folder / "expected.json").read_text(encoding="utf-8"))

    def run_in(self, folder, *words):
        return stoker(*words, cwd=folder, env={**os.environ, "STOKER_DATA": str(folder / "data")})

    def test_feed_digests_are_the_same(self):
        for folder, expected in self.copies():
            for data in ("mnist", "shards"):
                told = json.loads(self.run_in(folder, "bench", "feed", "--data", data, "--aa", "rotate(-10,10),noise(0.1)", "--epochs", "2", "-b", "5",
                                              "--seed", "3", "-j", "2", "--json"))
                self.assertEqual((data, told["digest"]), (data, expected[f"digest of {data}"]))

    def test_a_run_folder_is_described_and_reported(self):
        for folder, expected in self.copies():
            self.assertIn("cnn:4,8", self.run_in(folder, "info", "runs/finished", "--json"))
            self.run_in(folder, "report", "runs/finished", "--out", "report.html")
            page = (folder / "report.html").read_text(encoding="utf-8")
            for part in ("finished", "cnn:4,8", expected["version"]):
                self.assertIn(part, page)

    def test_weights_of_a_run_folder_evaluate_and_predict_as_they_did(self):
        for folder, expected in self.copies():
            words = ("--weights", "runs/finished", "--data", "mnist")
            told = json.loads(self.run_in(folder, "eval", *words, "--json"))
            for name in ("samples", "top1", "confusion"):
                self.assertEqual(told[name], expected["eval"][name], name)
            self.assertAlmostEqual(told["loss"], expected["eval"]["loss"], places=5)
            self.run_in(folder, "predict", *words, "--out", "now.csv")
            then, now = (list(csv.DictReader((folder / name).read_text(encoding="utf-8").splitlines())) for name in ("predictions.csv", "now.csv"))
            self.assertEqual([row["class"] for row in then], [row["class"] for row in now])
            self.assertEqual(len(now), 16)

    def test_an_interrupted_run_ends_as_it_would_have(self):
        for folder, _ in self.copies():
            there, here = folder / "runs/finished", folder / "runs/interrupted"
            self.run_in(folder, "train", "--resume", "runs/interrupted")
            facts = [json.loads((run / "run.json").read_text(encoding="utf-8")) for run in (there, here)]
            self.assertEqual(*((fact["state"], fact["steps"], fact["samples_digest"], fact["first_batch_digest"]) for fact in facts))
            weights = [tensors_of(run / "weights/last.safetensors") for run in (there, here)]
            self.assertEqual(*(sorted(tensors) for tensors in weights))
            # LibTorch chooses its code by the CPU: the last bits are the same on the same one.
            same_machine = len({(fact["machine"]["cpu"], fact["machine"]["simd"], fact["versions"]["libtorch"]) for fact in facts}) == 1
            for name in weights[0]:
                if same_machine:
                    self.assertEqual(weights[0][name], weights[1][name], name)
                else:
                    self.assertLess(largest_difference(weights[0][name], weights[1][name]), 1e-4, name)


if __name__ == "__main__":
    unittest.main()
