"""Training with a teacher, with an equal average of the weights (SWA), with Lion and with the binary cross entropy: killed
and resumed, on several ranks, and what is refused. The images are drawn here."""

import json
import os
import subprocess
import sys
import unittest

import numpy

import ranks
import runs
from tasks_test import CLASSES, SIDE, draw_shapes

STOKER = os.environ["STOKER"]


def write_classes(folder, count, seed):
    """A folder for each class, whose images show its shape."""
    rng = numpy.random.default_rng(seed)
    for part, number in (("train", count), ("val", count // 4)):
        for name in CLASSES:
            (folder / part / name).mkdir(parents=True)
            for i in range(number):
                draw_shapes(rng, [name]).convert("L").save(folder / part / name / f"{i}.png")


class Case(runs.Case):
    COMMON = ("--channels", "1", "--aa", f"resize({SIDE},{SIDE})", "--batch-size", "32", "--threads", "1", "--workers", "2",
              "--seed", "3", "--no-report")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_classes(cls.output / "shapes", 120, 5)

    def command(self, name, *more, data="shapes"):
        return ["train", self.output / data, *self.COMMON, "--output", self.output / "runs", "--experiment", name, *more]

    def stoker(self, *arguments, expect=0):
        done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, cwd=self.output, check=False)
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def train(self, name, *more):
        self.stoker(*self.command(name, *more))
        return self.output / "runs" / name

    def top1(self, folder):
        return float(ranks.table(folder)[-1]["val_top1"])

    def same_after_kills(self, name, *more, kills=2):
        """The same bytes, all in one go and killed."""
        whole = self.train(name, *more)
        broken = self.output / "runs" / f"{name}-killed"
        command = [STOKER, *map(str, self.command(broken.name, *more, "--resume", "auto", "--checkpoint-every", "3steps"))]
        done = ranks.kill_and_resume(command, broken, kills, cwd=self.output)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for which in ("last", "best"):
            self.assertEqual(ranks.weights(broken, which), ranks.weights(whole, which))
        return whole


class Teacher(Case):
    STUDENT = ("--model", "cnn:8,16", "--opt", "adamw", "--lr", "0.003", "--mixup", "0.2", "--smoothing", "0.1",
               "--grad-accum-steps", "2")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls("test_a_teacher_that_does_not_fit_is_refused").train(
            "teacher", "--model", "cnn:16,32", "--opt", "adamw", "--lr", "0.003", "--epochs", "8")

    def test_killed_and_resumed_to_the_same_bytes(self):
        plain = self.train("plain", *self.STUDENT, "--epochs", "3")
        for kind in ("soft", "hard"):
            taught = self.same_after_kills(f"student-{kind}", *self.STUDENT, "--epochs", "3", "--teacher", "runs/teacher", "--distill", kind)
            self.assertNotEqual(ranks.weights(taught), ranks.weights(plain))
            self.assertIn("cnn:16,32", (taught / "log.txt").read_text(encoding="utf-8"))

    def test_all_of_the_loss_can_be_the_teachers(self):
        """The labels are wrong and do not count: what the student knows it has from its teacher."""
        rng = numpy.random.default_rng(8)
        folder = self.output / "wrong"
        write_classes(folder, 120, 6)
        images = sorted((folder / "train").glob("*/*.png"))
        contents = [image.read_bytes() for image in images]
        for place, image in zip(rng.permutation(len(images)), images):
            image.write_bytes(contents[place])
        scores = []
        for name, more in (("alone", ()), ("taught", ("--teacher", "runs/teacher", "--distill-alpha", "1"))):
            self.stoker(*self.command(name, "--model", "cnn:8,16", "--opt", "adamw", "--lr", "0.003", "--epochs", "6", *more, data="wrong"))
            scores.append(self.top1(self.output / "runs" / name))
        self.assertLess(scores[0], 0.45)
        self.assertGreater(scores[1], 0.6)

    def test_ranks_make_the_same_run(self):
        # Mixup has pairs within a rank.
        flags = self.command("ranks-1", *self.STUDENT, "--mixup", "0", "--epochs", "2", "--sync-bn", "--teacher",
                             self.output / "runs/teacher")
        ranks.train(1, *flags)
        ranks.train(2, *["ranks-2" if word == "ranks-1" else word for word in flags])
        self.assertLess(ranks.distance(self.output / "runs/ranks-2", self.output / "runs/ranks-1"), 1e-4)

    def test_a_teacher_that_does_not_fit_is_refused(self):
        student = ("--model", "cnn:8,16", "--epochs", "1", "--teacher", "runs/teacher")
        self.assertIn("pixels as other numbers", self.stoker(*self.command("r1", *student, "--mean", "0.5"), expect=1))
        self.assertIn("other images", self.stoker(*self.command("r2", *student, "--aa", "resize(32,32)"), expect=1))
        (self.output / "few/bar").mkdir(parents=True)
        (self.output / "few/dot").mkdir()
        for name in ("bar", "dot"):
            for i in range(20):
                image = self.output / f"shapes/train/{name}/{i}.png"
                (self.output / f"few/{name}/{i}.png").write_bytes(image.read_bytes())
        self.assertIn("class", self.stoker(*self.command("r3", *student, data="few"), expect=1))
        cached = ("--freeze", "all", "--features", "cached")
        self.assertIn("--features fresh", self.stoker(*self.command("r4", *student, *cached), expect=2))
        self.assertIn("--teacher", self.stoker(*self.command("r5", "--model", "cnn:8", "--distill", "hard"), expect=2))
        self.assertIn("no/such", self.stoker(*self.command("r6", "--model", "cnn:8", "--teacher", "no/such"), expect=1))

    def test_another_teacher_than_at_the_beginning_is_refused(self):
        copy = self.output / "copy.safetensors"
        copy.write_bytes(ranks.weights(self.output / "runs/teacher"))
        flags = ("--model", "cnn:8,16", "--epochs", "2", "--sched", "constant", "--teacher", copy)
        self.train("swapped", *flags)
        other = self.train("other", "--model", "cnn:16,32", "--epochs", "1")
        copy.write_bytes(ranks.weights(other))
        text = self.stoker("train", "--resume", self.output / "runs/swapped", "--epochs", "3", expect=1)
        self.assertIn("began with another teacher", text)


class Average(Case):
    FLAGS = ("--model", "cnn:8,16", "--opt", "lion", "--loss", "bce", "--lr", "0.002", "--epochs", "4", "--swa-start", "2")

    def test_killed_and_resumed_to_the_same_bytes(self):
        folder = self.same_after_kills("swa", *self.FLAGS)
        self.assertGreater(self.top1(folder), 0.5)
        # What was saved is what was validated.
        text = self.stoker("eval", self.output / "shapes", "--split", "val", "--weights", folder / "weights/last.safetensors", "--json")
        self.assertAlmostEqual(json.loads(text)["top1"], self.top1(folder), delta=1e-6)

    def test_ranks_make_the_same_run(self):
        for count in (1, 2):
            ranks.train(count, *self.command(f"together-{count}", *self.FLAGS, "--sync-bn"))
        # The sign of a gradient near 0 may differ; so Lion's steps may.
        self.assertLess(ranks.distance(self.output / "runs/together-2", self.output / "runs/together-1"), 0.05)
        for count in (1, 2):
            ranks.train(2, *self.command(f"own-{count}", *self.FLAGS, "--epochs", "3"))
        self.assertEqual(ranks.weights(self.output / "runs/own-1"), ranks.weights(self.output / "runs/own-2"))

    def test_what_makes_no_sense_is_refused(self):
        self.assertIn("only one average", self.stoker(*self.command("r1", *self.FLAGS, "--model-ema"), expect=2))
        self.assertIn("--swa-start", self.stoker(*self.command("r2", *self.FLAGS, "--epochs", "2"), expect=2))


class Recipes(Case):
    def test_runs_start_with_the_recipes_of_papers(self):
        for name in ("finetune-vit", "finetune-convnext", "from-scratch-vit", "from-scratch-convnext"):
            with self.subTest(name):
                small = ("--channels", "3", "--img-size", "32", "--epochs", "1", "--warmup-epochs", "0", "--batches-per-epoch", "2", "--aa",
                         "random_resized_crop(32),hflip(0.5),randaugment(2,9,0.5),erase(0.25,0.02,0.33,0.3,3.3,-1)")
                self.stoker(*self.command(name, "--model", "cnn:8", "--recipe", name, *small))
                settings = (self.output / "runs" / name / "args.yaml").read_text(encoding="utf-8")
                self.assertIn("opt: adamw", settings)
                self.assertIn("layer-decay: 0.65" if name == "finetune-vit" else "smoothing: 0.1", settings)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:], "-v"])
