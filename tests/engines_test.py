#!/usr/bin/env python3
"""Engines of `predict` and `eval`: the same classes from each, on real photographs, in float32 and nearly so in int8; the choice
of the fastest; and clear words where one is missing.

Run by ctest with the path of the program as STOKER; needs photos, flowers12 and weights of $STOKER_TEST_DATA. OpenVINO and ONNX
Runtime are the packages in .venv. The class All has all photographs; nightly runs it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
PHOTOS, WEIGHTS, FLOWERS = DATA / "photos", DATA / "weights", DATA / "flowers12"
ENGINES = ("libtorch", "openvino", "onnxruntime")
MOBILENET = ["--weights", WEIGHTS / "mobilenet_v2-b0353104.pth", "--model", "mobilenet_v2"]
RESNET = ["--weights", WEIGHTS / "resnet18_imagenet1k_v1_reconstructed.safetensors", "--model", "resnet18"]
ENVIRONMENT = os.environ | {"VIRTUAL_ENV": str(SOURCE / ".venv")}
for variable in ("STOKER_OPENVINO", "STOKER_ONNXRUNTIME"):
    ENVIRONMENT.pop(variable, None)

if not (PHOTOS.is_dir() and WEIGHTS.is_dir() and FLOWERS.is_dir()):
    print(f"skipped: needs {PHOTOS}, {WEIGHTS} and {FLOWERS}")
    sys.exit(77)


def run(*words, environment=None):
    return subprocess.run([os.environ["STOKER"], *map(str, words)], capture_output=True, text=True, timeout=900, check=False,
                          env=environment or ENVIRONMENT)


def predict(*words):
    """The rows of `stoker predict` as JSON objects."""
    done = run("predict", *words, "--format", "jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def metadata(model):
    """Of a safetensors file."""
    data = model.read_bytes()
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])["__metadata__"]


def link_photographs(folder, which):
    for photo in sorted(PHOTOS.glob("*.JPEG"))[which]:
        os.symlink(photo, pathlib.Path(folder, photo.name))
    return folder


def largest_difference(rows, others):
    assert [row["sample"] for row in rows] == [row["sample"] for row in others]
    return max(abs(row["probabilities"][name] - share) for row, other in zip(rows, others)
               for name, share in other["probabilities"].items())


class Photographs(unittest.TestCase):
    EVERY = 5

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.photos = link_photographs(folder.name, slice(None, None, self.EVERY))

    def check(self, network, engines):
        """Every engine in float32 has the class that training's form has."""
        exact = predict(self.photos, *network, "--engine", "training")
        self.assertEqual(len(exact), 250 // self.EVERY)
        for engine in engines:
            with self.subTest(engine=engine):
                rows = predict(self.photos, *network, "--engine", engine)
                self.assertEqual([row["class"] for row in rows], [row["class"] for row in exact])
                self.assertLess(largest_difference(rows, exact), 1e-4)
                self.assertGreater(largest_difference(rows, exact), 0, "the engine did not compute")
        return exact

    def test_mobilenet(self):
        exact = self.check(MOBILENET, ENGINES)
        narrow = predict(self.photos, *MOBILENET, "--precision", "bfloat16")
        same = sum(row["class"] == other["class"] for row, other in zip(narrow, exact))
        print(f"bfloat16 has the same class for {same} of {len(exact)}")
        self.assertGreaterEqual(same, 0.97 * len(exact))
        self.assertGreater(largest_difference(narrow, exact), 1e-4, "it computed in float32")

    def test_resnet(self):
        self.check(RESNET, ("libtorch",))

    def test_int8(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "m.safetensors")
            done = run("export", WEIGHTS / "mobilenet_v2-b0353104.pth", "--model", "mobilenet_v2", "--out", model)
            self.assertEqual(done.returncode, 0, done.stderr)
            refused = run("predict", self.photos, "--weights", model, "--precision", "int8")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("stoker calibrate DATA --weights MODEL", refused.stderr)
            done = run("calibrate", self.photos, "--weights", model, "--images", 64, "--check", "none")
            self.assertEqual(done.returncode, 0, done.stderr)
            exact = predict(self.photos, "--weights", model)
            for engine in ENGINES:
                rows = predict(self.photos, "--weights", model, "--engine", engine, "--precision", "int8")
                same = sum(row["class"] == other["class"] for row, other in zip(rows, exact))
                print(f"{engine} in int8 has the same class for {same} of {len(exact)}")
                self.assertGreaterEqual(same, 0.88 * len(exact))
                self.assertGreater(largest_difference(rows, exact), 1e-3, "it computed in float32")


class Choice(unittest.TestCase):
    """`eval --engine auto` tries the engines and keeps what it found; `predict --engine auto` follows it."""

    def test_the_model_file_keeps_the_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("train", FLOWERS, "--model", "resnet18", "--image-size", 64, "--train-samples", 96, "--epochs", 1, "--output",
                       folder, "--name", "r")
            self.assertEqual(done.returncode, 0, done.stderr)
            model = pathlib.Path(folder, "r", "weights", "best.safetensors")
            weights = model.read_bytes()[-100000:]
            exact = run("eval", FLOWERS, "--weights", model, "--engine", "training", "--json")
            done = run("eval", FLOWERS, "--weights", model, "--engine", "auto", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            found, expected = json.loads(done.stdout), json.loads(exact.stdout)
            self.assertEqual(found["top1"], expected["top1"])
            self.assertEqual(model.read_bytes()[-100000:], weights, "the weights are as they were")
            figures = json.loads(metadata(model)["stoker.engines"])["figures"]
            self.assertEqual({figure["engine"] for figure in figures}, set(ENGINES))
            for figure in figures:
                self.assertEqual(figure["same"], 1)
                self.assertGreater(figure["images_per_second"], 0)
            fastest = max(figures, key=lambda figure: figure["images_per_second"])["engine"]
            shown = {"libtorch": "LibTorch", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime"}
            self.assertIn(shown[fastest], found["engine"])
            # Where the fastest is not installed, the next one computes.
            with tempfile.TemporaryDirectory() as empty:
                alone = ENVIRONMENT | {"STOKER_OPENVINO": empty, "STOKER_ONNXRUNTIME": empty}
                rows = run("predict", FLOWERS, "--weights", model, "--engine", "auto", "--format", "jsonl", environment=alone)
            self.assertEqual(rows.returncode, 0, rows.stderr)
            self.assertEqual(rows.stdout, run("predict", FLOWERS, "--weights", model, "--format", "jsonl").stdout)


class All(Photographs):
    EVERY = 1


class ModelServers(unittest.TestCase):
    """The folder of docs/export.md, read as OpenVINO Model Server and Triton read it: by OpenVINO and by ONNX Runtime."""

    READ = """
import ctypes, json, pathlib, sys
import numpy, onnxruntime, openvino
library, weights, network, photos = sys.argv[1:5]
feed = ctypes.CDLL(library)
feed.stoker_preprocessor_from_model.restype = feed.stoker_preprocessor_class_name.restype = ctypes.c_void_p
make = ctypes.c_void_p(feed.stoker_preprocessor_from_model(weights.encode(), 2))
session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
compiled = openvino.Core().compile_model(openvino.Core().read_model(network), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
assert session.get_inputs()[0].shape[1:] == [224, 224, 3] and session.get_inputs()[0].type == "tensor(uint8)"
rows = []
for photo in sorted(pathlib.Path(photos).iterdir()):
    pixels = numpy.empty((1, 224, 224, 3), numpy.uint8)
    status = feed.stoker_preprocess_file(make, str(photo).encode(), pixels.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(pixels.nbytes))
    assert status == 0, status
    best = [int(numpy.argmax(logits)) for logits in (session.run(["logits"], {"pixels": pixels})[0], compiled(pixels)["logits"])]
    names = [ctypes.string_at(feed.stoker_preprocessor_class_name(make, ctypes.c_size_t(number))).decode() for number in best]
    rows.append([photo.name, *names])
print(json.dumps(rows))
"""

    def test_the_same_classes(self):
        with tempfile.TemporaryDirectory() as folder:
            photos = pathlib.Path(folder, "photos")
            photos.mkdir()
            link_photographs(photos, slice(20))
            model, version = pathlib.Path(folder, "m.safetensors"), pathlib.Path(folder, "models", "m", "1")
            version.mkdir(parents=True)
            for words in (["export", WEIGHTS / "mobilenet_v2-b0353104.pth", "--model", "mobilenet_v2", "--out", model],
                          ["export", model, "--out", version / "model.onnx", "--with-preprocessing"]):
                done = run(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
            library = pathlib.Path(os.environ["STOKER"]).parent / "lib" / "libstoker_feed.so"
            done = subprocess.run([SOURCE / ".venv/bin/python", "-c", self.READ, library, model, version / "model.onnx", photos],
                                  capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            expected = [[pathlib.Path(row["sample"]).name, row["class"], row["class"]] for row in predict(photos, "--weights", model)]
            self.assertEqual(json.loads(done.stdout), expected)


class Bits(unittest.TestCase):
    def test_threads_workers_and_isolation_change_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            link_photographs(folder, slice(21))
            for engine in ENGINES:
                words = [folder, *MOBILENET, "--engine", engine, "--batch-size", 10]  # the last has 1
                first = predict(*words, "--threads", 1, "--workers", 1)
                self.assertEqual(len(first), 21)
                for more in (["--threads", 2], ["--threads", 3, "--workers", 4], ["--isolate"]):
                    with self.subTest(engine=engine, more=more):
                        self.assertEqual(predict(*words, *more), first)


class Words(unittest.TestCase):
    def test_a_missing_engine(self):
        for engine, name in (("openvino", "OpenVINO"), ("onnxruntime", "ONNX Runtime")):
            with tempfile.TemporaryDirectory() as empty:
                done = run("predict", PHOTOS, *MOBILENET, "--engine", engine, environment=ENVIRONMENT | {f"STOKER_{engine.upper()}": empty})
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f"there is no {name}", done.stderr)
            self.assertIn(f"pip install {engine}", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_precision_that_an_engine_has_not(self):
        done = run("predict", PHOTOS, *MOBILENET, "--engine", "onnxruntime", "--precision", "bfloat16")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("does not compute bfloat16", done.stderr)

    def test_weights_that_cannot_keep_a_calibration(self):
        done = run("calibrate", PHOTOS, *MOBILENET, "--check", "none", "--images", 4)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("only a model file of Stoker can keep this", done.stderr)

    def test_a_wrong_name(self):
        done = run("predict", PHOTOS, *MOBILENET, "--engine", "openvin")
        self.assertEqual(done.returncode, 2)
        self.assertIn("openvino", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
