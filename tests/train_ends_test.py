#!/usr/bin/env python3
"""Runs that go wrong: damaged validation images, a loss that diverges, weights that are no numbers, batches that cannot
be trained on. Also what a run says about its first batch and its time.

Run by ctest with the program's path as STOKER. Needs MNIST and the plates in $STOKER_TEST_DATA.
"""

import csv
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

import runs

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("STOKER_TEST_DATA", str(SOURCE.parent / "shared" / "data"))
DATA = pathlib.Path(os.environ["STOKER_TEST_DATA"])
PLATES = DATA / "plates" / "train"
needs_mnist = unittest.skipUnless((DATA / "mnist").is_dir(), "needs MNIST in $STOKER_TEST_DATA/mnist")
needs_plates = unittest.skipUnless(PLATES.is_dir(), "needs the plates in $STOKER_TEST_DATA/plates")


def run(*arguments):
    return subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def facts(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def table(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def without_times(rows):
    times = ("seconds", "val_seconds", "samples_per_second", "wait_share")
    return [{key: value for key, value in row.items() if key not in times} for row in rows]


class Case(runs.Case):
    def must(self, *arguments):
        done = run(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def refused(self, *arguments, words, code=1):
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def weights(self, name):
        return (self.output / name / "weights" / "last.safetensors").read_bytes()


class Photographs(Case):
    def arguments(self, name, *extra):
        return ["train", "--data", PLATES, "--model", "cnn:4,8", "--aa", "random_resized_crop(32),hflip(0.5)",
                "--epochs", "2", "-b", "8", "--threads", "1", "--output", self.output, "--experiment", name, *extra]


@needs_plates
class Validation(Photographs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.output / "validation"
        shutil.copytree(PLATES, cls.folder)
        cls.image = sorted(cls.folder.glob("dirty/*.jpg"))[3]
        cls.whole = cls.image.read_bytes()

    def damage(self):
        """Ends early, at the same size."""
        self.image.write_bytes(self.whole[:2000] + b"\xff\xd9" + bytes(len(self.whole) - 2002))
        self.addCleanup(self.image.write_bytes, self.whole)

    def test_a_damaged_image_stops_the_run_with_a_checkpoint_from_which_it_is_resumed(self):
        self.must(*self.arguments("unbroken", "--val-data", self.folder))
        self.damage()
        self.refused(*self.arguments("broken", "--val-data", self.folder), words=[str(self.image)])
        self.assertEqual([path.name for path in (self.output / "broken" / "checkpoints").iterdir()],
                         ["step-000000000005.safetensors"])
        self.assertFalse((self.output / "broken" / "results.csv").exists())
        self.refused("train", "--resume", self.output / "broken", words=[str(self.image)])
        self.image.write_bytes(self.whole)
        self.refused("train", "--resume", self.output / "broken", words=[self.image.name, "--accept-changed-data"])
        done = self.must("train", "--resume", self.output / "broken", "--accept-changed-data")
        self.assertIn("validation of epoch 1, step 5", done.stdout)
        for which in ("last", "best"):
            self.assertEqual(*((self.output / name / "weights" / f"{which}.safetensors").read_bytes()
                               for name in ("unbroken", "broken")))
        for file in ("results.csv", "steps.csv"):
            self.assertEqual(*(without_times(table(self.output / name / file)) for name in ("unbroken", "broken")))

    def test_skipping_holds_for_validation_and_the_figures_say_so(self):
        self.damage()
        done = self.must(*self.arguments("skipped", "--val-data", self.folder, "--on-error", "skip", "--log-json"))
        folder = self.output / "skipped"
        self.assertEqual(done.stdout.count("validation is of 39 of 40 images: 1 could not be read"), 1)
        self.assertEqual([row["val_samples"] for row in table(folder / "results.csv")], ["39", "39"])
        self.assertEqual(facts(folder)["validated"], {"samples": 39, "skipped": 1})
        self.assertEqual({row["sample"] for row in table(folder / "errors.csv")}, {str(self.image)})
        epochs = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines() if '"epoch"' in line]
        self.assertEqual({line["val_skipped"] for line in epochs if line["event"] == "epoch"}, {1})
        self.assertIn("39 of 40 images", (folder / "report.html").read_text(encoding="utf-8"))
        self.refused(*self.arguments("toomany", "--val-data", self.folder, "--on-error", "skip", "--max-errors", "0"),
                     words=["at most 0 that cannot"])
        self.assertTrue((self.output / "toomany" / "errors.csv").exists())


@needs_mnist
class Divergence(Case):
    BASE = ["train", "--data", "mnist", "--model", "mlp:784,32,10:relu", "--batches-per-epoch", "150", "-b", "16",
            "--epochs", "3", "--lr", "1000"]

    def test_it_ends_the_run_with_a_hint_unless_it_may_continue(self):
        extra = ["--output", self.output, "--experiment"]
        done = self.refused(*self.BASE, *extra, "stopped", words=["training diverged at step", "--lr (now 1000)",
                                                                  "--clip-grad", "--on-divergence continue"])
        self.assertRegex(done.stdout, r"diverged   step \d+: the loss ")
        self.assertEqual(facts(self.output / "stopped")["state"], "diverged")
        self.assertIn("step ", facts(self.output / "stopped")["diverged"])
        continued = self.must(*self.BASE, *extra, "continued", "--on-divergence", "continue")
        self.assertEqual(continued.stdout.count("diverged   step"), 1)
        self.assertEqual(facts(self.output / "continued")["state"], "finished")
        self.assertEqual(facts(self.output / "continued")["diverged"], facts(self.output / "stopped")["diverged"])

    def test_a_resumed_run_ends_at_the_same_step(self):
        self.refused(*self.BASE, "--output", self.output, "--experiment", "often", "--checkpoint-every", "7steps",
                     words=["training diverged"])
        first = facts(self.output / "often")["diverged"]
        self.refused("train", "--resume", self.output / "often", words=["training diverged"])
        self.assertEqual(facts(self.output / "often")["diverged"], first)
        self.assertEqual(facts(self.output / "often")["state"], "diverged")


def set_first_value(path, value):
    """Of the first float32 tensor of a safetensors file."""
    data = bytearray(path.read_bytes())
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    begin = min(entry["data_offsets"][0] for name, entry in header.items()
                if name != "__metadata__" and entry["dtype"] == "F32")
    struct.pack_into("<f", data, 8 + length + begin, value)
    path.write_bytes(data)


@needs_mnist
class NonFinite(Case):
    def test_weights_that_are_no_numbers_are_refused_unless_allowed(self):
        train = ["train", "--data", "mnist", "--model", "mlp:784,16,10", "--batches-per-epoch", "2", "--epochs", "1",
                 "--no-report", "--output", self.output, "--experiment"]
        self.must(*train, "made")
        file = self.output / "made" / "weights" / "last.safetensors"
        set_first_value(file, float("nan"))
        uses = [["eval", "mnist", "--weights", file], ["predict", "mnist", "--weights", file, "--out", "/dev/null"],
                ["export", file, "--out", self.output / "m.onnx"], ["export", file, "--out", self.output / "m.pth"],
                [*train, "tuned", "--pretrained", file]]
        for use in uses:
            self.refused(*use, words=["are NaN or infinite", "--allow-nonfinite"])
        self.assertEqual(sorted(path.name for path in self.output.iterdir()), ["made"], "nothing is written")
        for use in uses[:-1]:
            self.must(*use, "--allow-nonfinite")
        self.refused(*uses[-1], "--allow-nonfinite", words=["training diverged", "the loss is not finite"])

    def test_means_and_deviations_must_be_numbers(self):
        for flags, word in ((["--std", "0"], "finite numbers above 0"), (["--std", "-1"], "--std"),
                            (["--mean", "nan"], "--mean"), (["--std", "inf"], "--std")):
            self.refused("train", "--data", "mnist", "--model", "mlp:784,16,10", "--output", self.output, *flags,
                         words=[word], code=2)


@needs_plates
class Batches(Photographs):
    def test_a_last_batch_of_one_sample_is_refused_before_the_start(self):
        one_pixel = ["--aa", "resize(32,32)", "--model", "cnn:4,4,4,4,4,4", "--val-data", PLATES, "--epochs", "1"]
        self.refused(*self.arguments("single", *one_pixel, "-b", "39"),
                     words=["single sample", "40 samples in batches of 39, the last of 1", "--batch-size 38 or 40"])
        self.assertFalse((self.output / "single").exists())
        self.must(*self.arguments("pairs", *one_pixel, "-b", "38"))

    def test_the_first_batch_is_shown_as_it_is_trained_on(self):
        found = {}
        for name, extra in (("scaled", []), ("exact", ["--exact-decode"])):
            self.must(*self.arguments(name, "--val-data", PLATES, "--epochs", "1", "--no-report", *extra))
            found[name] = (facts(self.output / name)["first_batch_digest"],
                           (self.output / name / "train_batch0.png").read_bytes(), self.weights(name))
        for scaled, exact in zip(found["scaled"], found["exact"]):
            self.assertNotEqual(scaled, exact)

    def test_time_for_features_is_counted(self):
        self.must(*self.arguments("kept", "--val-data", PLATES, "--freeze", "all", "--features", "cached", "--cached-views",
                                  "2"))
        folder = self.output / "kept"
        times = [float(row["features_seconds"]) for row in table(folder / "timing.csv")]
        self.assertGreater(times[0], 0)
        self.assertEqual(times[1], 0)
        self.assertAlmostEqual(facts(folder)["features_seconds"], times[0], places=2)
        self.assertIn("making features", (folder / "report.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
