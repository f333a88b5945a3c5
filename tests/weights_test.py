#!/usr/bin/env python3
"""Published weights by name: `--pretrained mobilenet_v2`, found on this machine or downloaded from a server of the test.

Run by ctest with the path of the program as STOKER. The server listens on the loopback alone. What needs the published file itself
takes it from $STOKER_TEST_DATA/weights; without it these tests are skipped, with a message.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
from PIL import Image
from servers import FaultProxy, FileServer

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
FILE = "mobilenet_v2-b0353104.pth"
PUBLISHED = DATA / "weights" / FILE


class Weights(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        draw = numpy.random.default_rng(1)
        for part in ("train", "val"):
            for name in ("a", "b"):
                (self.folder / "data" / part / name).mkdir(parents=True)
                pixels = draw.integers(0, 256, (32, 32, 3), dtype=numpy.uint8)
                Image.fromarray(pixels).save(self.folder / "data" / part / name / "0.png")
        (self.folder / "server").mkdir()

    def train(self, *words, status=0, **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "no_proxy": "127.0.0.1",
                       **{name: str(value) for name, value in variables.items()}}
        done = subprocess.run([STOKER, "train", str(self.folder / "data"), "--epochs", "1", "--freeze", "all", "--aa", "none", "--workers", "1",
                               "--batch-size", "2", "--output", str(self.folder / "runs"), "--store-tries", "2", *map(str, words)],
                              capture_output=True, text=True, timeout=120, check=False, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def cache(self):
        return self.folder / "home/.cache/torch/hub/checkpoints"

    def files(self, folder):
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def test_without_download_the_address_is_told_and_nothing_is_asked_for(self):
        with FileServer(self.folder / "server") as server:
            told = self.train("--pretrained", "mobilenet_v2", status=1, STOKER_WEIGHTS_URL=server.url)
            self.assertIn(f"{server.url}/{FILE}", told)
            self.assertEqual(server.requests, [])
        told = self.train("--pretrained", FILE, status=1)
        for part in (f"https://download.pytorch.org/models/{FILE}", "begins with b0353104", str(self.cache()), "--download"):
            self.assertIn(part, told)

    def test_wrong_files_are_not_kept(self):
        kept = self.folder / "kept"
        with FileServer(self.folder / "server") as server:
            words = ("--pretrained", "mobilenet_v2", "--download", "--weights-dir", kept)
            self.assertIn("404", self.train(*words, status=1, STOKER_WEIGHTS_URL=server.url))
            (self.folder / "server" / FILE).write_bytes(b"another file" * 10000)
            told = self.train(*words, status=1, STOKER_WEIGHTS_URL=server.url)
            self.assertIn("begins with b0353104", told)
            with FaultProxy(server.url, kinds=["cut"]) as proxy:
                told = self.train(*words, status=1, STOKER_WEIGHTS_URL=proxy.url)
                self.assertIn(FILE, told)
                self.assertTrue(proxy.injected)
            self.assertEqual(self.files(kept), [])
        kept.mkdir(exist_ok=True)
        (kept / FILE).write_bytes(b"damaged")
        self.assertIn("not those that were published", self.train("--pretrained", "mobilenet_v2", status=1, STOKER_WEIGHTS=kept))

    @unittest.skipUnless(PUBLISHED.exists(), f"needs {PUBLISHED}")
    def test_the_published_file_is_downloaded_once_and_then_found(self):
        (self.folder / "server" / FILE).symlink_to(PUBLISHED)
        with FileServer(self.folder / "server") as server:
            # The first answer breaks off: the rest is asked for.
            with FaultProxy(server.url, kinds=["cut"], only=FILE, limit=1) as proxy:
                told = self.train("--pretrained", "mobilenet_v2", "--download", "--experiment", "one", STOKER_WEIGHTS_URL=proxy.url)
            self.assertIn("mobilenet_v2", told)
            self.assertEqual(self.files(self.cache()), [FILE])
            self.assertEqual((self.cache() / FILE).read_bytes(), PUBLISHED.read_bytes())
            asked = len(server.requests)
            self.train("--pretrained", FILE, "--download", "--experiment", "two", STOKER_WEIGHTS_URL=server.url)
            self.assertEqual(len(server.requests), asked)
        one, two = ((self.folder / "runs" / name / "weights/best.safetensors").read_bytes() for name in ("one", "two"))
        self.assertEqual(one, two)
        self.assertIn(str(self.cache() / FILE), (self.folder / "runs/one/args.yaml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    if not PUBLISHED.exists():
        print(f"without {PUBLISHED}: the download of the published file itself is not tested")
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
