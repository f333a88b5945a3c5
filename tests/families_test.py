#!/usr/bin/env python3
"""Built-in networks of nn/families, held against torchvision's and timm's, and trained.

Run by ctest with the paths of the programs as NETWORK_CAT and STOKER. Needs .venv-networks (scripts/setup); without it the
test says so and ends with 77, ctest's "skipped" here. The class All has every network of every family, AllRanks more networks on
two ranks; .ci/nightly runs both.
"""

import json
import subprocess
import sys
import unittest

import numpy
from safetensors.numpy import load_file

import networks_test
import ranks

STOKER, CAT, PYTHON = networks_test.STOKER, networks_test.CAT, networks_test.PYTHON
# The smallest of each family.
FEW = ("convnext_atto", "vit_tiny_patch16_224", "efficientnet_b0", "mobilenet_v3_small", "regnet_y_400mf")
MORE = ("convnext_femto", "convnext_pico", "convnext_nano", "convnext_tiny", "convnext_small", "convnext_base", "vit_small_patch16_224",
       "vit_base_patch16_224", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4", "efficientnet_v2_s",
       "mobilenet_v3_large", "regnet_y_800mf", "regnet_y_1_6gf", "regnet_y_3_2gf", "regnet_y_8gf")
SIZE = 64
TOLERANCE = 1e-5  # of the norm of a tensor


def difference(ours, pythons):
    scale = numpy.linalg.norm(pythons.astype(numpy.float64))
    return float(numpy.linalg.norm(ours.astype(numpy.float64) - pythons)) / max(scale, 1e-12)


class Case(networks_test.Case):
    def python(self, *arguments):
        networks_test.run(PYTHON, networks_test.SOURCE / "tests/families_python.py", *arguments)

    def compared(self, name, library):
        """Ours and Python's."""
        target = self.folder / "found.safetensors"
        networks_test.run(CAT, name, self.folder / f"{name}.batch.safetensors", target, 1, self.folder / f"{name}.{library}.weights.safetensors")
        return load_file(target), load_file(self.folder / f"{name}.{library}.expected.safetensors")


class Parity(Case):
    """Logits, loss, gradients and buffers are Python's; weights load in the names of both libraries."""

    GROUPS = (FEW,)  # those that Python writes in one go: its imports take seconds, its files space

    def test_every_number_is_pythons(self):
        for group in self.GROUPS:
            self.python(self.folder, SIZE, *group)
            for name in group:
                with self.subTest(name):
                    self.check(name)
            for file in self.folder.glob("*.safetensors"):
                file.unlink()

    def check(self, name):
        worst, whole = 0.0, 0
        for library in ("timm", "torchvision"):
            ours, pythons = self.compared(name, library)
            self.assertEqual(len(ours), len(pythons))
            self.assertGreater(numpy.ptp(pythons["logits"]), 0)
            # The other library has other names: there logits and losses alone are compared.
            same = set(ours) == set(pythons)
            whole += same
            for key in pythons if same else ("logits", "training_logits", "loss"):
                self.assertEqual(ours[key].size, pythons[key].size, key)
                worst = max(worst, difference(ours[key], pythons[key]))
                self.assertLessEqual(difference(ours[key], pythons[key]), TOLERANCE, f"{name}, {library}: {key}")
        self.assertEqual(whole, 1)
        print(f"{name}: differs by {worst:.2g}")


class All(Parity):
    GROUPS = (FEW, *((name,) for name in MORE))


class Positions(Case):
    """A vision transformer takes weights for another image size as timm does."""

    def test_another_grid(self):
        name = "vit_tiny_patch16_224"
        self.python("--resampled", self.folder, SIZE, 96, 48, name)  # more rows of patches, fewer columns
        ours, pythons = self.compared(name, "timm")
        for key in ("logits", "loss", "grad.pos_embed"):
            self.assertLessEqual(difference(ours[key], pythons[key]), TOLERANCE, key)


class Ranks(Case):
    ON_TWO_RANKS = ("convnext_atto",)

    def test_two_ranks_train_as_one(self):
        for name in self.ON_TWO_RANKS:
            with self.subTest(name):
                weights, losses, apart = self.rank_distances(name, name, "--img-size", "32")
                self.assertLess(max(weights, losses, apart), 1e-5)


class AllRanks(Ranks):
    ON_TWO_RANKS = ("convnext_atto", "vit_tiny_patch16_224")


class Training(Ranks):
    COMMON = networks_test.Training.COMMON

    def train(self, network, name, *more):
        return networks_test.run(STOKER, "train", self.folder / "data", *(("--model", network) if network else ()), *self.COMMON, "--epochs", "2",
                                 "--output", self.folder, "--experiment", name, *more)

    def weights(self, name):
        return (self.folder / name / "weights/last.safetensors").read_bytes()

    def test_killed_and_resumed_with_stochastic_depth(self):
        networks_test.draw(self.folder / "data", 48)
        dropping = ("--img-size", "32", "--drop-path", "0.3")
        self.train("convnext_atto", "whole", *dropping)
        command = [STOKER, "train", str(self.folder / "data"), "--model", "convnext_atto", *self.COMMON, "--epochs", "2", "--output", str(self.folder),
                   "--experiment", "killed", "--resume", "auto", "--checkpoint-every", "2steps", *dropping]
        done = ranks.kill_and_resume(command, self.folder / "killed", 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.weights("killed"), self.weights("whole"))
        self.train("convnext_atto", "undropped", *dropping[:2])
        self.assertNotEqual(self.weights("undropped"), self.weights("whole"))
        told = networks_test.run(STOKER, "eval", self.folder / "data", "--weights", self.folder / "whole", "--split", "val", "--json")
        self.assertIn("top1", json.loads(told))

    def test_two_ranks_with_synchronised_batch_norms_step_as_one(self):
        # A single step: each next one of this network, from scratch, makes the rounding of the first about 20 times larger.
        one_step = ("--img-size", "64", "--lr", "0.0001", "--batches-per-epoch", "1")
        weights, losses, apart = self.rank_distances("efficientnet_b0", "efficientnet_b0", *one_step)
        self.assertLess(max(weights, losses), 2e-4)
        self.assertGreater(apart, 0.01)

    def test_the_network_is_that_of_the_weights(self):
        networks_test.draw(self.folder / "data", 16)
        self.python(self.folder, 32, "mobilenet_v3_small")
        for library in ("timm", "torchvision"):
            told = self.train("", library, "--pretrained", self.folder / f"mobilenet_v3_small.{library}.weights.safetensors", "--img-size", "32",
                              "--freeze", "all")
            self.assertIn("network mobilenet_v3_small", told)
        a, b = (load_file(self.folder / f"{library}/weights/last.safetensors") for library in ("timm", "torchvision"))
        self.assertEqual(set(a), set(b))

    def test_refusals(self):
        networks_test.draw(self.folder / "data", 16)
        for network, part in (("mobilenet_v3_small", "no stochastic depth"), ("resnet18", "--drop-path")):
            done = subprocess.run([STOKER, "train", str(self.folder / "data"), "--model", network, "--drop-path", "0.1", *self.COMMON],
                                  capture_output=True, text=True, timeout=60, check=False, cwd=self.folder)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
