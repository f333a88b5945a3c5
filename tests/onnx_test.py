#!/usr/bin/env python3
"""ONNX Runtime computes from our files what we compute ourselves.

Run by ctest with the paths of the programs as ONNX_CAT and STOKER. Needs the packages of requirements.txt; without them the
test says so and ends with 77, ctest's "skipped" here. The classes Program and Photographs also need mnist, weights and
photos in $STOKER_TEST_DATA. The class All has more networks than Networks; nightly runs it.
"""

import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    import onnxruntime
    from PIL import Image
except ImportError as error:
    print(f"skipped: {error}; scripts/setup installs what requirements.txt lists")
    sys.exit(77)

CAT, STOKER = os.environ["ONNX_CAT"], os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("STOKER_TEST_DATA", str(SOURCE.parent / "shared" / "data"))
DATA = pathlib.Path(os.environ["STOKER_TEST_DATA"])
MNIST, PHOTOS, WEIGHTS = DATA / "mnist", DATA / "photos", DATA / "weights"
CLASSES = 4
# Architecture, height, width, channels. 25 and 50 do not divide into 7: pooling by matrices.
NETWORKS = [("mlp:64,16,4", 8, 8, 1), ("mlp:192,16,8,4:relu", 8, 8, 3), ("mlp:64,4", 8, 8, 1), ("mlp:64,16,4:sigmoid:sigmoid", 8, 8, 1),
            ("cnn:small", 28, 28, 1),
            ("cnn:8,12,16", 28, 28, 3), ("cnn:8,12", 28, 28, 3), ("cnn:8", 28, 28, 1), ("cnn:8,12", 50, 100, 3),
            ("cnn:8,12", 29, 43, 3), ("cnn:8,12", 9, 5, 1), ("cnn:8,12,8", 4, 4, 1), ("cnn:8,12", 50, 6, 1),
            ("resnet18", 33, 50, 3), ("mobilenet_v2", 33, 50, 3), ("convnext_atto", 64, 40, 3), ("vit_tiny_patch16_224", 48, 64, 1),
            ("efficientnet_b0", 50, 64, 3), ("mobilenet_v3_small", 64, 64, 1), ("regnet_y_400mf", 64, 64, 3)]
MORE = [("resnet18", 64, 64, 3), ("resnet34", 64, 40, 3), ("resnet50", 64, 64, 3), ("resnet101", 40, 64, 3), ("mobilenet_v2", 64, 64, 3),
        ("efficientnet_v2_s", 64, 64, 3)]


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def softmax(logits):
    shares = np.exp(logits - logits.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, code=0):
        done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr


class Networks(Case):
    """Every kind of network, with random weights."""

    NETWORKS = NETWORKS

    def export(self, *networks):
        """For each: its file, pixels and logits."""
        folders = [self.folder / str(number) for number in range(len(networks))]
        for folder in folders:
            folder.mkdir()
        self.run_program(CAT, *(word for network, folder in zip(networks, folders) for word in (*network, CLASSES, folder)))
        for (_, height, width, channels), folder in zip(networks, folders):
            pixels = np.fromfile(folder / "pixels.f32", np.float32).reshape(5, channels, height, width)
            yield folder / "model.onnx", pixels, np.fromfile(folder / "logits.f32", np.float32).reshape(5, CLASSES)

    def test_same_logits_for_any_number_of_samples(self):
        for network, (path, pixels, expected) in zip(self.NETWORKS, self.export(*self.NETWORKS), strict=True):
            with self.subTest(network):
                onnx.checker.check_model(str(path), full_check=True)
                session = session_of(path)
                for count in (5, 1, 2):
                    (found,) = session.run(["logits"], {"pixels": pixels[:count]})
                    self.assertEqual(found.shape, (count, CLASSES))
                    # Random deep networks have logits of any size, so of the largest.
                    apart = np.abs(found - expected[:count]).max() / np.abs(expected).max()
                    self.assertTrue(apart <= 1e-4, f"{apart:.2g}")
                self.assertGreater(np.ptp(expected), 0.01)  # it is no constant
                print(f"{network[0]} {network[1]}x{network[2]}: {apart:.2g}")

    def test_shapes_and_versions(self):
        ((path, _, _),) = self.export(("cnn:8,12", 50, 100, 3))
        model = onnx.load(str(path))
        self.assertEqual((model.ir_version, model.opset_import[0].version), (8, 17))
        sizes = [d.dim_param or d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        self.assertEqual(sizes, ["samples", 3, 50, 100])
        # What the checker infers is what the file says.
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        output = inferred.graph.output[0].type.tensor_type.shape.dim
        self.assertEqual([d.dim_param or d.dim_value for d in output], ["samples", CLASSES])

    def test_metadata_says_all_that_using_it_takes(self):
        ((path, _, _),) = self.export(("cnn:8,12", 28, 28, 3))
        found = {p.key: p.value for p in onnx.load(str(path)).metadata_props}
        self.assertEqual(json.loads(found["stoker.classes"]), [f"größe {i}" for i in range(CLASSES)])
        self.assertEqual(json.loads(found["stoker.mean"]), [0.1, 0.2, 0.3])
        self.assertEqual(json.loads(found["stoker.std"]), [0.5, 0.6, 0.7])
        self.assertEqual(found["stoker.image"], "28x28x3")
        self.assertEqual(found["stoker.framing"], "resize_crop(32,28)")
        self.assertIn("bilinear with antialiasing", found["stoker.resize"])
        self.assertEqual(found["stoker.pixels"], "RGB, (value / 255 - mean) / std")
        self.assertEqual(session_of(path).get_modelmeta().custom_metadata_map, found)


class All(Networks):
    NETWORKS = NETWORKS + MORE


@unittest.skipUnless(MNIST.is_dir(), "needs MNIST in $STOKER_TEST_DATA/mnist")
class Program(Case):
    """stoker train, export, predict: the same probabilities from ONNX Runtime and the file alone."""

    def images(self):
        (path,) = MNIST.glob("t10k-images*")
        data = (gzip.open(path) if path.suffix == ".gz" else open(path, "rb")).read()
        return np.frombuffer(data, np.uint8, offset=16).reshape(-1, 1, 28, 28)

    def test_trained_networks(self):
        for model in ("mlp:784,32,10", "cnn:8,16"):
            with self.subTest(model):
                self.run_program(STOKER, "train", "--data", "mnist", "--model", model, "--epochs", 1, "--batches-per-epoch",
                                 50, "--output", self.folder, "--experiment", model[:3])
                weights, out = self.folder / model[:3] / "weights" / "last.safetensors", self.folder / "model.onnx"
                self.run_program(STOKER, "export", "--weights", weights, "--out", out, "--force")
                rows = self.run_program(STOKER, "predict", "--data", "mnist", "--weights", weights, "--format", "jsonl")
                expected = [list(json.loads(row)["probabilities"].values()) for row in rows.splitlines() if row[0] == "{"]
                session = session_of(out)
                facts = session.get_modelmeta().custom_metadata_map
                mean, std = (json.loads(facts[key])[0] for key in ("stoker.mean", "stoker.std"))
                pixels = ((self.images() / 255 - mean) / std).astype(np.float32)
                (logits,) = session.run(None, {"pixels": pixels})
                self.assertEqual(len(expected), len(logits))
                np.testing.assert_allclose(softmax(logits), expected, atol=1e-4)
                self.compare_with_preprocessing(weights, out, mean, std)

    def compare_with_preprocessing(self, weights, plain, mean, std):
        """Bytes in: the same logits in every bit as of the pixels that the feed makes."""
        out = self.folder / "bytes.onnx"
        self.run_program(STOKER, "export", "--weights", weights, "--out", out, "--with-preprocessing", "--force")
        onnx.checker.check_model(str(out), full_check=True)
        session, images = session_of(out), self.images()[:1000]
        self.assertEqual((session.get_inputs()[0].type, session.get_inputs()[0].shape), ("tensor(uint8)", ["samples", 28, 28, 1]))
        self.assertEqual(session.get_modelmeta().custom_metadata_map["stoker.pixels"], "grey, bytes 0 to 255")
        # As stoker/kernels/normalise: one product and one sum in float32.
        pixels = images.astype(np.float32) * np.float32(1 / (255 * std)) + np.float32(-mean / std)
        (expected,) = session_of(plain).run(None, {"pixels": pixels})
        (found,) = session.run(None, {"pixels": images.transpose(0, 2, 3, 1)})
        np.testing.assert_array_equal(found, expected)

    def test_weights_that_do_not_say_their_network(self):
        self.run_program(STOKER, "train", "--data", "mnist", "--model", "mlp:784,4,10", "--epochs", 1, "--batches-per-epoch", 2,
                         "--output", self.folder, "--experiment", "run")
        weights = self.folder / "run" / "weights" / "last.safetensors"
        pth, back = self.folder / "w.pth", self.folder / "w.safetensors"
        self.run_program(STOKER, "export", "--weights", weights, "--out", pth)
        self.run_program(STOKER, "export", "--weights", pth, "--out", back)
        compared = self.run_program(STOKER, "info", "--compare", weights, back)
        self.assertIn("4 tensors, 4 of them the same in every byte", compared)
        message = self.run_program(STOKER, "export", "--weights", pth, "--out", self.folder / "w.onnx", code=1)
        self.assertIn("do not say which network", message)
        message = self.run_program(STOKER, "export", "--weights", pth, "--out", self.folder / "w.bin", code=1)
        self.assertIn("--format", message)
        message = self.run_program(STOKER, "export", "--weights", weights, "--out", back, "--force", "--with-preprocessing", code=1)
        self.assertIn("only ONNX files can contain the preprocessing", message)


@unittest.skipUnless(PHOTOS.is_dir() and WEIGHTS.is_dir(), f"needs {PHOTOS} and {WEIGHTS}")
class Photographs(Case):
    """Published weights as ONNX: with what the file's metadata says, Pillow and ONNX Runtime predict what we do."""

    def prepared(self, path, facts):
        shorter, side = map(int, re.fullmatch(r"resize_crop\((\d+),(\d+)\)", facts["stoker.framing"]).groups())
        image = Image.open(path).convert("RGB")
        scale = shorter / min(image.size)
        image = image.resize([shorter if edge == min(image.size) else int(edge * scale) for edge in image.size],
                             Image.Resampling.BILINEAR)
        left, top = (round((edge - side) / 2) for edge in image.size)
        pixels = np.asarray(image.crop((left, top, left + side, top + side)))
        mean, std = (np.array(json.loads(facts[key])) for key in ("stoker.mean", "stoker.std"))
        return ((pixels / 255 - mean) / std).transpose(2, 0, 1).astype(np.float32)

    def compare(self, model, weights):
        photos, out = self.folder / "photos", self.folder / "model.onnx"
        photos.mkdir()
        for path in sorted(PHOTOS.glob("*.JPEG"))[::20]:
            shutil.copy(path, photos)
        names = self.folder / "names.txt"
        names.write_text("".join(f"class {i}\n" for i in range(1000)), encoding="utf-8")
        published = ["--model", model, "--class-names", names]
        self.run_program(STOKER, "export", WEIGHTS / weights, *published, "--out", out)
        rows = self.run_program(STOKER, "predict", photos, "--weights", WEIGHTS / weights, *published, "--format", "jsonl")
        rows = [json.loads(row) for row in rows.splitlines() if row[0] == "{"]
        session = session_of(out)
        facts = session.get_modelmeta().custom_metadata_map
        self.assertEqual(json.loads(facts["stoker.classes"])[999], "class 999")
        pixels = np.stack([self.prepared(photos / pathlib.Path(row["sample"]).name, facts) for row in rows])
        (logits,) = session.run(None, {"pixels": pixels})
        expected = np.array([list(row["probabilities"].values()) for row in rows])
        self.assertEqual(expected.shape, (13, 1000))
        apart = np.abs(softmax(logits) - expected).max()
        print(f"{model}: {apart:.2g}")
        self.assertTrue(apart <= 1e-4, f"{apart:.2g}")
        self.assertEqual((logits.argmax(1) == expected.argmax(1)).all(), True)

    def test_mobilenet_v2(self):
        self.compare("mobilenet_v2", "mobilenet_v2-b0353104.pth")

    def test_resnet18_reconstructed(self):
        self.compare("resnet18", "resnet18_imagenet1k_v1_reconstructed.safetensors")


if __name__ == "__main__":
    unittest.main(verbosity=2)
