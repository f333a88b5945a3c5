#!/usr/bin/env python3
"""What `stoker train` says of its data before it starts: files that are left out, images that it cannot read, images that become black.

Run by ctest with the program's path as STOKER.
"""

import os
import subprocess
import unittest

from PIL import Image

from runs import Case

STOKER = os.environ["STOKER"]


class BeforeTraining(Case):
    def setUp(self):
        self.data = self.output / self.id().rsplit(".", 1)[-1]
        for part, count in (("train", 4), ("val", 2)):
            for name in ("ant", "bee"):
                (self.data / part / name).mkdir(parents=True)
                for i in range(count):
                    Image.effect_noise((12, 12), 60 + i).convert("RGB").save(self.data / part / name / f"{i}.png")

    def train(self, *more):
        return subprocess.run([STOKER, "train", "--data", str(self.data), "--aa", "resize(8,8)", "--model", "mlp:192,8,2:relu", "--batch-size",
                               "4", "--epochs", "1", "--threads", "1", "--workers", "1", "--no-report", "--output",
                               str(self.data / "runs"), *more], capture_output=True, text=True, timeout=120, check=False)

    def test_images_of_other_formats_are_an_error_or_skipped(self):
        photo = Image.effect_noise((12, 12), 60).convert("RGB")
        for name in ("a.tga", "b.gif", "c.gif"):
            photo.save(self.data / "train" / "ant" / name)
        photo.save(self.data / "train" / "bee" / "photo", format="JPEG")
        (self.data / "train" / "ant" / "Thumbs.db").write_bytes(b"junk")
        (self.data / "val" / "ant" / "notes.txt").write_text("notes", encoding="utf-8")
        done = self.train()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("4 files of the data look like images", done.stderr)
        self.assertIn("--skip-unknown", done.stderr)
        self.assertFalse((self.data / "runs").exists())
        done = self.train("--skip-unknown", "--experiment", "skipped")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("ignored    5 files: ", "1 unsupported image (.tga)", "1 image without its extension (a JPEG image, no extension)",
                      "1 junk (Thumbs.db)", "ignored    1 file: 1 not an image (.txt)"):
            self.assertIn(words, done.stdout)
        self.assertIn("ignored    5 files", (self.data / "runs" / "skipped" / "log.txt").read_text(encoding="utf-8"))
        # The word of the start holds for the continuation.
        again = subprocess.run([STOKER, "train", "--resume", str(self.data / "runs" / "skipped")], capture_output=True, text=True,
                               timeout=120, check=False)
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_other_files_are_only_counted(self):
        (self.data / "train" / "ant" / "readme.md").write_text("notes", encoding="utf-8")
        done = self.train()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ignored    1 file: 1 not an image (.md)", done.stdout)

    def test_twelve_bits_in_sixteen_are_a_warning(self):
        bright = self.train("--experiment", "bright")
        self.assertNotIn("warning    ", bright.stdout)
        for path in self.data.glob("train/*/*.png"):
            Image.open(path).convert("L").convert("I;16").point(lambda v: v * 16).save(path)
        dark = self.train("--experiment", "dark")
        self.assertEqual(dark.returncode, 0, dark.stderr)
        self.assertRegex(dark.stdout, r"warning    8 of 8 images examined are nearly black, such as .*png: they have 16 bits")
        self.assertIn("multiply 16", dark.stdout)
        for path in self.data.glob("train/*/*.png"):
            Image.open(path).point(lambda v: v * 16).save(path)
        self.assertNotIn("warning    ", self.train("--experiment", "scaled").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
