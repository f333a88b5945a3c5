#!/usr/bin/env python3
"""Trains with the program as its users do: from the data to weights, broken off in every way, with wrong words.

Run by ctest with the program's path as STOKER. Needs MNIST and the plates (in $STOKER_TEST_DATA,
default ../shared/data).
STOKER_KILLS sets how often the run of the class Killed is killed (default 20; .ci/nightly: 200).
"""

import csv
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import runs

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("STOKER_TEST_DATA", str(SOURCE.parent / "shared" / "data"))
HAS_MNIST = pathlib.Path(os.environ["STOKER_TEST_DATA"], "mnist").is_dir()
needs_mnist = unittest.skipUnless(HAS_MNIST, "needs MNIST in $STOKER_TEST_DATA/mnist")

# A run of a few seconds whose every part has a state: augmentation, momentum, schedule, accumulation.
SMALL = ["train", "--data", "mnist", "--model", "mlp:784,32,10:relu", "--aa", "mnist", "--opt", "adamw", "--lr", "0.002",
         "--epochs", "3", "--batches-per-epoch", "400", "--batch-size", "32", "--grad-accum-steps", "2", "--seed", "4"]


def run(*arguments, timeout=300, **options):
    return subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, **options)


def must(*arguments, **options):
    done = run(*arguments, **options)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done


def weights(folder, which="last"):
    return (folder / "weights" / f"{which}.safetensors").read_bytes()


def checkpoints(folder):
    return sorted((folder / "checkpoints").glob("step-*.safetensors"))


def rows(folder):
    with open(folder / "results.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def steps(folder):
    """Which steps have a row. A mean begins anew where the run was resumed."""
    with open(folder / "steps.csv", encoding="utf-8") as file:
        return [(row["step"], row["epoch"], row["lr"]) for row in csv.DictReader(file)]


def without_times(table):
    times = ("seconds", "val_seconds", "samples_per_second", "wait_share")
    return [{key: value for key, value in row.items() if key not in times} for row in table]


class Case(runs.Case):
    """With an unbroken small run to compare with."""

    @classmethod
    def unbroken(cls):
        """The small run, trained once for all tests of a class."""
        if not (cls.output / "unbroken").exists():
            must(*SMALL, "--output", cls.output, "--experiment", "unbroken")
        return cls.output / "unbroken"

    def small(self, name, *extra):
        must(*SMALL, "--output", self.output, "--experiment", name, *extra)
        return self.output / name


@needs_mnist
class Defaults(Case):
    """R04: one command, the defaults, more than 95 %."""

    def test_mnist_passes_95_percent_in_under_a_minute(self):
        begin = time.monotonic()
        done = must("train", "--data", "mnist", "--model", "mlp:784,128,10", "--output", self.output)
        seconds = time.monotonic() - begin
        folder = self.output / "mnist-mlp"
        accuracy = float(rows(folder)[-1]["val_top1"])
        test = json.loads((folder / "run.json").read_text(encoding="utf-8"))["test"]
        print(f"top-1 {accuracy:.4f}, of the test {test['top1']:.4f}, after {seconds:.1f} s")
        self.assertGreater(accuracy, 0.95)
        self.assertGreater(test["top1"], 0.95)
        self.assertLess(seconds, 60)
        for word in ("device     cpu", "threads    ", "best       epoch"):
            self.assertIn(word, done.stdout)
        for name in ("args.yaml", "results.csv", "log.txt", "weights/best.safetensors", "weights/last.safetensors",
                     "train_batch0.png", "confusion_matrix.png"):
            self.assertTrue((folder / name).stat().st_size > 0, name)
        self.assertEqual(done.stdout, (folder / "log.txt").read_text(encoding="utf-8"))
        self.check_eval(folder, accuracy, test)
        self.check_predict(folder, accuracy)

    def check_eval(self, folder, accuracy, test):
        val = json.loads(must("eval", "--data", "mnist", "--weights", folder / "weights/last.safetensors", "--split",
                              "val", "--json").stdout)
        self.assertAlmostEqual(val["top1"], accuracy, places=5)
        self.assertEqual(val["samples"], 6000)
        found = json.loads(must("eval", "--data", "mnist", "--weights", folder / "weights/best.safetensors",
                                "--json").stdout)
        self.assertAlmostEqual(found["top1"], test["top1"], places=5)
        self.assertEqual(found["split"], "test")
        self.assertEqual(found["samples"], 10000)
        self.assertEqual(sum(found["confusion"]), 10000)
        self.assertGreaterEqual(found["top5"], found["top1"])
        self.assertLess(found["ece"], 0.1)
        self.assertEqual(len(found["classes"]), 10)
        self.assertIn("top-1", must("eval", "mnist", "--weights", folder / "weights/last.safetensors").stdout)

    def check_predict(self, folder, accuracy):
        out = self.output / "p.csv"
        must("predict", "mnist", "--weights", folder / "weights/last.safetensors", "--out", out)
        with open(out, encoding="utf-8") as file:
            table = list(csv.reader(file))
        self.assertEqual(len(table), 10001)
        shares = [float(x) for x in table[1][3:-1]]
        self.assertAlmostEqual(sum(shares), 1, places=4)
        self.assertAlmostEqual(max(shares), float(table[1][2]), places=6)
        lines = must("predict", "mnist", "--weights", folder / "weights/last.safetensors", "--format",
                     "jsonl").stdout.splitlines()
        self.assertEqual(len(lines), 10000)
        first = json.loads(lines[0])
        self.assertEqual(first["class"], table[1][1])
        self.assertEqual(len(first["probabilities"]), 10)


@needs_mnist
class SameBytes(Case):
    """A seed means one file of weights, whoever made it."""

    def test_runs_and_workers_make_the_same_file(self):
        first = weights(self.unbroken())
        self.assertEqual(weights(self.small("again")), first)
        for workers in ("1", "2", "4"):
            self.assertEqual(weights(self.small(f"w{workers}", "-j", workers)), first, workers)
        self.assertNotEqual(weights(self.small("other", "--seed", "5")), first)

    def test_a_convolutional_network_too(self):
        extra = ("--model", "cnn:8,16", "--batches-per-epoch", "60", "--epochs", "2")
        first = weights(self.small("cnn", *extra, "-j", "1"))
        for workers in ("2", "4"):
            self.assertEqual(weights(self.small(f"cnn{workers}", *extra, "-j", workers)), first, workers)

    def test_settings_from_the_saved_file_make_the_same_weights(self):
        first = self.unbroken()
        config = self.output / "config.yaml"
        text = (first / "args.yaml").read_text(encoding="utf-8")
        config.write_text(re.sub("(?m)^(experiment|output):.*\n", "", text), encoding="utf-8")
        must("train", "--config", config, "--output", self.output, "--experiment", "configured")
        self.assertEqual(weights(self.output / "configured"), weights(first))

    def test_info_compare_tells_equal_from_different(self):
        a, b = self.unbroken(), self.small("b", "--lr", "0.0021")
        files = [folder / "weights/last.safetensors" for folder in (a, b)]
        same = json.loads(must("info", "--compare", files[0], files[0], "--json").stdout)
        self.assertEqual(same["max_relative_difference"], 0)
        other = json.loads(must("info", "--compare", *files, "--json").stdout)
        self.assertGreater(other["max_relative_difference"], 1e-4)
        self.assertEqual(other["unmatched"], [])
        self.assertIn("mlp:784,32,10:relu", must("info", files[0]).stdout)


@needs_mnist
class Killed(Case):
    """SIGKILL at random moments, also while a checkpoint is written; the end is that of the unbroken run."""

    KILLS = int(os.environ.get("STOKER_KILLS", "20"))
    LONG = ("--epochs", "12", "--keep", "3")

    def half_written(self):
        return list((self.output / "killed" / "checkpoints").glob(".stoker-*.tmp"))

    def life(self, arguments, seconds, from_start=False, while_writing=False):
        """One process, killed so long after its start or after it began to train; whether it ended by itself.

        With `while_writing` the kill waits for the next file that is being written."""
        process = subprocess.Popen([STOKER, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        if not from_start:
            while (line := process.stdout.readline()) and not line.startswith("threads"):
                pass
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            while while_writing and not self.half_written() and process.poll() is None:
                pass
            process.kill()
            process.communicate()
            return False
        self.assertEqual(process.returncode, 0, errors)
        return True

    def kill_often(self, longest, chance):
        """A run to its end, through KILLS kills; how many fell into the writing of a checkpoint. None: it ended before."""
        folder = self.output / "killed"
        start = [*SMALL, "--output", self.output, "--experiment", "killed", *self.LONG]
        while_writing = 0
        for kill in range(self.KILLS + 1):
            is_run = (folder / "args.yaml").exists()
            arguments = ["train", "--resume", folder] if is_run else start
            if not is_run and folder.exists():
                shutil.rmtree(folder)  # killed before it was a run
            # Every other life saves after each step, so that many kills fall into the writing of a file.
            arguments = [*arguments, "--checkpoint-every", "7steps" if kill % 2 else "1steps"]
            # One in five while it starts, the others while it trains.
            from_start = chance.random() < 0.2
            seconds = chance.uniform(0.05, 0.5) if from_start else chance.uniform(0, longest)
            if kill == self.KILLS:
                self.assertTrue(self.life(arguments, 600))
            elif self.life(arguments, seconds, from_start, while_writing=not from_start and kill % 4 == 0):
                return None
            else:
                while_writing += len(self.half_written())
        return while_writing

    def test_ends_with_the_same_weights(self):
        seed = int(os.environ.get("STOKER_KILL_SEED", time.time_ns() % 10**6))
        print(f"STOKER_KILL_SEED={seed}")
        chance = random.Random(seed)
        whole = self.small("whole", *self.LONG)
        folder = self.output / "killed"
        # So short that the run cannot end before it has been killed often enough, on a machine whose load is even.
        longest = 1.5 * sum(float(row["seconds"]) for row in rows(whole)) / self.KILLS
        while (while_writing := self.kill_often(longest, chance)) is None:
            longest /= 2
            shutil.rmtree(folder)
        print(f"{self.KILLS} kills, {while_writing} of them while a checkpoint was written")
        self.assertGreater(while_writing, 0)
        for which in ("last", "best"):
            self.assertEqual(weights(folder, which), weights(whole, which))
        self.assertEqual(without_times(rows(folder)), without_times(rows(whole)))
        self.assertEqual(checkpoints(folder)[-1].read_bytes(), checkpoints(whole)[-1].read_bytes())
        self.assertEqual(steps(folder), steps(whole))


@needs_mnist
class Faults(Case):
    """Damaged checkpoints, a full disk, signals."""

    def broken_off(self, name, *extra):
        """A run that was stopped half-way, with several checkpoints."""
        process = subprocess.Popen(
            [STOKER, *SMALL, "--output", str(self.output), "--experiment", name, "--checkpoint-every", "50steps",
             "--keep", "3", *extra], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        folder = self.output / name
        deadline = time.monotonic() + 60
        while len(checkpoints(folder)) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        return process, folder

    def killed(self, name):
        process, folder = self.broken_off(name)
        process.kill()
        process.communicate()
        return folder

    def test_a_truncated_or_flipped_newest_checkpoint_is_named_and_the_one_before_taken(self):
        whole = weights(self.unbroken())
        for how in ("truncated", "flipped"):
            folder = self.killed(how)
            newest, before = checkpoints(folder)[-1], checkpoints(folder)[-2]
            content = bytearray(newest.read_bytes())
            if how == "truncated":
                content = content[:-100]
            else:
                content[len(content) // 2] ^= 4
            newest.write_bytes(content)
            done = must("train", "--resume", folder)
            self.assertIn("passed over a checkpoint: ", done.stdout)
            self.assertIn(newest.name, done.stdout)
            self.assertIn(f"resume     {before.name}", done.stdout)
            self.assertEqual(weights(folder), whole)

    def test_without_a_whole_checkpoint_it_does_not_start_anew_by_itself(self):
        folder = self.killed("none_whole")
        for path in checkpoints(folder):
            path.write_bytes(path.read_bytes()[:50])
        done = run("train", "--resume", folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no checkpoint of the run is whole", done.stderr)

    def test_signals_save_and_end_with_a_code_of_their_own(self):
        whole = weights(self.unbroken())
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            process, folder = self.broken_off(f"signal{int(number)}")
            process.send_signal(number)
            out, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 3, errors)
            step = int(re.search(r"at step (\d+); resume with", out).group(1))
            self.assertEqual(checkpoints(folder)[-1].name, f"step-{step:012}.safetensors")
            must("train", "--resume", folder)
            self.assertEqual(weights(folder), whole)

    def test_a_full_disk_ends_with_a_message_and_the_last_checkpoint_whole(self):
        # A real one: a tmpfs that holds a few checkpoints, in a mount namespace of its own.
        disk = self.output / "disk"
        disk.mkdir()
        script = f"""
            mount -t tmpfs -o size=1200k tmpfs {disk} || exit 99
            {STOKER} {' '.join(SMALL)} --output {disk} --experiment run --checkpoint-every 50steps --keep 50
            echo "ended with $?"
            ls -A {disk}/run/checkpoints
            df --output=avail {disk}
            {STOKER} train --resume {disk}/run
            echo "again with $?"
            cp -r {disk}/run {self.output}/full"""
        done = subprocess.run(["unshare", "--mount", "--map-root-user", "bash", "-c", script], capture_output=True,
                              text=True, timeout=300)
        if done.returncode == 99 or "unshare failed" in done.stderr:
            self.skipTest("may not mount a tmpfs: " + done.stderr)
        self.assertIn("ended with 1", done.stdout)
        self.assertIn("again with 1", done.stdout)
        self.assertIn("No space left on device", done.stderr)
        self.assertIn("free some space", done.stderr)
        self.assertNotIn(".tmp", done.stdout)
        # With space again, the run goes on from its last checkpoint to the same end.
        resumed = must("train", "--resume", self.output / "full", "--keep", "1")
        self.assertNotIn("passed over", resumed.stdout)
        self.assertRegex(resumed.stdout, r"resume     step-\d+")
        self.assertEqual(weights(self.output / "full"), weights(self.unbroken()))

    def test_one_process_at_a_time(self):
        process, folder = self.broken_off("owned")
        process.send_signal(signal.SIGSTOP)  # so that it cannot end meanwhile
        done = run("train", "--resume", folder)
        process.kill()
        process.communicate()
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run is in use", done.stderr)

    def test_a_finished_run_stays_as_it_is(self):
        folder = self.unbroken()
        before = weights(folder)
        must("train", "--resume", folder)
        self.assertEqual(weights(folder), before)
        self.assertEqual(len(rows(folder)), 3)

    def test_resuming_with_other_settings_is_refused(self):
        folder = self.killed("settings")
        done = run("train", "--resume", folder, "--lr", "0.5")
        self.assertEqual(done.returncode, 1)
        self.assertIn('"lr: 0.002"', done.stderr)
        must("train", "--resume", folder, "-j", "1", "--checkpoint-every", "1epoch")


PLATES = pathlib.Path(os.environ["STOKER_TEST_DATA"], "plates")


@unittest.skipUnless((PLATES / "train").is_dir(), f"needs the plates in {PLATES}: set STOKER_TEST_DATA")
class Photographs(Case):
    """Folders and lists of images, and images that cannot be read."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lists = cls.output / "lists"
        must("split", PLATES / "train", "--every", "6", "--out", cls.lists)

    def train(self, name, *extra, data=None, runner=must):
        return runner("train", "--data", data or self.lists, "--model", "cnn:4,8", "--aa",
                      "random_resized_crop(32),hflip(0.5)", "--epochs", "2", "-b", "8", "--threads", "1",
                      "--output", self.output, "--experiment", name, *extra)

    def test_a_split_is_trained_on_and_used(self):
        done = self.train("plates")
        self.assertIn("32 samples to train, 8 to validate, 32x32x3, 2 classes", done.stdout)
        args = (self.output / "plates" / "args.yaml").read_text(encoding="utf-8")
        self.assertIn("mean: [0.485, 0.456, 0.406]", args)
        best = self.output / "plates" / "weights" / "best.safetensors"
        # Without classes, for prediction: the folder of the competition, and one image.
        table = must("predict", PLATES / "test", "--weights", best).stdout.splitlines()
        self.assertEqual(table[0], "sample,class,probability,cleaned,dirty,error")
        self.assertEqual(len(table), 745)
        image = sorted((PLATES / "test").iterdir())[7]
        self.assertEqual(must("predict", image, "--weights", best).stdout.splitlines()[1], table[8])
        self.assertIn("samples    8", must("eval", self.lists, "--weights", best).stdout)
        refused = run("eval", PLATES / "test", "--weights", best)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the data has no classes", refused.stderr)

    def test_workers_processes_and_mixing_give_the_same_weights(self):
        mixed = ["--mixup", "0.2", "--cutmix", "1"]
        self.train("one", "-j", "1", *mixed)
        self.train("three", "-j", "3", *mixed)
        self.train("isolated", "-j", "2", "--isolate", *mixed)
        self.train("unmixed")
        self.assertEqual(weights(self.output / "one"), weights(self.output / "three"))
        self.assertEqual(weights(self.output / "one"), weights(self.output / "isolated"))
        self.assertNotEqual(weights(self.output / "one"), weights(self.output / "unmixed"))

    def test_a_class_that_the_model_does_not_know_is_refused_by_name(self):
        other = self.output / "other"
        for name in ("clean", "dirty"):
            shutil.copytree(PLATES / "train" / "dirty", other / name)
        done = self.train("mismatch", "--val-data", other, runner=run)
        self.assertEqual(done.returncode, 1)
        self.assertIn('"cleaned"', done.stderr)
        self.assertIn('"clean"', done.stderr)

    def test_the_plates_recipe_with_published_weights(self):
        weights_file = PLATES.parent / "weights" / "mobilenet_v2-b0353104.pth"
        if not weights_file.exists():
            self.skipTest(f"needs {weights_file}")
        done = must("train", "--data", PLATES, "--recipe", "plates-fast", "--model", "mobilenet_v2", "--pretrained",
                    weights_file, "--epochs", "4", "--features", "cached", "--cached-views", "2", "--threads", "1",
                    "--output", self.output, "--experiment", "recipe")
        self.assertIn("32 samples to train, 8 to validate, 224x224x3, 2 classes", done.stdout)
        self.assertIn("classifier.1.weight", done.stdout)  # replaced: ImageNet has other classes
        self.assertIn("2562 parameters are trained", done.stdout)
        losses = [float(row["train_loss"]) for row in rows(self.output / "recipe")]
        self.assertLess(losses[-1], losses[0])
        refused = run("train", "--data", PLATES, "--recipe", "plates", "--model", "resnet18", "--pretrained",
                      weights_file)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the weights do not fit the network", refused.stderr)
        missing = run("train", "--data", PLATES, "--recipe", "plates", "--model", "resnet18", "--pretrained", "no.pth")
        self.assertIn("resnet18-f37072fd.pth", missing.stderr)
        best = self.output / "recipe" / "weights" / "best.safetensors"
        sure = must("predict", PLATES / "train" / "dirty", "--weights", best, "--topk", "1", "--where", "p>=0.5",
                    "--grid", self.output / "grid.png").stdout.splitlines()
        self.assertEqual(sure[0], "sample,class,probability,error")
        self.assertEqual(len(sure), 21)
        self.assertTrue((self.output / "grid.png").read_bytes().startswith(b"\x89PNG"))

    def damaged(self, name, count):
        """A copy of the plates in which some images end early."""
        folder = self.output / name
        shutil.copytree(PLATES / "train", folder)
        bad = sorted(folder.glob("dirty/*.jpg"))[3:3 + count]
        for path in bad:
            path.write_bytes(path.read_bytes()[:2000])
        return folder, bad

    def test_an_unreadable_image_has_a_row_with_the_reason(self):
        self.train("whole-one")
        best = self.output / "whole-one" / "weights" / "best.safetensors"
        folder, bad = self.damaged("unreadable", 1)

        def predicted(*extra):
            done = run("predict", folder, "--weights", best, *extra)
            return done, list(csv.DictReader(done.stdout.splitlines()))

        whole = {row["sample"].removeprefix(str(PLATES / "train")): row
                 for row in csv.DictReader(must("predict", PLATES / "train", "--weights", best).stdout.splitlines())}
        done, rows_of = predicted()
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of 40 images could not be read", done.stderr)
        self.assertEqual(len(rows_of), 40)
        for row in rows_of:
            if row["sample"] == str(bad[0]):
                self.assertIn("the file is cut short", row["error"])
                self.assertEqual((row["class"], row["dirty"]), ("", ""))
            else:
                expected = whole[row["sample"].removeprefix(str(folder))]
                self.assertEqual({**row, "sample": ""}, {**expected, "sample": ""})
        skipped, same = predicted("--on-error", "skip")
        self.assertEqual((skipped.returncode, same), (0, rows_of))
        lines = [json.loads(line) for line in predicted("--format", "jsonl")[0].stdout.splitlines()]
        self.assertEqual([line["sample"] for line in lines if "error" in line], [str(bad[0])])
        submission = predicted("--format", "submission", "--id", "path")[0].stdout.splitlines()
        self.assertEqual([line for line in submission if line.endswith(",")], [f"{bad[0]},"])
        self.assertNotIn(str(bad[0]), predicted("--where", "p<1.1")[0].stdout)
        out = self.output / "rows.csv"
        stopped = run("predict", folder, "--weights", best, "--on-error", "stop", "--out", out)
        self.assertEqual(stopped.returncode, 1)
        self.assertIn(str(bad[0]), stopped.stderr)
        self.assertFalse(out.exists())

    def test_eval_says_how_many_images_its_figures_have(self):
        self.train("whole-two")
        best = self.output / "whole-two" / "weights" / "best.safetensors"
        folder, bad = self.damaged("figures", 2)
        done = run("eval", folder, "--weights", best)
        self.assertEqual(done.returncode, 1)
        self.assertIn("samples    38 of 40: 2 could not be read", done.stdout)
        self.assertIn(str(bad[1]), done.stderr)
        found = json.loads(must("eval", folder, "--weights", best, "--json", "--on-error", "skip").stdout)
        self.assertEqual((found["samples"], found["skipped"]), (38, 2))
        for path in folder.glob("*/*.jpg"):
            path.write_bytes(b"no image")
        nothing = run("eval", folder, "--weights", best, "--on-error", "skip")
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("none of the images could be read", nothing.stderr)

    def test_a_broken_image_stops_the_run_with_its_name(self):
        folder, bad = self.damaged("broken", 1)
        done = self.train("stops", "--val-data", PLATES / "train", data=folder, runner=run)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(bad[0]), done.stderr)

    def test_broken_images_are_replaced_and_listed(self):
        folder, bad = self.damaged("skipped", 3)
        extra = ["--val-data", PLATES / "train", "--on-error", "skip"]
        for name, more in (("threads", ["-j", "3"]), ("processes", ["--isolate"])):
            self.train(name, *extra, *more, data=folder)
            with open(self.output / name / "errors.csv", encoding="utf-8") as file:
                faults = list(csv.DictReader(file))
            self.assertEqual({row["sample"] for row in faults}, {str(path) for path in bad})
            self.assertEqual(len(faults), 2 * len(bad))  # in both epochs
        self.assertEqual(weights(self.output / "threads"), weights(self.output / "processes"))
        done = self.train("toomany", *extra, "--max-errors", "2", data=folder, runner=run)
        self.assertEqual(done.returncode, 1)
        self.assertIn("at most 2 that cannot", done.stderr)
        self.assertTrue((self.output / "toomany" / "errors.csv").exists())


@needs_mnist
class Recipes(Case):
    BASE = ["train", "--data", "mnist", "--train-samples", "4000", "--seed", "2"]

    def train(self, name, *extra, model="mlp:784,64,10:relu"):
        must(*self.BASE, "--model", model, "--output", self.output, "--experiment", name, *extra)
        return self.output / name

    def test_a_chosen_rate_trains_better_than_a_hundredth_of_it(self):
        perceptron = ["--opt", "adam", "--epochs", "1"]
        auto = self.train("auto", *perceptron, "--lr", "auto", "--batch-size", "auto")
        settings = dict(line.split(": ") for line in (auto / "args.yaml").read_text().splitlines() if ": " in line)
        rate, batch = float(settings["lr"].strip('"')), int(settings["batch-size"])
        self.assertIn("learning rate", (auto / "log.txt").read_text())
        self.assertTrue((auto / "lr_range.png").read_bytes().startswith(b"\x89PNG"))
        self.assertGreater(len((auto / "lr_range.csv").read_text().splitlines()), 20)
        low = self.train("low", *perceptron, "--lr", str(rate / 100), "-b", str(batch))
        self.assertGreater(float(rows(auto)[0]["val_top1"]), float(rows(low)[0]["val_top1"]) + 0.1)

    def test_an_average_is_what_is_saved_and_validated(self):
        plain = self.train("plain", "--epochs", "2")
        average = self.train("average", "--epochs", "2", "--model-ema", "--model-ema-decay", "0.9")
        self.assertEqual([row["train_loss"] for row in rows(plain)], [row["train_loss"] for row in rows(average)])
        self.assertNotEqual(weights(plain), weights(average))
        done = must("eval", "mnist", "--split", "val", "--weights", average / "weights" / "last.safetensors", "--json")
        self.assertAlmostEqual(json.loads(done.stdout)["top1"], float(rows(average)[-1]["val_top1"]), places=6)

    def test_bfloat16_learns_too(self):
        folder = self.train("bf16", "--epochs", "2", "--amp", "--opt", "adam", "--lr", "0.003", model="cnn:8,16")
        self.assertIn("bfloat16", (folder / "log.txt").read_text())
        self.assertGreater(float(rows(folder)[-1]["val_top1"]), 0.9)

    def test_balanced_classes_and_weights_change_the_run_and_workers_do_not(self):
        plain = self.train("even", "--epochs", "1")
        for name, extra in (("sampler", ["--sampler", "balanced"]), ("weights", ["--class-weights", "balanced"])):
            one = self.train(name + "1", "--epochs", "1", *extra, "-j", "1")
            two = self.train(name + "3", "--epochs", "1", *extra, "-j", "3")
            self.assertEqual(weights(one), weights(two))
            self.assertNotEqual(weights(one), weights(plain))

    def test_top_losses_and_views(self):
        folder = self.train("seen", "--epochs", "1", model="cnn:8,16")
        best = folder / "weights" / "best.safetensors"
        plain = json.loads(must("eval", "mnist", "--weights", best, "--json", "--top-losses", self.output / "worst.png",
                                "--top-losses-count", "6").stdout)
        self.assertTrue((self.output / "worst.png").read_bytes().startswith(b"\x89PNG"))
        shifted = json.loads(must("eval", "mnist", "--weights", best, "--json", "--tta", "4", "--tta-aa",
                                  "shift(-1,1)").stdout)
        self.assertNotEqual(shifted["loss"], plain["loss"])
        again = json.loads(must("eval", "mnist", "--weights", best, "--json", "--tta", "4", "--tta-aa", "shift(-1,1)",
                                "-j", "3").stdout)
        self.assertEqual(shifted, again)

    def test_short_epochs_are_saved_rarely_and_the_last_always(self):
        folder = self.train("short", "--epochs", "12", "--batches-per-epoch", "1", model="mlp:784,2000,10")
        self.assertLess(len(checkpoints(folder)), 3)
        self.assertEqual(int(checkpoints(folder)[-1].stem.split("-")[1]), 12)
        top1 = [float(row["val_top1"]) for row in rows(folder)]
        for which, expected in (("last", top1[-1]), ("best", max(top1))):
            done = must("eval", "mnist", "--split", "val", "--weights", folder / "weights" / f"{which}.safetensors",
                        "--json")
            self.assertAlmostEqual(json.loads(done.stdout)["top1"], expected, places=6)


class WrongWords(Case):
    def expect(self, code, *words, arguments):
        done = run(*arguments, "--output", self.output / "refused") if arguments[0] == "train" else run(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    @needs_mnist
    def test_messages_say_what_was_expected_and_what_to_do(self):
        base = ["train", "--data", "mnist", "--model"]
        self.expect(2, "--data is missing", arguments=["train"])
        self.expect(1, "Write mlp:784,128,10", arguments=[*base, "mlp:100,128,10"])
        self.expect(1, "cnn:small", arguments=[*base, "resnet18"])
        self.expect(2, "Did you mean adamw?", arguments=[*base, "cnn:small", "--opt", "adamww"])
        self.expect(2, "onecycle", arguments=[*base, "cnn:small", "--sched", "linear"])
        self.expect(2, "50steps, 5min or 1epoch", arguments=[*base, "cnn:small", "--checkpoint-every", "often"])
        self.expect(1, "auto, cpu, cuda", arguments=[*base, "cnn:small", "--device", "gpu"])
        self.expect(1, "args.yaml", arguments=["train", "--resume", str(self.output / "missing")])
        self.expect(1, "No such file", arguments=["train", "--config", str(self.output / "missing.yaml")])
        self.expect(2, "--batch-size", "or auto", arguments=[*base, "cnn:small", "-b", "0"])
        self.expect(2, "--lr", "or auto", arguments=[*base, "cnn:small", "--lr", "fast"])
        self.expect(2, "float32 alone", arguments=[*base, "mlp:784,128,10", "--amp"])
        self.expect(1, "bfloat16 on a CPU", arguments=[*base, "cnn:small", "--amp", "--amp-dtype", "float16", "--device", "cpu"])
        self.expect(2, "a FILE, or --compare", arguments=["info"])
        self.assertEqual(list(self.output.glob("refused/*")), [], "a refused run leaves nothing")

    @needs_mnist
    def test_a_model_meets_other_data(self):
        must(*SMALL, "--epochs", "1", "--batches-per-epoch", "5", "--output", self.output, "--experiment", "m")
        file = self.output / "m" / "weights" / "last.safetensors"
        if pathlib.Path("/usr/share/datasets/fashion-mnist").is_dir():
            self.expect(1, "trained for other classes", "T-shirt",
                        arguments=["eval", "--data", "fashion-mnist", "--weights", str(file)])
        self.expect(1, "stoker.architecture",
                    arguments=["eval", "--data", "mnist", "--weights", str(checkpoints(self.output / "m")[0])])
        missing = str(self.output / "missing")
        self.expect(1, missing, arguments=["eval", "--data", "mnist", "--weights", missing])
        self.expect(1, "predictions", arguments=["predict", "mnist", "--weights", str(file), "--out", "/dev/full"])


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == len(outcome.skipped) else 0)  # 77: ctest's "skipped" here
