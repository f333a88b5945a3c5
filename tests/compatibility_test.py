#!/usr/bin/env python3
"""What other releases wrote: the data-order version that keeps runs apart, and files of earlier releases.

    compatibility_test.py DataOrder

Run by ctest with the program's path as STOKER.
"""

import json
import os
import pathlib
import re
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


def stoker(*arguments, code=0):
    done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
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


if __name__ == "__main__":
    unittest.main()
