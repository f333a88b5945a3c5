#!/usr/bin/env python3
"""Training, validation and test data as three things: folders, IDX, divisions by seed, folds, and what is refused.

Run by ctest with the program's path as STOKER. Needs MNIST and the plates (in $STOKER_TEST_DATA, default ../shared/data).
"""

import csv
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

import runs

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.setdefault("STOKER_TEST_DATA", str(SOURCE.parent / "shared" / "data")))
PLATES = DATA / "plates" / "train"
needs_plates = unittest.skipUnless(PLATES.is_dir(), f"needs the plates in {PLATES}: set STOKER_TEST_DATA")
needs_mnist = unittest.skipUnless((DATA / "mnist").is_dir(), f"needs MNIST in {DATA}: set STOKER_TEST_DATA")
QUICK = ["--threads", "1", "-j", "1", "--no-report"]
SMALL = ["train", "--data", "mnist", "--model", "mlp:784,16,10:relu", "--epochs", "2", "--batches-per-epoch", "60", *QUICK]


def run(*arguments, **options):
    return subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def must(*arguments, **options):
    done = run(*arguments, **options)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def evaluated(data, weights, *extra):
    return json.loads(must("eval", data, "--weights", weights, "--json", *extra))


def facts(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def results(folder):
    with open(folder / "results.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def best(folder):
    return folder / "weights" / "best.safetensors"


class Case(runs.Case):
    def refused(self, code, *words, arguments):
        done = run(*arguments, "--output", self.output / "refused")
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.output / "refused").exists())


@needs_plates
class Folders(Case):
    """12 + 12 images to train, 4 + 4 to validate, 4 + 3 to test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.output / "data"
        for label in ("cleaned", "dirty"):
            for i, path in enumerate(sorted((PLATES / label).iterdir())[:19 if label == "dirty" else 20]):
                part = "train" if i < 12 else "val" if i < 16 else "test"
                (cls.data / part / label).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, cls.data / part / label)
        cls.words = ["train", "--model", "cnn:4,8", "--aa", "resize(32,32)", "--epochs", "2", "-b", "8", *QUICK]
        cls.log = must(*cls.words, "--data", cls.data, "--output", cls.output, "--experiment", "three")
        cls.three = cls.output / "three"

    def test_a_run_trains_validates_and_tests_on_its_own_part(self):
        self.assertIn("24 samples to train, 8 to validate", self.log)
        self.assertIn("validation validation part", self.log)
        self.assertRegex(self.log, r"(?m)^test       top-1 \d+\.\d\d %, loss .*, 7 samples \(test part\), weights of epoch")
        test = facts(self.three)["test"]
        self.assertEqual((test["samples"], test["weights"], test["data"]), (7, "best", "test part"))
        self.assertAlmostEqual(evaluated(self.data, best(self.three))["top1"], test["top1"], places=6)

    def test_eval_takes_the_split_that_is_named(self):
        for split, samples in (("train", 24), ("val", 8), ("test", 7)):
            found = evaluated(self.data, best(self.three), "--split", split)
            self.assertEqual((found["samples"], found["split"]), (samples, split))
        self.assertIn("data       test\n", must("eval", self.data, "--weights", best(self.three)))
        rows = must("predict", self.data, "--weights", best(self.three), "--split", "test").splitlines()
        self.assertEqual(len(rows), 8)
        self.assertTrue(all("/test/" in row for row in rows[1:]))
        self.assertEqual(evaluated(self.data / "val", best(self.three))["split"], "all")
        train_only = self.output / "train-only"
        train_only.mkdir()
        (train_only / "train").symlink_to(self.data / "train")
        done = run("eval", train_only, "--weights", best(self.three), "--split", "val")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the data has no validation part", done.stderr)

    def test_a_resumed_finished_run_keeps_its_test(self):
        folder = self.output / "again"
        shutil.copytree(self.three, folder)
        before = facts(folder)["test"]
        must("train", "--resume", folder)
        self.assertEqual(facts(folder)["test"], before)
        # Killed after training and before the test: nothing is lost.
        facts_without = {key: value for key, value in facts(folder).items() if key not in ("test", "state")}
        (folder / "run.json").write_text(json.dumps(facts_without), encoding="utf-8")
        must("train", "--resume", folder)
        self.assertEqual(facts(folder)["test"], before)

    def test_the_report_shows_the_test_as_such(self):
        must("report", self.three, "--out", self.output / "r.html")
        page = (self.output / "r.html").read_text(encoding="utf-8")
        top1 = 100 * facts(self.three)["test"]["top1"]
        self.assertIn(f"<b>{top1:.2f} %</b><span>test top-1, weights of epoch", page)
        self.assertIn("best validation top-1", page)
        must("report", self.three, "--format", "md", "--out", self.output / "r.md")
        self.assertIn(f"Test top-1 {top1:.2f} % on 7 samples", (self.output / "r.md").read_text(encoding="utf-8"))

    def test_other_test_data_can_be_named(self):
        must(*self.words, "--data", self.data, "--test-data", self.data / "val", "--output", self.output, "--experiment",
             "other")
        test = facts(self.output / "other")["test"]
        self.assertEqual((test["samples"], test["data"]), (8, str(self.data / "val")))

    def test_a_list_is_divided_too(self):
        lines = [f"{path}\t{path.parent.name}" for path in sorted((self.data / "train").glob("*/*"))]
        (self.output / "all.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for flags, train, val in ((["--val-every", 4], 18, 6), (["--val-fraction", "0.25"], 18, 6), ([], 22, 2)):
            log = must(*self.words, "--data", self.output / "all.txt", "--output", self.output / "lists", *flags)
            self.assertIn(f"{train} samples to train, {val} to validate", log)

    def test_what_is_missing_is_said(self):
        self.refused(1, "the training data has no classes", "class folders",
                     arguments=[*self.words, "--data", self.data / "train" / "dirty"])
        self.refused(1, "the validation data has no classes",
                     arguments=[*self.words, "--data", self.data, "--val-data", self.data / "val" / "dirty"])
        unlabelled = self.output / "unlabelled"
        must("shard", self.data / "train" / "dirty", "--out", unlabelled)
        self.refused(1, "the training data has no classes", "shards",
                     arguments=[*self.words, "--data", unlabelled, "--val-data", self.data / "val"])
        labelled = self.output / "labelled"
        must("shard", self.data / "train", "--out", labelled, "--shard-size", "20KB")
        self.refused(1, "the shards have no validation part", "--val-data", "--val-fraction",
                     arguments=[*self.words, "--data", labelled])
        log = must(*self.words, "--data", labelled, "--val-fraction", "0.3", "--output", self.output, "--experiment", "sh")
        self.assertIn("val-fraction 0.3, split-seed 0 of the training data", log)


@needs_mnist
class Idx(Case):
    def train(self, name, *extra):
        return must(*SMALL, "--output", self.output, "--experiment", name, *extra), self.output / name

    def test_validation_comes_from_the_training_data_by_its_own_seed(self):
        log, folder = self.train("a")
        self.assertIn("54000 samples to train, 6000 to validate", log)
        self.assertIn("val-fraction 0.1, split-seed 0 of the training data", log)
        top1 = max(float(row["val_top1"]) for row in results(folder))
        found = evaluated("mnist", best(folder), "--split", "val")
        self.assertEqual(found["samples"], 6000)
        self.assertAlmostEqual(found["top1"], top1, places=5)
        self.assertEqual(found["split"], "val (val-fraction 0.1, split-seed 0)")
        # Stratified, so that each class has a tenth.
        train = evaluated("mnist", best(folder), "--split", "train")
        self.assertEqual(train["samples"], 54000)
        for val, rest in zip(found["classes"], train["classes"]):
            self.assertAlmostEqual(val["support"] / (val["support"] + rest["support"]), 0.1, places=3)
        # --seed does not move the division; --split-seed does.
        _, other = self.train("b", "--seed", "7")
        same = evaluated("mnist", best(folder), "--split", "val")["confusion"]
        moved = must("info", best(other), "--json")
        self.assertIn("val-fraction 0.1, split-seed 0", moved)
        _, reseeded = self.train("c", "--split-seed", "1")
        self.assertEqual(evaluated("mnist", best(folder), "--split", "val")["confusion"], same)
        self.assertIn("val-fraction 0.1, split-seed 1", must("info", best(reseeded), "--json"))
        self.assertNotEqual((folder / "weights/last.safetensors").read_bytes(),
                            (reseeded / "weights/last.safetensors").read_bytes())

    def test_the_old_behaviour_has_to_be_asked_for(self):
        log, folder = self.train("old", "--val-split", "test")
        self.assertIn("60000 samples to train, 10000 to validate", log)
        self.assertNotIn("test       top-1", log)
        self.assertNotIn("test", facts(folder))
        self.assertAlmostEqual(evaluated("mnist", folder / "weights/last.safetensors")["top1"],
                               float(results(folder)[-1]["val_top1"]), places=5)

    def test_a_run_of_before_three_splits_validates_on_what_it_did(self):
        _, folder = self.train("before")
        lines = (folder / "args.yaml").read_text(encoding="utf-8").splitlines()
        new = ("val-fraction", "val-split", "split-seed", "test-data", "folds", "fold")
        old = [line for line in lines if line.split(":")[0] not in new]
        self.assertEqual(len(lines) - len(old), len(new))
        (folder / "args.yaml").write_text("\n".join(old) + "\n", encoding="utf-8")
        shutil.rmtree(folder / "checkpoints")
        (folder / "checkpoints").mkdir()
        for name in ("results.csv", "run.json", "data_identity.tsv.gz"):
            (folder / name).unlink()
        log = must("train", "--resume", folder)
        self.assertIn("60000 samples to train, 10000 to validate", log)
        self.assertNotIn("test", facts(folder))

    def test_ways_to_validate_exclude_one_another(self):
        for flags in (["--val-every", "6", "--val-fraction", "0.2"], ["--val-data", "mnist", "--val-split", "test"],
                      ["--folds", "3", "--val-fraction", "0.2"]):
            self.refused(2, "cannot be used with", arguments=[*SMALL, *flags])
        self.refused(2, "which part --val-data means", "--val-split test", arguments=[*SMALL, "--val-data", "mnist"])


@needs_plates
class Folds(Case):
    """Cross-validation, killed again and again, ends with the same figures."""

    def words(self, name):
        return ["train", "--data", PLATES, "--model", "cnn:4,8", "--aa", "resize(32,32)", "--epochs", "4", "-b", "8",
                "--folds", "3", "--test-data", PLATES, "--threads", "1", "-j", "1", "--checkpoint-every", "1steps",
                "--output", self.output, "--experiment", name]

    def test_all_folds_in_one_folder(self):
        log = must(*self.words("whole"))
        whole = self.output / "whole"
        summary = json.loads((whole / "folds.json").read_text(encoding="utf-8"))
        self.assertEqual(summary["folds"], 3)
        values = [max(float(row["val_top1"]) for row in results(whole / f"fold-{i}")) for i in range(3)]
        mean = sum(values) / 3
        self.assertAlmostEqual(summary["best_val_top1"]["mean"], mean, places=5)
        deviation = (sum((value - mean) ** 2 for value in values) / 2) ** 0.5
        self.assertAlmostEqual(summary["best_val_top1"]["std"], deviation, places=5)
        self.assertEqual(len(summary["test_top1"]["values"]), 3)
        self.assertIn(f"{100 * mean:.2f} ± {100 * deviation:.2f} %", log)
        page = (whole / "report.html").read_text(encoding="utf-8")
        self.assertIn("3 runs compared", page)
        self.assertIn(f"{100 * mean:.2f} ± {100 * deviation:.2f} %", page)
        seen = [facts(whole / f"fold-{i}")["data"]["validation_samples"] for i in range(3)]
        self.assertEqual(sum(seen), 40)
        self.killed(summary)
        self.one_fold(whole)

    def killed(self, expected):
        folder = self.output / "killed"
        rng = random.Random(3)
        kills = 0
        while not (folder / "folds.json").exists():
            words = ["train", "--resume", folder] if (folder / "folds.yaml").exists() else self.words("killed")
            process = subprocess.Popen([STOKER, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                _, errors = process.communicate(timeout=rng.uniform(0.3, 1) if kills < 6 else 300)
                self.assertEqual(process.returncode, 0, errors)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                if not (folder / "folds.yaml").exists():
                    shutil.rmtree(folder, ignore_errors=True)
        print(f"{kills} kills")
        self.assertGreater(kills, 2)
        self.assertEqual(json.loads((folder / "folds.json").read_text(encoding="utf-8")), expected)

    def one_fold(self, whole):
        must(*self.words("alone"), "--fold", "1")
        self.assertEqual((self.output / "alone/weights/last.safetensors").read_bytes(),
                         (whole / "fold-1/weights/last.safetensors").read_bytes())
        self.refused(2, "--fold 0 to 2", arguments=[*self.words("alone"), "--fold", "3"])


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
