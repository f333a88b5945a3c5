#!/usr/bin/env python3
"""experiments/kernels at a small size: its tables have every way, the report's figures, and say what was not measured."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401
    import scipy  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = ["--sizes", "48", "--kernels", "3,5,7,9", "--threads", "1,2", "--matrix", "40", "--seconds", "0"]


class Kernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "kernels")

    def tables(self, *arguments, **env):
        done = subprocess.run([sys.executable, str(ROOT / "experiments" / "kernels"), "--stoker", os.environ["STOKER"], "--output",
                               str(self.out), *SMALL, *arguments], capture_output=True, text=True, timeout=250, check=False,
                              env={**os.environ, **env})
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.out / "kernels.md").read_text(encoding="utf-8")

    def figures(self):
        with open(self.out / "kernels.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_every_way_and_the_reports_figures(self):
        page = self.out.with_name("page.md")
        page.write_text("before\n<!-- experiments/kernels -->\nold\n<!-- end of experiments/kernels -->\nafter\n")
        text = self.tables("--publish", str(page), STOKER_GPU_LIBRARY=os.environ["STOKER_SIMULATED_GPU"])
        published = page.read_text(encoding="utf-8")
        self.assertIn(text.strip(), published)
        self.assertNotIn("old", published)
        self.assertTrue(published.startswith("before\n") and published.endswith("after\n"))
        for words in ("trivial loop, interpreted (Python)", "trivial loop, compiled (C++)", "numpy", "CUDA, one block of 1024 threads",
                      "CUDA, one thread a value, blocks of 1000", "scaled by n³", "40 times"):
            self.assertIn(words, text)
        for size, over_scipy, over_numba in ((3, 1.43, 1.36), (5, 3.06, 3.13), (7, 5.97, 5.74)):  # R18
            row = next(line for line in text.splitlines() if line.endswith(f"| {over_scipy} × | {over_numba} × |"))
            self.assertTrue(row.startswith(f"| {size}×{size} |"), row)
        methods = {}
        for row in self.figures():
            self.assertGreater(float(row["ms"]), 0)
            methods.setdefault(row["kernel"], set()).add(row["method"])
        self.assertLessEqual({"interpreted", "reference", "numpy"}, methods["maximum i32"])
        self.assertLessEqual({"interpreted", "reference", "numpy", "blocked"}, methods["gram f32"])
        self.assertLessEqual({"interpreted", "reference", "scipy", "tiled"}, methods["correlation f32"])
        for name in ("kernels.png", "maximum.png", "speedups.png", "filters.png"):
            self.assertEqual((self.out / name).read_bytes()[:4], b"\x89PNG", name)

    def test_the_page_of_experiments_has_a_place_for_the_tables(self):
        page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
        self.assertIn("<!-- experiments/kernels -->\n", page)
        self.assertIn("<!-- end of experiments/kernels -->\n", page.partition("<!-- experiments/kernels -->\n")[2])

    def test_what_is_missing_is_told(self):
        """A Python without packages, and no GPU."""
        bare = self.out.with_name("python")
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        bare.chmod(0o755)
        text = self.tables("--python", str(bare), "--device", "cpu")
        self.assertIn("Not measured: numpy", text)
        self.assertIn("CUDA: not measured, as asked", text)
        self.assertEqual({row["program"] for row in self.figures()}, {"stoker"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
