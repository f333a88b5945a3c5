#!/usr/bin/env python3
"""The first commands of a new user, from an empty folder: what is left out is chosen and told, a run's folder is a model, nothing is
overwritten. Run by ctest with the program's path as STOKER. Needs Fashion-MNIST (Debian's dataset-fashion-mnist)."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from helpers import catches, png

STOKER = os.environ["STOKER"]
FEW = ["--train-samples", "1500", "--epochs", "1", "--no-report"]
SMALL = [*FEW, "--model", "cnn:4"]  # where the network does not matter; it validates and tests 16,000 images soon


class FirstSteps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.trained = cls.stoker("train", "fashion-mnist", *FEW, "--metrics-file", "stoker.prom")
        cls.run_folder = "runs/fashion-mnist-cnn"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def stoker(cls, *words, code=0):
        done = subprocess.run([STOKER, *map(str, words)], cwd=cls.path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def test_training_chooses_and_tells(self):
        self.assertIn("network cnn:small", self.trained.stdout)
        self.assertIn("recipe small-images", self.trained.stdout)
        settings = (self.path / self.run_folder / "args.yaml").read_text(encoding="utf-8")
        self.assertIn("model: \"cnn:", settings)
        self.assertIn("recipe: \"small-images\"", settings)
        self.assertIn("opt: adamw", settings)

    def test_a_run_is_a_model(self):
        png(self.path / "shirt.png", 40, 60, lambda x, y: 200 if 8 < x < 32 else 0)
        done = self.stoker("predict", "shirt.png", "--weights", self.run_folder)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertIn("images are resized to 28x28 and converted to grey", done.stderr)
        evaluated = json.loads(self.stoker("eval", "fashion-mnist", "--weights", self.run_folder, "--json").stdout)
        self.assertGreater(evaluated["top1"], 0.5)
        self.assertIn("stoker.architecture", self.stoker("info", self.run_folder).stdout)
        self.stoker("export", self.run_folder, "--out", "model.onnx")
        self.assertGreater((self.path / "model.onnx").stat().st_size, 1000)

    def test_nothing_is_overwritten(self):
        self.stoker("preview", self.run_folder, "-o", "sheet.png")
        refused = self.stoker("preview", self.run_folder, "-o", "sheet.png", code=1)
        self.assertIn("sheet.png", refused.stderr)
        self.assertIn("--force", refused.stderr)
        self.stoker("preview", self.run_folder, "-o", "sheet.png", "--force")
        (self.path / "rows.csv").write_text("mine\n", encoding="utf-8")
        self.stoker("predict", "fashion-mnist", "--weights", self.run_folder, "--out", "rows.csv", code=1)
        self.assertEqual((self.path / "rows.csv").read_text(encoding="utf-8"), "mine\n")

    def test_preview_shows_what_the_run_trained_on(self):
        done = self.stoker("preview", self.run_folder, "-o", "trained_on.png")
        self.assertIn("of 1500 in", done.stdout)

    def test_a_run_is_extended_where_the_schedule_permits(self):
        flags = ["train", "fashion-mnist", *SMALL, "--sched", "constant", "--experiment", "constant"]
        self.stoker(*flags)
        finished = self.stoker("train", "--resume", "runs/constant")
        self.assertIn("the run is finished: 1 of 1 epochs", finished.stdout)
        self.stoker("train", "--resume", "runs/constant", "--epochs", "2")
        rows = (self.path / "runs/constant/results.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(rows), 3)
        self.assertIn("epochs: 2", (self.path / "runs/constant/args.yaml").read_text(encoding="utf-8"))
        whole = [word if word != "constant" or i < len(flags) - 1 else "whole" for i, word in enumerate(flags)]
        self.stoker(*whole, "--epochs", "2")
        same = json.loads(self.stoker("info", "--json", "--compare", "runs/constant", "runs/whole").stdout)
        self.assertEqual(same["identical"], same["compared"])
        refused = self.stoker("train", "--resume", self.run_folder, "--epochs", "2", code=1)
        self.assertIn("cosine", refused.stderr)
        self.assertIn(f"--pretrained {self.run_folder}", refused.stderr)
        compared = self.stoker("compare", "runs/constant", "runs/whole")
        self.assertIn("comparison.html", compared.stdout)
        self.stoker("compare", "runs/constant", "runs/whole", code=1)

    def test_labels_that_the_model_doubts(self):
        """Three classes of stripes; six images lie in the folder of another class."""
        for kind, stripe in enumerate((2, 4, 8)):
            for i in range(40):
                folder = self.path / "stripes" / str((kind + 1) % 3 if i % 20 == 0 else kind)
                folder.mkdir(parents=True, exist_ok=True)
                png(folder / f"{kind}_{i}.png", 32, 32, lambda x, y, s=stripe, i=i: 40 + i if (x + i) // s % 2 else 220 - i)
        self.stoker("train", "stripes", "--img-size", "32", "--model", "cnn:8,16", "--epochs", "8", "--opt", "adam", "--lr", "0.01", "--folds", "3",
                    "--batch-size", "16", "--experiment", "stripes", "--no-report")
        done = self.stoker("doctor", "stripes", "--weights", "runs/stripes", "--out", "stripes-doctor", "--near", "-1", "--fail-on", "never")
        self.assertNotIn("may have trained on these images", done.stdout)
        findings = json.loads((self.path / "stripes-doctor/doctor.json").read_text(encoding="utf-8"))["findings"]
        first = [finding["paths"][0] for finding in findings if finding["kind"] == "suspect_label"][:6]
        wrong = {f"{(kind + 1) % 3}/{kind}_{i}.png" for kind in range(3) for i in (0, 20)}
        self.assertGreaterEqual(len(wrong.intersection(first)), 4, first)
        single = self.stoker("doctor", "stripes", "--weights", "runs/stripes/fold-0", "--fail-on", "never")
        self.assertIn("may have trained on these images", single.stdout)
        self.assertTrue((self.path / "doctor-stripes/doctor.html").exists())

    def test_habits_of_others(self):
        done = self.stoker("train", "data=fashion-mnist", "epochs=1", "batch=64", "--model", "cnn:4", "--train-samples", "300", "--wd", "0.01",
                           "--opt", "AdamW", "--amp", "auto", "--experiment", "habits", "--no-report")
        settings = (self.path / "runs/habits/args.yaml").read_text(encoding="utf-8")
        for line in ("batch-size: 64", "weight-decay: 0.01", "opt: adamw"):
            self.assertIn(line, settings)
        self.assertRegex(settings, r"(?m)^amp: (on|off)$")  # what was chosen, not "auto"
        self.assertRegex(done.stdout, r"chosen     (float32|bfloat16), because this CPU has (no )?AMX")
        refused = self.stoker("train", "fashion-mnist", "--num-classes", "10", code=2)
        self.assertIn("the number of classes follows from the data", refused.stderr)

    def test_figures_for_prometheus(self):
        text = (self.path / "stoker.prom").read_text(encoding="utf-8")
        for name in ("samples_per_second", "data_wait_ratio", "loss", "accuracy", "epoch", "validation_accuracy"):
            self.assertRegex(text, rf'(?m)^stoker_{name}{{run="fashion-mnist-cnn"}} [0-9.e-]+$')
            self.assertIn(f"# TYPE stoker_{name} gauge", text)

    def test_a_tracker_that_is_not_installed(self):
        refused = self.stoker("log", self.run_folder, "--to", "trackio", code=1)
        self.assertIn("pip install trackio", refused.stderr)

    def test_long_commands_stop_cleanly(self):
        """At the first SIGINT: exit code 3, a line that says so, no file."""
        for words in (["predict", "fashion-mnist", "--weights", self.run_folder, "--split", "train", "--out", "stopped.csv"],
                      ["eval", "fashion-mnist", "--weights", self.run_folder, "--split", "train"],
                      ["shard", "fashion-mnist", "--out", "stopped-shards", "--quality", "90"]):
            process = subprocess.Popen([STOKER, *words], cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 60
            while not catches(process.pid, signal.SIGINT) and time.monotonic() < deadline:
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 3, f"{words}: {said}")
            self.assertIn("stopped by SIGINT", said)
        self.assertFalse((self.path / "stopped.csv").exists())

    def test_help(self):
        self.assertIn("Train image classifiers", self.stoker("help").stdout)
        self.assertEqual(self.stoker("help", "train").stdout, self.stoker("train", "-h").stdout)
        self.stoker("help", "nothing", code=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=2)
