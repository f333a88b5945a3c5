#!/usr/bin/env python3
"""`stoker info` on files of weights, on exported networks (.pt2) and on ONNX files.

    info_test.py Files
    info_test.py Timm      needs .venv-networks (scripts/setup); skipped with a message where it is not there
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
STOKER = os.environ.get("STOKER", str(ROOT / "build/release/stoker"))
PYTHON = ROOT / ".venv-networks/bin/python"
SKIPPED = 77


def stoker(*arguments, code=0):
    done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


class Files(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_weights_tell_their_network_and_show_no_control_characters(self):
        path = self.folder / "w.safetensors"
        save_file({"layer4.1.conv2.weight": numpy.zeros((2, 3), numpy.float32), "bn1.running_mean": numpy.zeros(5, numpy.float32)}, path,
                  metadata={"note": "red \x1b[31m"})
        told = json.loads(stoker("info", path, "--json"))
        self.assertEqual((told["network"], told["parameters"], told["values"], told["format"]), ("resnet18", 6, 11, "safetensors"))
        text = stoker("info", path)
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1b[31m", text)
        self.assertIn("6, and 5 running statistics", text)

    def make_onnx(self):
        pixels = helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, None])
        weight = numpy_helper.from_array(numpy.zeros((4, 3), numpy.float32), "w")
        graph = helper.make_graph([helper.make_node("MatMul", ["w", "pixels"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
                                   helper.make_node("Relu", ["b"], ["out"])], "mine", [pixels],
                                  [helper.make_tensor_value_info("out", TensorProto.FLOAT16, [2])], [weight])
        model = helper.make_model(graph, producer_name="test", producer_version="7", opset_imports=[helper.make_opsetid("", 15)])
        helper.set_model_props(model, {"author": "Ärmel"})
        onnx.save(model, self.folder / "m.onnx")
        return self.folder / "m.onnx"

    def test_onnx(self):
        path = self.make_onnx()
        told = json.loads(stoker("info", "--json", path))
        self.assertEqual(told["opsets"], {"": 15})
        self.assertEqual(told["inputs"], [{"name": "pixels", "dtype": "F32", "shape": ["n", "3", "?"]}])
        self.assertEqual(told["outputs"], [{"name": "out", "dtype": "F16", "shape": ["2"]}])
        self.assertEqual((told["operators"], told["nodes"], told["parameters"]), ({"MatMul": 1, "Relu": 2}, 3, 12))
        self.assertEqual((told["producer"], told["metadata"]), ("test 7", {"author": "Ärmel"}))
        text = stoker("info", path)
        for part in ("pixels F32 (n, 3, ?)", "    2  Relu", "author                 Ärmel", "opset                  15"):
            self.assertIn(part, text)

    def test_damaged_onnx(self):
        path = self.make_onnx()
        whole = path.read_bytes()
        for length in (0, 1, 20, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:length])
            self.assertIn("cannot read the ONNX file", stoker("info", path, code=1), length)
        self.assertIn("none.onnx", stoker("info", self.folder / "none.onnx", code=1))


class Timm(unittest.TestCase):
    """Figures of an exported network against what Python counts."""

    # Exports each network, and counts by hooks what its layers multiply.
    COUNT = """
import json, runpy, sys, timm, torch
folder, script, counted = sys.argv[1], sys.argv[2], {}
for name in sys.argv[3:]:
    sys.argv = ["export", name, "--out", f"{folder}/{name}.pt2"]
    runpy.run_path(script, run_name="__main__")
    model = timm.create_model(name).eval()
    shapes, products = {}, [0]
    def hook(module, inputs, output):
        products[0] += output.numel() * module.weight[0].numel()
    for module in model.modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)): module.register_forward_hook(hook)
    for child, module in model.named_children():
        module.register_forward_hook(lambda m, i, o, child=child: shapes.__setitem__(child, list(o.shape[1:])))
    with torch.no_grad(): model(torch.zeros(1, *model.pretrained_cfg["input_size"]))
    counted[name] = {"parameters": sum(p.numel() for p in model.parameters()), "products": products[0], "shapes": shapes,
                     "mean": model.pretrained_cfg["mean"]}
with open(f"{folder}/counted.json", "w") as out: json.dump(counted, out)
"""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        subprocess.run([PYTHON, "-c", cls.COUNT, cls.folder, ROOT / "scripts/export_network.py", "test_resnet", "test_vit"], check=True,
                       capture_output=True, timeout=300)
        cls.counted = json.loads((cls.folder / "counted.json").read_text(encoding="utf-8"))

    def compare(self, name, attention=0):
        told, counted = json.loads(stoker("info", self.folder / f"{name}.pt2", "--json")), self.counted[name]
        self.assertEqual(told["parameters"], counted["parameters"])
        self.assertEqual(told["multiply_adds"], counted["products"] + attention)
        self.assertEqual(sum(stage["parameters"] for stage in told["stages"]), counted["parameters"])
        self.assertEqual(told["mean"], counted["mean"])
        self.assertEqual((told["name"], told["library"]), (name, "timm"))
        return {stage["name"]: stage["output"] for stage in told["stages"]}, counted["shapes"]

    def test_resnet(self):
        told, counted = self.compare("test_resnet")
        for name in ("conv1", "layer1", "layer2", "layer3", "layer4", "fc"):
            self.assertEqual(told[name], counted[name], name)

    def test_vit(self):
        # Of each of 6 blocks: 101 tokens with each other, twice, 64 numbers each.
        told, counted = self.compare("test_vit", attention=6 * 2 * 101 * 101 * 64)
        self.assertEqual(told["patch_embed"], counted["patch_embed"])
        self.assertEqual(told["blocks.5"], [101, 64])
        self.assertEqual(told["head"], counted["head"])


if __name__ == "__main__":
    if "Timm" in sys.argv[1:] and not PYTHON.exists():
        print(f"skipped: no {PYTHON}; scripts/setup makes it")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
