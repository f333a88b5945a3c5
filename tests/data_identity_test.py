#!/usr/bin/env python3
"""The same path is not the same data: ranks that see different data and runs that resume with changed data are refused, with the
first difference.

Run by ctest with the program's path as STOKER.
"""

import os
import shutil
import signal
import subprocess
import time
import unittest

from PIL import Image

from ranks import STOKER, Ranks, clean_environment, facts, saved_step
from runs import Case

CLASSES = ("ant", "bee", "cow")
FLAGS = ["--aa", "resize(8,8)", "--model", "mlp:192,8,3:relu", "--batch-size", "6", "--threads", "1", "--workers", "1", "--timeout", "20",
         "--lr", "0.01", "--no-report"]


def write_image(path, seed, size=8):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (size, size))
    # Stored without compression, so that the same number of pixels is the same number of bytes.
    image.putdata([((seed * 37 + i * 5) % 256, (seed * 11 + i) % 256, (i * seed) % 256) for i in range(size * size)])
    image.save(path, compress_level=0)


def write_data(folder, images=6):
    for part in ("train", "val"):
        for number, name in enumerate(CLASSES):
            for i in range(images if part == "train" else 2):
                write_image(folder / part / name / f"{i:03}.png", 100 * number + 10 * i + len(part))


def in_own_mounts():
    """What runs a command with mounts of its own, or nothing where that is not allowed."""
    for words in (["unshare", "-m"], ["unshare", "-rm"]):
        if shutil.which("unshare") and subprocess.run([*words, "mount", "--bind", "/tmp", "/tmp"], capture_output=True,
                                                      check=False).returncode == 0:
            return words
    return None


OWN_MOUNTS = in_own_mounts()


@unittest.skipUnless(OWN_MOUNTS, "mount namespaces are not allowed here")
class OtherRanks(Case):
    """Two ranks, one of which sees another folder behind the same path."""

    def behind(self, other, *more):
        """Trains with rank 1 seeing `other` in place of the data; both ranks' errors."""
        data = self.output / "data"
        script = 'mount --bind "$0" "$1" && shift && exec "$@"'

        def prefix(rank):
            return [*OWN_MOUNTS, "sh", "-c", script, str(other), str(data)] if rank == 1 else []

        arguments = ["train", "--data", data, *FLAGS, "--epochs", "1", "--output", self.output / "runs", *more]
        with Ranks(2, arguments, prefix=prefix) as ranks:
            codes = ranks.wait(60)
            return codes, ranks[0].stderr, ranks[1].stderr, ranks.report()

    def setUp(self):
        self.data = self.output / "data"
        shutil.rmtree(self.data, ignore_errors=True)
        write_data(self.data)
        self.other = self.output / "other"
        shutil.rmtree(self.other, ignore_errors=True)
        shutil.copytree(self.data, self.other)

    def expect_refused(self, difference):
        codes, error_0, error_1, report = self.behind(self.other, "--experiment", "refused")
        self.assertEqual(codes, [1, 1], report)
        self.assertRegex(error_1, rf"rank 1 \([^)]*\) sees other data than rank 0 \([^)]*\): {difference}")
        self.assertRegex(error_0, rf"rank 1 \([^)]*\) failed: .*{difference}")
        self.assertFalse((self.output / "runs" / "refused").exists(), "a run's folder was made")

    def test_a_copy_is_the_same_data(self):
        codes, _, _, report = self.behind(self.other, "--experiment", "same")
        self.assertEqual(codes, [0, 0], report)

    def test_31_more_images(self):
        for i in range(31):
            write_image(self.other / "train" / "bee" / f"1{i:02}.png", i)
        self.expect_refused("train/bee/100.png is here and not on rank 0")

    def test_rotated_classes(self):
        train = self.other / "train"
        train.joinpath("ant").rename(train / "x")
        train.joinpath("bee").rename(train / "ant")
        train.joinpath("cow").rename(train / "bee")
        train.joinpath("x").rename(train / "cow")
        self.expect_refused("train/ant/000.png has other content here than on rank 0")

    def test_a_renamed_class_and_another_validation_part(self):
        for part in ("train", "val"):
            (self.other / part / "cow").rename(self.other / part / "dog")
        self.expect_refused("class 2 is 'dog' here and 'cow' on rank 0")
        shutil.rmtree(self.other)
        shutil.copytree(self.data, self.other)
        (self.other / "val" / "ant" / "001.png").unlink()
        self.expect_refused("val/ant/001.png is on rank 0 and not here")


class Resume(Case):
    """A run that was stopped, its data changed, and resumed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data, cls.stopped = cls.output / "data", cls.output / "stopped"
        write_data(cls.data)
        cls.kept = cls.output / "kept"
        shutil.copytree(cls.data, cls.kept)
        cls.stop_a_run(cls.stopped)

    @classmethod
    def stop_a_run(cls, folder, *more):
        command = [STOKER, "train", "--data", str(cls.data), *FLAGS, *more, "--epochs", "40", "--checkpoint-every", "1epoch", "--output",
                   str(folder.parent), "--experiment", folder.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean_environment()) as process:
            end = time.monotonic() + 60
            while saved_step(folder) == 0 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[0]
        assert process.returncode == 3, said

    def setUp(self):
        shutil.rmtree(self.data)
        shutil.copytree(self.kept, self.data)
        self.run_folder = self.output / "run"
        shutil.rmtree(self.run_folder, ignore_errors=True)
        shutil.copytree(self.stopped, self.run_folder)

    def resume(self, *more):
        return subprocess.run([STOKER, "train", "--resume", str(self.run_folder), *more], capture_output=True, text=True, timeout=120,
                              env=clean_environment(), check=False)

    def expect_refused(self, difference):
        step = saved_step(self.run_folder)
        done = self.resume()
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("the data has changed since the run was started", done.stderr)
        self.assertIn(difference, done.stderr)
        self.assertIn("--accept-changed-data", done.stderr)
        self.assertEqual(saved_step(self.run_folder), step)

    def test_unchanged_data_resumes(self):
        done = self.resume()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("data_changes", facts(self.run_folder))

    def test_an_image_added_removed_or_replaced(self):
        write_image(self.data / "train" / "bee" / "007.png", 7)
        self.expect_refused("train/bee/007.png is here and not in the run's data")
        (self.data / "train" / "bee" / "007.png").unlink()
        image = self.data / "train" / "bee" / "003.png"
        before, content = image.stat(), image.read_bytes()
        image.unlink()
        self.expect_refused("train/bee/003.png is in the run's data and not here")
        write_image(image, 99)
        os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual((image.stat().st_size, image.stat().st_mtime_ns), (before.st_size, before.st_mtime_ns))
        self.assertNotEqual(image.read_bytes(), content)
        self.expect_refused("train/bee/003.png has other content here than in the run's data")

    def test_a_validation_image_and_a_class(self):
        write_image(self.data / "val" / "ant" / "000.png", 5, size=9)
        self.expect_refused("val/ant/000.png has ")
        for part in ("train", "val"):
            (self.data / part / "cow").rename(self.data / part / "dog")
        self.expect_refused("class 2 is 'dog' here and 'cow' in the run's data")

    def test_an_accepted_change_is_recorded_and_shown(self):
        write_image(self.data / "train" / "bee" / "007.png", 7)
        done = self.resume("--accept-changed-data")
        self.assertEqual(done.returncode, 0, done.stderr)
        difference = "train/bee/007.png is here and not in the run's data"
        self.assertIn(difference, done.stdout)
        self.assertIn(difference, (self.run_folder / "log.txt").read_text(encoding="utf-8"))
        [change] = facts(self.run_folder)["data_changes"]
        self.assertEqual(change["difference"], difference)
        self.assertGreater(change["step"], 0)
        subprocess.run([STOKER, "report", str(self.run_folder)], capture_output=True, check=True, timeout=60)
        page = next(self.run_folder.glob("*.html")).read_text(encoding="utf-8")
        self.assertIn("bee/007.png is here and not in the run&#39;s data", page.replace("&apos;", "&#39;"))
        self.assertNotIn("accept-changed-data", (self.run_folder / "args.yaml").read_text(encoding="utf-8"))
        # What was accepted is the run's data from now on.
        again = self.resume()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(facts(self.run_folder)["data_changes"]), 1)

    def test_a_change_that_was_accepted_before_a_kill_needs_no_second_word(self):
        write_image(self.data / "train" / "bee" / "007.png", 7)
        checkpoints = {path: path.read_bytes() for path in (self.run_folder / "checkpoints").iterdir()}
        self.assertEqual(self.resume("--accept-changed-data").returncode, 0)
        shutil.rmtree(self.run_folder / "checkpoints")
        for path, content in checkpoints.items():  # as if killed before the next one
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        done = self.resume()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_without_a_record_says_so(self):
        (self.run_folder / "data_identity.tsv.gz").unlink()
        self.forget_digests()
        write_image(self.data / "train" / "bee" / "007.png", 7)
        done = self.resume()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("data       not compared", done.stdout)
        self.assertTrue((self.run_folder / "data_identity.tsv.gz").exists())

    def forget_digests(self):
        """Checkpoints as an older version wrote them cannot be made here (their digest covers the metadata), so the run starts again, as one that
        was killed before it had results."""
        for name in ("checkpoints", "weights"):
            shutil.rmtree(self.run_folder / name)
        (self.run_folder / "results.csv").unlink(missing_ok=True)
        (self.run_folder / "checkpoints").mkdir()

    def test_a_lost_record_is_missed_only_for_the_words(self):
        (self.run_folder / "data_identity.tsv.gz").write_bytes(b"damaged")
        self.assertEqual(self.resume().returncode, 0)
        shutil.rmtree(self.run_folder)
        shutil.copytree(self.stopped, self.run_folder)
        (self.run_folder / "data_identity.tsv.gz").unlink()
        write_image(self.data / "train" / "bee" / "007.png", 7)
        self.expect_refused("the first difference is not known")

    def test_val_every_with_added_images(self):
        shutil.rmtree(self.data / "val")
        for path in (self.data / "train").iterdir():
            path.rename(self.data / path.name)
        (self.data / "train").rmdir()
        folder = self.output / "every"
        self.stop_a_run(folder, "--val-every", "3")
        shutil.rmtree(self.run_folder)
        folder.rename(self.run_folder)
        write_image(self.data / "ant" / "000a.png", 77)
        self.expect_refused("ant/000a.png is here and not in the run's data")


if __name__ == "__main__":
    unittest.main(verbosity=2)
