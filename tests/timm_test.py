#!/usr/bin/env python3
"""Folders in Hugging Face's form: timm reads what Stoker writes, and Stoker what timm writes, with the same logits.

    timm_test.py Folders      needs .venv-networks (scripts/setup); ends with 77 and a message where it is not there
    timm_test.py All          more networks; .ci/nightly runs it
"""

import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
from PIL import Image
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
STOKER = os.environ.get("STOKER", str(ROOT / "build/release/stoker"))
PYTHON = ROOT / ".venv-networks/bin/python"
SKIPPED = 77
CLASSES = ["Löwe", "tiger", "bear, brown"]
FEW = {"resnet18": "resnet18", "mobilenet_v2": "mobilenetv2_100", "convnext_atto": "convnext_atto", "regnet_y_400mf": "regnety_004"}
ALL = FEW | {"resnet50": "resnet50", "efficientnet_b0": "efficientnet_b0"}

# Runs in .venv-networks. `make FOLDER NAME SETTINGS`: a network of timm with random weights and statistics, saved by timm. `ask FOLDER
# IMAGES`: probabilities by timm's own loading and preprocessing. One process does a list of these, since importing takes seconds.
TIMM = """
import json, pathlib, sys, timm, torch
from PIL import Image
from timm.models._hub import save_for_hf
torch.set_num_threads(1)
def make(folder, name, settings):
    torch.manual_seed(7)
    model = timm.create_model(name, num_classes=settings["num_classes"])
    with torch.no_grad():
        for key, tensor in list(model.named_parameters()) + list(model.named_buffers()):
            if tensor.dim() == 1 and tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + (0.5 if key.endswith(("running_var", "weight")) else -0.5))
        # Statistics of images, and logits of about 1: saturated networks would prove nothing.
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d): module.momentum = 1.0
        pixels = torch.randn(8, *settings["input_size"])
        model.train()(pixels)
        model.eval()
        head = model.get_classifier()
        head.weight.mul_(0.5 / model(pixels).std(0).max())
        head.bias.sub_(model(pixels).mean(0))
    model.pretrained_cfg.update(settings)
    save_for_hf(model, folder, {"label_names": settings["label_names"]}, safe_serialization=True)
def ask(folder, images):
    model = timm.create_model("local-dir:" + folder, pretrained=True).eval()
    config = timm.data.resolve_model_data_config(model)
    transform = timm.data.create_transform(**config, is_training=False)
    found = {}
    for path in sorted(pathlib.Path(images).iterdir()):
        with torch.no_grad():
            found[path.name] = torch.softmax(model(transform(Image.open(path).convert("RGB"))[None]), 1)[0].tolist()
    return {"probabilities": found, "labels": model.pretrained_cfg["label_names"], "input": config["input_size"]}
print(json.dumps([make(*order[1:]) if order[0] == "make" else ask(*order[1:]) for order in json.loads(sys.argv[1])]))
"""


def in_timm(*orders):
    done = subprocess.run([PYTHON, "-c", TIMM, json.dumps(orders)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def stoker(*arguments, code=0):
    done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def probabilities(weights, images, classes=tuple(CLASSES)):
    """Of each image, in this order. Computed as in training: folded batch norms round otherwise than timm's."""
    rows = csv.DictReader(stoker("predict", images, "--weights", weights, "--engine", "training").splitlines())
    return {pathlib.Path(row["sample"]).name: [float(row[name]) for name in classes] for row in rows}


class Folders(unittest.TestCase):
    NETWORKS = FEW

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "images").mkdir()
        draw = numpy.random.default_rng(3)
        for i, size in enumerate(((70, 90), (64, 64), (150, 60))):
            coarse = Image.fromarray(draw.integers(0, 256, (9, 9, 3), dtype=numpy.uint8))
            coarse.resize(size, Image.Resampling.BICUBIC).save(self.folder / f"images/{i}.png")

    def same(self, network, told, found):
        self.assertEqual(sorted(told), sorted(found))
        worst = 0.0
        for name, row in told.items():
            self.assertEqual(len(row), len(CLASSES))
            worst = max(worst, *(abs(a - b) for a, b in zip(row, found[name])))
        print(f"  largest difference {worst:.2g}")
        self.assertFalse(math.isnan(worst))
        self.assertLessEqual(worst, 1e-5)
        if network == "efficientnet_b0":  # saturated by random weights; its numbers are compared by families_test.py, here its names
            return
        spread = max(max(abs(a - b) for a, b in zip(told["0.png"], row)) for row in told.values())
        self.assertGreater(spread, 1e-3, "images that all look the same to the network prove nothing")

    def make(self):
        """Networks of timm with random weights and statistics, and what timm computes with them."""
        settings = {"num_classes": 3, "label_names": CLASSES, "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.25, 0.3], "input_size": [3, 64, 64],
                    "crop_pct": 0.9, "crop_mode": "center", "interpolation": "bicubic"}
        squash = {"crop_pct": 1.0, "crop_mode": "squash", "interpolation": "bilinear"}
        orders = []
        for ours, name in self.NETWORKS.items():
            folder = str(self.folder / ours)
            orders += [["make", folder, name, settings | (squash if ours == "resnet18" else {})], ["ask", folder, str(self.folder / "images")]]
        return dict(zip(self.NETWORKS, in_timm(*orders)[1::2]))

    def test_both_ways(self):
        made = self.make()
        for ours, result in made.items():
            with self.subTest("timm to Stoker: " + ours):
                self.same(ours, result["probabilities"], probabilities(self.folder / ours, self.folder / "images"))
                told = json.loads(stoker("info", self.folder / ours, "--json"))
                self.assertEqual((told["network"], told["config"]["classes"]), (ours, 3))
        self.train(self.folder / "mobilenet_v2")
        sources = {ours: self.folder / f"{ours}.safetensors" for ours in self.NETWORKS} | {"run": self.folder / "runs/fine"}
        for name, source in sources.items():
            if name != "run":
                stoker("export", self.folder / name, "--out", source)  # a model file with our names
            stoker("export", source, "--format", "timm", "--out", self.folder / "back" / name)
        results = in_timm(*(["ask", str(self.folder / "back" / name), str(self.folder / "images")] for name in sources))
        for (name, source), result in zip(sources.items(), results):
            with self.subTest("Stoker to timm: " + name):
                self.assertEqual(result["labels"], ["left", "middle", "right"] if name == "run" else CLASSES)
                self.assertEqual(result["input"], [3, 64, 64])
                self.same(name, result["probabilities"], probabilities(source, self.folder / "images", result["labels"]))
                if name != "run":
                    self.same_files(self.folder / name, self.folder / "back" / name)
        self.assertIn("--force", stoker("export", self.folder / "runs/fine", "--format", "timm", "--out", self.folder / "back/run", code=1))
        self.check_others(self.folder / "mobilenet_v2")

    def same_files(self, first, second):
        """All but counters of batches, which Stoker does not keep."""
        a, b = ({key: tensor for key, tensor in load_file(folder / "model.safetensors").items() if not key.endswith("num_batches_tracked")}
                for folder in (first, second))
        self.assertEqual(sorted(a), sorted(b))
        self.assertTrue(all(numpy.array_equal(a[key], b[key]) for key in a))
        a, b = (json.loads((folder / "config.json").read_text(encoding="utf-8")) for folder in (first, second))
        for key in ("architecture", "num_classes", "num_features", "label_names"):
            self.assertEqual(a[key], b[key], key)
        for key in ("mean", "std", "input_size", "interpolation", "crop_mode", "first_conv", "classifier"):
            self.assertEqual(a["pretrained_cfg"][key], b["pretrained_cfg"][key], key)

    def check_others(self, folder):
        """Everything else that takes weights takes the folder too."""
        stoker("export", folder, "--out", self.folder / "m.pth")
        self.assertIn("features.17.conv.3.weight", stoker("info", self.folder / "m.pth"))
        stoker("export", folder, "--out", self.folder / "m.onnx")
        self.assertIn("bicubic with antialiasing", stoker("info", self.folder / "m.onnx"))
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        for key, value, part in (("interpolation", "hamming", "hamming"), ("crop_mode", "border", "border")):
            changed = json.loads(json.dumps(config))
            changed["pretrained_cfg"][key] = value
            (folder / "config.json").write_text(json.dumps(changed), encoding="utf-8")
            self.assertIn(part, stoker("predict", self.folder / "images", "--weights", folder, code=1))
        (folder / "config.json").write_text(json.dumps(config | {"architecture": "swin_tiny_patch4_window7_224"}), encoding="utf-8")
        self.assertIn("not built in", stoker("predict", self.folder / "images", "--weights", folder, code=1))

    def train(self, folder):
        data = self.folder / "data"
        for part in ("train", "val"):
            for name in ("left", "middle", "right"):
                (data / part / name).mkdir(parents=True)
                for path in (self.folder / "images").iterdir():
                    (data / part / name / path.name).write_bytes(path.read_bytes())
        stoker("train", data, "--pretrained", folder, "--epochs", "1", "--batch-size", "2", "--output", self.folder / "runs", "--experiment",
               "fine", "--freeze", "all", "--workers", "1")
        told = (self.folder / "runs/fine/args.yaml").read_text(encoding="utf-8")
        for part in ("mobilenet_v2", "[0.4, 0.5, 0.6]", "resize_crop(71,64,3)"):
            self.assertIn(part, told)

    def test_what_timm_does_not_have_is_refused(self):
        (self.folder / "data/train/a").mkdir(parents=True)
        (self.folder / "data/train/b").mkdir()
        for name in ("a", "b"):
            (self.folder / f"data/train/{name}/0.png").write_bytes((self.folder / "images/1.png").read_bytes())
        stoker("train", self.folder / "data", "--model", "cnn:4", "--epochs", "1", "--output", self.folder / "runs", "--experiment", "small",
               "--val-data", self.folder / "data", "--workers", "1")
        told = stoker("export", self.folder / "runs/small", "--format", "timm", "--out", self.folder / "out", code=1)
        self.assertIn("resnet18", told)
        self.assertFalse((self.folder / "out").exists())


class All(Folders):
    NETWORKS = ALL


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"skipped: no {PYTHON}; scripts/setup makes it")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
