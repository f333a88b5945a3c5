#!/usr/bin/env python3
"""Engines of `predict` and `eval`: the same classes from each, on real photographs, and clear words where one is missing.

Run by ctest with the path of the program as STOKER; needs photos, flowers12 and weights of $STOKER_TEST_DATA. OpenVINO is the
package in .venv. The class All has all photographs; nightly runs it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
PHOTOS, WEIGHTS = DATA / "photos", DATA / "weights"
MOBILENET = ["--weights", WEIGHTS / "mobilenet_v2-b0353104.pth", "--model", "mobilenet_v2"]
RESNET = ["--weights", WEIGHTS / "resnet18_imagenet1k_v1_reconstructed.safetensors", "--model", "resnet18"]
ENVIRONMENT = os.environ | {"VIRTUAL_ENV": str(SOURCE / ".venv")}
ENVIRONMENT.pop("STOKER_OPENVINO", None)

if not (PHOTOS.is_dir() and WEIGHTS.is_dir()):
    print(f"skipped: needs {PHOTOS} and {WEIGHTS}")
    sys.exit(77)


def run(*words, environment=None):
    return subprocess.run([os.environ["STOKER"], *map(str, words)], capture_output=True, text=True, timeout=900, check=False,
                          env=environment or ENVIRONMENT)


def predict(*words):
    """The rows of `stoker predict` as JSON objects."""
    done = run("predict", *words, "--format", "jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def link_photographs(folder, which):
    for photo in sorted(PHOTOS.glob("*.JPEG"))[which]:
        os.symlink(photo, pathlib.Path(folder, photo.name))
    return folder


def largest_difference(rows, others):
    assert [row["sample"] for row in rows] == [row["sample"] for row in others]
    return max(abs(row["probabilities"][name] - share) for row, other in zip(rows, others)
               for name, share in other["probabilities"].items())


class Photographs(unittest.TestCase):
    EVERY = 5

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.photos = link_photographs(folder.name, slice(None, None, self.EVERY))

    def check(self, network, engines):
        """Every engine in float32 has the class that training's form has."""
        exact = predict(self.photos, *network, "--engine", "training")
        self.assertEqual(len(exact), 250 // self.EVERY)
        for engine in engines:
            with self.subTest(engine=engine):
                rows = predict(self.photos, *network, "--engine", engine)
                self.assertEqual([row["class"] for row in rows], [row["class"] for row in exact])
                self.assertLess(largest_difference(rows, exact), 1e-4)
                self.assertGreater(largest_difference(rows, exact), 0, "the engine did not compute")
        return exact

    def test_mobilenet(self):
        exact = self.check(MOBILENET, ("libtorch", "openvino"))
        narrow = predict(self.photos, *MOBILENET, "--precision", "bfloat16")
        same = sum(row["class"] == other["class"] for row, other in zip(narrow, exact))
        print(f"bfloat16 has the same class for {same} of {len(exact)}")
        self.assertGreaterEqual(same, 0.97 * len(exact))
        self.assertGreater(largest_difference(narrow, exact), 1e-4, "it computed in float32")

    def test_resnet(self):
        self.check(RESNET, ("libtorch",))


class All(Photographs):
    EVERY = 1


class Bits(unittest.TestCase):
    def test_threads_workers_and_isolation_change_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            link_photographs(folder, slice(21))
            for engine in ("libtorch", "openvino"):
                words = [folder, *MOBILENET, "--engine", engine, "--batch-size", 8]  # the last has 5
                first = predict(*words, "--threads", 1, "--workers", 1)
                self.assertEqual(len(first), 21)
                for more in (["--threads", 2], ["--threads", 3, "--workers", 4], ["--isolate"]):
                    with self.subTest(engine=engine, more=more):
                        self.assertEqual(predict(*words, *more), first)


class Words(unittest.TestCase):
    def test_a_missing_openvino(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("predict", PHOTOS, *MOBILENET, "--engine", "openvino", environment=ENVIRONMENT | {"STOKER_OPENVINO": empty})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("there is no OpenVINO", done.stderr)
        self.assertIn("pip install openvino", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_wrong_name(self):
        done = run("predict", PHOTOS, *MOBILENET, "--engine", "openvin")
        self.assertEqual(done.returncode, 2)
        self.assertIn("openvino", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
