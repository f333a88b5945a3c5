#!/usr/bin/env python3
"""Networks that Python exports (.pt2), held against Python, and trained.

Run by ctest with the paths of the programs as NETWORK_CAT and STOKER. Needs .venv-networks, a Python with torch and timm
(scripts/setup); without it the test says so and ends with 77, ctest's "skipped" here. The class All has all networks of
the table in docs/networks.md; nightly runs it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnxruntime
from PIL import Image
from safetensors.numpy import load_file, save_file

import ranks

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PYTHON = SOURCE / ".venv-networks/bin/python"
if not PYTHON.exists():
    print("skipped: there is no .venv-networks; scripts/setup makes it")
    sys.exit(77)

STOKER, CAT = os.environ["STOKER"], os.environ["NETWORK_CAT"]
# Each has operators that the others lack. Few blocks: Python takes most of the time, for each of a graph's nodes.
FEW = ("resnet18", "convnext_atto;depths=(1,1,2,1)", "vit_tiny_patch16_224;depth=3", "efficientnet_b0", "edgenext_xx_small;depths=(2,2,2,2)",
       "swin_tiny_patch4_window7_224;depths=(2,2,2,2)")
ALL = ("resnet18", "convnext_tiny", "vit_small_patch16_224", "efficientnet_b0", "mobilenetv3_large_100", "swin_tiny_patch4_window7_224",
       "regnety_004", "efficientnetv2_rw_t", "deit3_small_patch16_224", "maxvit_nano_rw_256", "mobilenetv4_conv_small", "repvgg_a0",
       "densenet121", "inception_v3", "mixer_s32_224", "edgenext_xx_small", "fastvit_t8", "eva02_tiny_patch14_224")


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @classmethod
    def export(cls, **networks):
        """Words of scripts/export_network.py for each; all in one process, whose imports take seconds. Returns their folder."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        run(PYTHON, SOURCE / "tests/networks_python.py", folder.name, "--export", json.dumps(networks))
        return pathlib.Path(folder.name)

    def rank_distances(self, name, model, *more):
        """Between runs of a network on two ranks and on one, which has whole batches. With --sync-bn: of weights (see
        ranks.distance) and losses. Without: of weights."""
        draw(self.folder / "data", 64)
        plain = ("train", self.folder / "data", "--model", model, *Training.COMMON, "--opt", "sgd", "--lr", "0.01", "--epochs", "1", *more)
        found = [self.folder / name / kind for kind in ("one", "synced", "apart")]
        for folder, count, flags in zip(found, (1, 2, 2), ((), ("--sync-bn",), ())):
            ranks.train(count, *plain, "--output", folder.parent, "--experiment", folder.name, *flags, timeout=300)
        one, synced, apart = found
        self.assertEqual(*(ranks.facts(run)["samples_digest"] for run in (one, synced)))
        losses = [[float(row[key]) for row in ranks.table(run) for key in ("train_loss", "val_loss")] for run in (one, synced)]
        gap = float(numpy.abs(numpy.subtract(*losses)).max())
        distances = ranks.distance(synced, one, 1e-3), gap, ranks.distance(apart, one, 1e-3)
        print("{}: two ranks with --sync-bn: weights {:.2g}, losses {:.2g}; without: weights {:.2g}".format(name, *distances))
        return distances


class Parity(Case):
    """Logits, loss, gradients and buffers are Python's, to the last bit: same LibTorch, one thread. ONNX Runtime's are near."""

    GROUPS = (FEW,)  # those that Python writes in one go: its imports take seconds, its files space

    def test_every_number_is_pythons(self):
        for group in self.GROUPS:
            self.check(*group)

    def check(self, *names):
        run(PYTHON, SOURCE / "tests/networks_python.py", self.folder, *names)
        names = [name.partition(";")[0] for name in names]
        for name in names:
            with self.subTest(name):
                found = self.folder / "found.safetensors"
                batch, onnx = self.folder / f"{name}.batch.safetensors", self.folder / "network.onnx"
                run(CAT, self.folder / f"{name}.pt2", batch, found, 1, "-", onnx, self.folder / f"{name}.written.pt2")
                ours, pythons = load_file(found), load_file(self.folder / f"{name}.expected.safetensors")
                self.assertEqual(set(ours), set(pythons))
                self.assertGreater(numpy.ptp(pythons["logits"]), 0)
                different = [key for key in ours if not numpy.array_equal(ours[key], pythons[key])]
                self.assertEqual(different, [])
                print(f"{name}: {len(ours)} tensors equal, ONNX Runtime {self.onnx_difference(onnx, batch, ours['logits']):.2g} apart")
                (self.folder / f"{name}.pt2").unlink()
        # Python loads what Stoker writes.
        print(run(PYTHON, SOURCE / "tests/networks_python.py", self.folder, "--check", *names))
        for file in self.folder.iterdir():
            file.unlink()

    def onnx_difference(self, onnx, batch, logits):
        """As a fraction of the largest logit; also for one image."""
        session = onnxruntime.InferenceSession(str(onnx), providers=["CPUExecutionProvider"])
        pixels, largest = load_file(batch)["pixels"], numpy.abs(logits).max()
        apart = 0
        for count in (len(pixels), 1):
            (found,) = session.run(None, {"pixels": pixels[:count]})
            self.assertEqual(found.shape, (count, logits.shape[1]))
            apart = max(apart, numpy.abs(found - logits[:count]).max() / largest)
        self.assertLess(apart, 1e-4)
        return apart


class All(Parity):
    GROUPS = tuple((name,) for name in ALL)


def draw(folder, count, mode="RGB"):
    """Two classes: a bright left or right half, in noise."""
    rng = numpy.random.default_rng(1)
    for i in range(count):
        side = "left" if i % 2 else "right"
        image = rng.normal(90, 30, (32, 32, 3))
        image[:, :16 if side == "left" else 32, :] += 0 if side == "right" else 60
        image[:, 16:, :] += 60 if side == "right" else 0
        target = folder / ("val" if i % 8 < 2 else "train") / side
        target.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image.clip(0, 255).astype(numpy.uint8)).convert(mode).save(target / f"{i}.png")


class Training(Case):
    COMMON = ("--opt", "adamw", "--lr", "0.001", "--batch-size", "8", "--threads", "1", "--workers", "1", "--seed", "3", "--no-report")

    @classmethod
    def setUpClass(cls):
        # Few blocks: dropout and stochastic depth are in each.
        cls.exported = cls.export(
            convnext_atto=("convnext_atto", "--size", "32"), resnet18=("resnet18", "--size", "32"),
            dropped_paths=("convnext_atto", "--size", "32", "--set", "drop_path_rate=0.3", "--set", "depths=(1,1,2,1)"),
            dropout=("vit_tiny_patch16_224", "--size", "32", "--set", "drop_rate=0.2", "--set", "proj_drop_rate=0.1", "--set",
                     "attn_drop_rate=0.1", "--set", "img_size=32", "--set", "depth=3"),
            # Smooth, without ReLU and max pooling: where rounding decides which side of a kink a value lies, gradients jump.
            smooth=("resnet10t", "--size", "32", "--set", "act_layer=silu", "--set", "replace_stem_pool=True"))

    def train(self, network, name, *more):
        return run(STOKER, "train", self.folder / "data", "--model", network, *self.COMMON, "--epochs", "2", "--output", self.folder,
                   "--experiment", name, *more)

    def weights(self, name, which="last"):
        return (self.folder / name / "weights" / f"{which}.safetensors").read_bytes()

    def killed(self, network, name, *more):
        """Killed twice, each time soon after another checkpoint was written, then left to end."""
        command = [STOKER, "train", str(self.folder / "data"), "--model", str(network), *self.COMMON, "--epochs", "2", "--output",
                   str(self.folder), "--experiment", name, "--resume", "auto", "--checkpoint-every", "2steps", *more]
        done = ranks.kill_and_resume(command, self.folder / name, 2)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_killed_and_resumed_and_on_two_ranks(self):
        draw(self.folder / "data", 56)  # 6 steps in an epoch, the last with 2 samples
        for name in ("dropped_paths", "dropout"):
            with self.subTest(name):
                network = self.exported / f"{name}.pt2"
                self.train(network, f"{name}-whole")
                self.killed(network, f"{name}-killed")
                self.assertEqual(self.weights(f"{name}-killed"), self.weights(f"{name}-whole"))
                ranks.train(2, "train", self.folder / "data", "--model", network, *self.COMMON, "--epochs", "2", "--output", self.folder,
                            "--experiment", f"{name}-ranks", timeout=300)
                one, two = (json.loads((self.folder / f"{name}-{kind}" / "run.json").read_text(encoding="utf-8")) for kind in ("whole", "ranks"))
                self.assertEqual(one["samples_digest"], two["samples_digest"])
                # Sums of two ranks round differently, and Adam makes much of the last bit of a small gradient.
                a, b = (load_file(self.folder / f"{name}-{kind}/weights/last.safetensors") for kind in ("whole", "ranks"))
                worst = max(float(numpy.abs(a[key] - b[key]).max()) for key in a if a[key].dtype == numpy.float32)
                print(f"{name}: two ranks differ by {worst:.2g}")
                self.assertLess(worst, 0.01)

    def test_synchronised_batch_norms_are_those_of_the_whole_batch(self):
        weights, losses, apart = self.rank_distances("resnet10t", self.exported / "smooth.pt2")
        self.assertLess(weights, 1e-4)
        self.assertLess(losses, 1e-4)
        self.assertGreater(apart, 0.01)

    def test_the_model_file_is_enough(self):
        draw(self.folder / "data", 64)
        network = shutil.copy(self.exported / "convnext_atto.pt2", self.folder / "network.pt2")
        self.train(network, "run")
        pathlib.Path(network).unlink()
        told = run(STOKER, "eval", self.folder / "data", "--weights", self.folder / "run", "--split", "val", "--json")
        self.assertGreater(json.loads(told)["top1"], 0.9)
        rows = run(STOKER, "predict", self.folder / "data/val", "--weights", self.folder / "run").splitlines()
        self.assertEqual(rows[0], "sample,class,probability,left,right,error")
        run(STOKER, "export", self.folder / "run", "--out", self.folder / "run.onnx")
        told = run(STOKER, "info", self.folder / "run.onnx")
        self.assertIn("stoker.classes", told)
        self.assertNotIn("stoker.graph", told)  # the file is the graph
        self.assertIn("graph:convnext_atto", run(STOKER, "info", self.folder / "run"))

    def test_frozen_with_cached_features_and_layer_decay(self):
        draw(self.folder / "data", 32)
        network = self.exported / "resnet18.pt2"
        self.train(network, "cached", "--freeze", "all", "--features", "cached")
        self.train(network, "decayed", "--layer-decay", "0.7", "--freeze", "2", "--model-ema")
        a, b = (load_file(self.folder / f"{name}/weights/last.safetensors") for name in ("cached", "decayed"))
        self.assertTrue(numpy.array_equal(a["conv1.weight"], b["conv1.weight"]))
        self.assertFalse(numpy.array_equal(a["layer4.0.conv1.weight"], b["layer4.0.conv1.weight"]))

    def test_one_channel(self):
        draw(self.folder / "data", 32, "L")
        run(STOKER, "train", self.folder / "data", "--model", self.exported / "resnet18.pt2", *self.COMMON, "--epochs", "1", "--channels", "1",
            "--output", self.folder)
        weights = load_file(self.folder / "data-resnet18/weights/last.safetensors")  # named after the data and the network
        self.assertEqual(weights["conv1.weight"].shape, (64, 1, 7, 7))

    def test_wrong_files(self):
        draw(self.folder / "data", 16)
        (self.folder / "text.pt2").write_text("no archive", encoding="utf-8")
        for path, part in ((self.folder / "text.pt2", "text.pt2"), (self.folder / "none.pt2", "none.pt2")):
            done = subprocess.run([STOKER, "train", str(self.folder / "data"), "--model", str(path), *self.COMMON], capture_output=True,
                                  text=True, timeout=60, check=False, cwd=self.folder)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(part, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


class Maps(Case):
    """Class activation maps lie where the class is: images have a blue or a red square in noise, anywhere."""

    SIDE = 16

    def draw(self, rng, label, height, width):
        """An image, and its square's top and left."""
        image = rng.normal(90, 25, (height, width, 3))
        top, left = (self.SIDE * rng.integers(length // self.SIDE) for length in (height, width))
        image[top:top + self.SIDE, left:left + self.SIDE, 2 - 2 * label] += 120
        return image.clip(0, 255).astype(numpy.uint8), top, left

    def trained(self, network, height, width, rate):
        rng = numpy.random.default_rng(2)
        for i in range(128):
            target = self.folder / "data" / ("val" if i % 16 < 4 else "train") / ("blue", "red")[i % 2]
            target.mkdir(parents=True, exist_ok=True)
            Image.fromarray(self.draw(rng, i % 2, height, width)[0]).save(target / f"{i}.png")
        run(STOKER, "train", self.folder / "data", "--model", network, *Training.COMMON, "--batch-size", "16", "--lr", rate, "--epochs", "6",
            "--aa", f"resize({height},{width})", "--mean", "0.5", "--std", "0.25", "--output", self.folder, "--experiment", "run")
        self.assertEqual(float(ranks.table(self.folder / "run")[-1]["val_top1"]), 1)
        return self.folder / "run/weights/last.safetensors"

    def check(self, network, height, width, rate):
        model, rng = self.trained(network, height, width, rate), numpy.random.default_rng(9)
        drawn = [self.draw(rng, i % 2, height, width) for i in range(16)]
        pixels = numpy.stack([image for image, _, _ in drawn]).transpose(0, 3, 1, 2) / 255
        batch, found = self.folder / "batch.safetensors", self.folder / "found.safetensors"
        save_file({"pixels": numpy.ascontiguousarray((pixels - 0.5) / 0.25, numpy.float32), "labels": numpy.arange(16) % 2}, batch)
        run(pathlib.Path(CAT).with_name("heat_cat"), model, batch, found)
        missed = []
        for heat, (_, top, left) in zip(load_file(found)["heat"], drawn):
            row, column = numpy.unravel_index(heat.argmax(), heat.shape)
            place = row * height // heat.shape[0] // self.SIDE, column * width // heat.shape[1] // self.SIDE
            if place != (top // self.SIDE, left // self.SIDE):
                missed.append((place, top, left))
        print(f"{pathlib.Path(network).stem}: {len(drawn) - len(missed)} of {len(drawn)} squares are the hottest place")
        # Nearly all; of maps that are transposed or moved by a token, few.
        self.assertLessEqual(len(missed), 2, missed)

    def test_of_a_class_token(self):
        self.check("vit_tiny_patch16_224", 64, 96, "0.0005")

    def test_of_windows_with_channels_last(self):
        small = ("embed_dim=32", "depths=(2,2)", "num_heads=(2,4)", "window_size=4", "img_size=64")
        words = ("swin_tiny_patch4_window7_224", "--size", "64", *(word for setting in small for word in ("--set", setting)))
        self.check(self.export(swin=words) / "swin.pt2", 64, 64, "0.002")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
