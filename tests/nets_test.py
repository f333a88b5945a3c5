#!/usr/bin/env python3
"""Our networks and torchvision's are the same: names, logits, gradients, frozen or not.

Run by ctest with the path of the test program as MODEL_CAT, where CMake was given a Python that has torch and
torchvision (-DSTOKER_TORCHVISION_PYTHON; the one of bench/requirements.txt does). torch's wheel in .venv cannot be
imported: it lacks the CUDA libraries. So `nets_test.py write` notes in golden/torchvision.json what torchvision computes,
and a C++ test that always runs holds our networks against it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zlib

try:
    import numpy as np
    import torch
    import torchvision
    from PIL import Image
except ImportError as error:
    print(f"skipped: {error}; pip install -r bench/requirements.txt")
    sys.exit(77)

CAT = os.environ["MODEL_CAT"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = SOURCE / "tests" / "golden" / "torchvision.json"
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
NETWORKS = ["resnet18", "resnet34", "resnet50", "resnet101", "mobilenet_v2"]
DTYPES = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8")}
CLASSES = 10
torch.set_num_threads(1)


def write_tensors(path, tensors):
    header, offset, arrays = {}, 0, []
    for name, tensor in tensors.items():
        array = np.ascontiguousarray(tensor.detach().cpu().numpy())
        dtype = "I64" if array.dtype == np.int64 else "F32"
        assert array.dtype == DTYPES[dtype], f"{name}: {array.dtype}"
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
        arrays.append(array.tobytes())
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(arrays))


def read_tensors(path):
    content = pathlib.Path(path).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        values = np.frombuffer(content[end + begin:end + stop], DTYPES[entry["dtype"]])
        tensors[name] = torch.from_numpy(values.copy()).reshape(entry["shape"])
    return tensors


def part(tensors, prefix):
    return {name[len(prefix):]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def images(samples=4, height=64, width=96):
    """The same as in stoker/nn/networks/torchvision_test.cc."""
    h = (np.arange(samples * 3 * height * width, dtype=np.uint64) * 2654435761) & 0xFFFFFFFF
    h = ((h ^ (h >> np.uint64(15))) * 2246822519) & 0xFFFFFFFF
    h ^= h >> np.uint64(13)
    values = (h >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return torch.from_numpy(values).reshape(samples, 3, height, width)


def labels_for(x):
    return torch.arange(len(x)) % CLASSES


def ours(name, x, labels, frozen=0, weights=None, classes=CLASSES):
    """What model_cat computes."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
        model = {f"model.{key}": tensor for key, tensor in (weights or {}).items()}
        write_tensors(given, {"x": x, "labels": labels, **model})
        words = [CAT, name, str(classes), str(frozen), given, made]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return read_tensors(made)


def theirs(name, weights, classes=CLASSES):
    """torchvision's network with these weights, exactly these; without dropout, which draws from torch's generator."""
    model = torchvision.models.get_model(name, weights=None, num_classes=classes)
    model.load_state_dict(weights, strict=True)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model


def stages(name):
    """Names and prefixes of parameters, from the input to the head."""
    if name == "mobilenet_v2":
        return [(f"features.{i}", (f"features.{i}.",)) for i in range(19)] + [("classifier.1", ("classifier.1.",))]
    layers = [(f"layer{i}", (f"layer{i}.",)) for i in range(1, 5)]
    return [("conv1", ("conv1.", "bn1.")), *layers, ("fc", ("fc.",))]


def train_once(model, x, labels, frozen=()):
    """One pass of training, as a user of torchvision would freeze the first stages."""
    model.train()
    for module_name, module in model.named_modules():
        if frozen and f"{module_name}.".startswith(frozen):
            module.eval()
    for parameter_name, parameter in model.named_parameters():
        parameter.requires_grad_(not (frozen and parameter_name.startswith(frozen)))
    logits = model(x)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    return logits.detach(), loss.detach()


def difference(found, expected):
    """The largest difference as a share of the largest value."""
    assert found.shape == expected.shape, f"{found.shape} {expected.shape}"
    largest = expected.abs().max().item()
    return (found.double() - expected.double()).abs().max().item() / (largest or 1.0)


def described(tensors):
    kinds = {torch.float32: "F32", torch.int64: "I64"}
    return sorted(f"{name} {kinds[tensor.dtype]} {list(tensor.shape)}" for name, tensor in tensors.items())


def golden_of(name):
    """What torchvision makes of our weights, in double precision."""
    x = images()
    weights = part(ours(name, x, labels_for(x)), "model.")
    lines = described(torchvision.models.get_model(name, weights=None, num_classes=CLASSES).state_dict())
    model = theirs(name, weights).double()
    with torch.no_grad():
        logits = model.eval()(x.double())
    loss = train_once(model, x.double(), labels_for(x))[1]

    def norms(tensors):
        found = {}
        for stage, prefixes in stages(name):
            of_stage = [t.double().square().sum() for key, t in tensors if key.startswith(prefixes)]
            if of_stage:
                found[stage] = torch.stack(of_stage).sum().sqrt().item()
        return found

    return {"tensors": len(lines), "crc32": zlib.crc32("\n".join(lines).encode()),
            "logits": logits.flatten().tolist(), "loss": loss.item(),
            "gradient_norms": norms([(key, p.grad) for key, p in model.named_parameters()]),
            "statistic_norms": norms(list(model.named_buffers()))}


def write_golden():
    content = {"torchvision": torchvision.__version__.partition("+")[0],
               "networks": {name: golden_of(name) for name in NETWORKS}}
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


class Case(unittest.TestCase):
    def check(self, what, found, expected, limit=1e-5):
        share = difference(found, expected)
        self.assertTrue(share <= limit, f"{what}: {share:.3g} > {limit:.3g}")
        return share


class Names(Case):
    def test_tensors_have_torchvisions_names_types_and_shapes(self):
        x = images(2, 32, 32)
        for name in NETWORKS:
            for classes in (10, 1000):
                model = part(ours(name, x, labels_for(x), classes=classes), "model.")
                expected = torchvision.models.get_model(name, weights=None, num_classes=classes).state_dict()
                self.assertEqual(described(model), described(expected), name)


class Logits(Case):
    def test_of_random_weights(self):
        for height, width in ((32, 32), (64, 96), (97, 65)):
            x = images(3, height, width)
            for name in NETWORKS:
                found = ours(name, x, labels_for(x))
                model = theirs(name, part(found, "model.")).eval()
                with torch.no_grad():
                    share = self.check(name, found["logits"], model(x))
                print(f"{name} {height}x{width}: {share:.2g}")

    def test_of_moved_statistics(self):
        """After a pass of training the running statistics are no longer 0 and 1. Here rounding grows: the two orders of
        memory of torchvision's own ResNet-101 are 1.6e-5 apart. So both use the same one."""
        x = images()
        for name in NETWORKS:
            first = ours(name, x, labels_for(x))
            weights = {**part(first, "model."), **part(first, "after.")}
            found = ours(name, x.flip(0), labels_for(x), weights=weights)
            model = theirs(name, weights).eval().to(memory_format=torch.channels_last)
            with torch.no_grad():
                expected = model(x.flip(0).contiguous(memory_format=torch.channels_last))
            self.check(name, found["logits"], expected)


class Training(Case):
    """In the same order of memory both call the same kernels."""

    def compare(self, name, frozen_stages):
        x = images()
        found = ours(name, x, labels_for(x), frozen=frozen_stages)
        model = theirs(name, part(found, "model.")).to(memory_format=torch.channels_last)
        frozen = tuple(prefix for _, prefixes in stages(name)[:frozen_stages] for prefix in prefixes)
        logits, loss = train_once(model, x.contiguous(memory_format=torch.channels_last), labels_for(x), frozen)
        self.check(f"{name}, logits", found["training_logits"], logits)
        self.check(f"{name}, loss", found["loss"], loss)
        gradients = part(found, "gradient.")
        expected = {key: p.grad for key, p in model.named_parameters() if p.grad is not None}
        self.assertEqual(sorted(gradients), sorted(expected), name)
        worst = max(self.check(f"{name} {key}", gradients[key], value, 1e-4) for key, value in expected.items())
        for key, value in model.named_buffers():
            self.check(f"{name} {key}", found[f"after.{key}"], value)
        for key, value in part(found, "after.").items():
            if frozen and key.startswith(frozen):
                self.assertTrue(torch.equal(value, found[f"model.{key}"]), f"{name} {key}")
        print(f"{name}, {frozen_stages} frozen: {len(expected)} gradients, largest difference {worst:.2g}")

    def test_gradients_and_statistics(self):
        for name in NETWORKS:
            self.compare(name, 0)

    def test_gradients_and_statistics_behind_frozen_stages(self):
        for name in NETWORKS:
            for frozen in (1, 3, len(stages(name)) - 1):
                self.compare(name, frozen)


def photographs(count):
    transform = torchvision.transforms.Compose([
        torchvision.transforms.Resize(256), torchvision.transforms.CenterCrop(224), torchvision.transforms.ToTensor(),
        torchvision.transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    paths = sorted((DATA / "photos").glob("*.JPEG"))[:count]
    return torch.stack([transform(Image.open(path).convert("RGB")) for path in paths])


@unittest.skipUnless((DATA / "weights").is_dir() and (DATA / "photos").is_dir(), f"needs weights and photos in {DATA}")
class RealWeights(Case):
    def compare(self, name, weights):
        x = photographs(16)
        found = ours(name, x, torch.arange(16), weights=weights, classes=1000)
        model = theirs(name, weights, classes=1000).eval()
        with torch.no_grad():
            expected = model(x)
        share = self.check(name, found["logits"], expected)
        self.assertTrue(torch.equal(found["logits"].argmax(1), expected.argmax(1)))
        print(f"{name}: {share:.2g}")

    def test_resnet18_reconstructed(self):
        self.compare("resnet18", read_tensors(DATA / "weights" / "resnet18_imagenet1k_v1_reconstructed.safetensors"))

    def test_mobilenet_v2(self):
        path = DATA / "weights" / "mobilenet_v2-b0353104.pth"
        self.compare("mobilenet_v2", torch.load(path, map_location="cpu", weights_only=True))


class Golden(Case):
    def test_is_what_torchvision_computes_now(self):
        noted = json.loads(GOLDEN.read_text(encoding="utf-8"))["networks"]
        for name in NETWORKS:
            now = golden_of(name)
            self.assertEqual((noted[name]["tensors"], noted[name]["crc32"]), (now["tensors"], now["crc32"]))
            for key in ("logits", "loss"):
                self.check(f"{name} {key}", torch.tensor(noted[name][key]), torch.tensor(now[key]), 1e-8)
            for key in ("gradient_norms", "statistic_norms"):
                self.assertEqual(list(noted[name][key]), list(now[key]))
                self.check(f"{name} {key}", torch.tensor(list(noted[name][key].values())),
                           torch.tensor(list(now[key].values())), 1e-6)


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write_golden()
    else:
        unittest.main(verbosity=2)
