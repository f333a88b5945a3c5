"""Images of 16 bits: what only their low bytes show is lost with --depth 8 and learned with --depth 16."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
from PIL import Image

STOKER = os.environ["STOKER"]
SIDE = 16


def write_stripes(folder, count, seed):
    """Two classes: stripes along rows or columns, of the low byte alone. The high byte says nothing: it is the same in a
    whole image, and drawn at random."""
    rng = numpy.random.default_rng(seed)
    for number in range(count):
        label = number % 2
        lines = (numpy.arange(SIDE) + rng.integers(0, 4)) // 2 % 2 * rng.integers(60, 200)
        low = numpy.tile(lines, (SIDE, 1)) + rng.integers(0, 40, (SIDE, SIDE))
        values = rng.integers(0, 256) * 256 + (low if label else low.T)
        part = "test" if number % 5 == 0 else "val" if number % 5 == 1 else "train"
        path = folder / part / ("columns" if label else "rows") / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(values.astype(numpy.uint16)).save(path)


class Depth(unittest.TestCase):
    def test_low_bytes_are_seen_with_sixteen_bits_alone(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            write_stripes(folder / "stripes", 800, 1)
            found = {}
            for depth, more in ((8, []), (16, ["--window", "image"])):
                command = [STOKER, "train", "stripes", "--model", "cnn:small", "--aa", f"resize({SIDE},{SIDE})", "--epochs", "6", "--depth",
                           str(depth), *more, "--opt", "adam", "--lr", "0.003", "--threads", "1", "--workers", "2", "--no-report",
                           "--experiment", f"depth{depth}"]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                facts = json.loads((folder / f"runs/depth{depth}/run.json").read_text(encoding="utf-8"))
                found[depth] = facts["test"]["top1"]
            self.assertLess(found[8], 0.65)
            self.assertGreater(found[16], 0.95)
            # The model file knows the depth: nothing need be said again.
            done = subprocess.run([STOKER, "eval", "stripes", "--weights", "runs/depth16", "--split", "test", "--json"], cwd=folder,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertAlmostEqual(json.loads(done.stdout)["top1"], found[16], places=6)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
