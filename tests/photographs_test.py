#!/usr/bin/env python3
"""Published weights give the same answers on real photographs as Python torchvision with its own preprocessing.

Run by ctest with the path of the program as STOKER; needs photos and weights of $STOKER_TEST_DATA. torch's wheel in .venv
cannot be imported, so `photographs_test.py write`, in a Python with torchvision (bench/requirements.txt), notes its answers
in golden/photographs.json, and the class Golden, which always runs, holds ours against them. The class Torchvision computes
them anew; it runs where CMake was given such a Python (-DSTOKER_TORCHVISION_PYTHON).
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = SOURCE / "tests" / "golden" / "photographs.json"
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or SOURCE.parent / "shared" / "data")
PHOTOS, WEIGHTS = DATA / "photos", DATA / "weights"
# Network, file of weights, what the shorter side becomes. 232 is what torchvision's second edition of weights asks for.
SETTINGS = {"mobilenet_v2": ("mobilenet_v2", "mobilenet_v2-b0353104.pth", 256),
            "mobilenet_v2 at 232": ("mobilenet_v2", "mobilenet_v2-b0353104.pth", 232),
            "resnet18, reconstructed": ("resnet18", "resnet18_imagenet1k_v1_reconstructed.safetensors", 256)}
CROP, BEST = 224, 5

if not (PHOTOS.is_dir() and WEIGHTS.is_dir()):
    print(f"skipped: needs {PHOTOS} and {WEIGHTS}")
    sys.exit(77)


def ours(network, weights, shorter):
    """The five most probable classes of each photograph, as `stoker predict` says."""
    words = [os.environ["STOKER"], "predict", PHOTOS, "--weights", WEIGHTS / weights, "--model", network, "--val-aa",
             f"resize_crop({shorter},{CROP})", "--topk", BEST, "--format", "jsonl"]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    answers = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        shares = sorted(row["probabilities"].items(), key=lambda entry: -entry[1])
        assert shares[0][0] == row["class"], row
        answers[pathlib.Path(row["sample"]).name] = [[int(name), share] for name, share in shares]
    return answers


def theirs(network, weights, shorter):
    """The same from torchvision: Pillow decodes, resizes and crops."""
    import torch
    import torchvision
    from PIL import Image
    from safetensors.torch import load_file
    from torchvision import transforms
    torch.set_num_threads(1)
    path = WEIGHTS / weights
    model = torchvision.models.get_model(network, weights=None).eval()
    model.load_state_dict(load_file(path) if path.suffix == ".safetensors" else torch.load(path, weights_only=True))
    prepare = transforms.Compose([
        transforms.Resize(shorter), transforms.CenterCrop(CROP), transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    answers = {}
    with torch.inference_mode():
        for photo in sorted(PHOTOS.glob("*.JPEG")):
            shares = model(prepare(Image.open(photo).convert("RGB"))[None]).softmax(1)[0]
            best = shares.topk(BEST)
            answers[photo.name] = [[index, round(share, 7)]
                                   for index, share in zip(best.indices.tolist(), best.values.tolist())]
    return answers


def write_golden():
    import PIL
    import torchvision
    lines = []
    for name, setting in SETTINGS.items():
        rows = ",\n".join(f"  {json.dumps(photo)}: {json.dumps(best)}" for photo, best in theirs(*setting).items())
        lines.append(f" {json.dumps(name)}: {{\n{rows}\n }}")
    made_by = {"torchvision": torchvision.__version__.partition("+")[0], "pillow": PIL.__version__}
    settings = ",\n".join(lines)
    GOLDEN.write_text(f'{{"made by": {json.dumps(made_by)},\n"settings": {{\n{settings}\n}}}}\n', encoding="utf-8")


class Case(unittest.TestCase):
    def compare(self, name, found, expected):
        """The same first answer for every photograph, and probabilities that differ by rounding alone."""
        self.assertEqual(sorted(found), sorted(expected))
        self.assertGreaterEqual(len(found), 250)
        other = [photo for photo in expected if found[photo][0][0] != expected[photo][0][0]]
        apart = max(abs(found[photo][0][1] - expected[photo][0][1]) for photo in expected)
        print(f"{name}: {len(expected) - len(other)} of {len(expected)} the same, probabilities {apart:.2g} apart")
        self.assertEqual(other, [])
        self.assertTrue(apart <= 1e-4, f"{apart:.2g}")


class Golden(Case):
    def test_same_answers_as_torchvision_gave(self):
        noted = json.loads(GOLDEN.read_text(encoding="utf-8"))["settings"]
        self.assertEqual(list(noted), list(SETTINGS))
        for name, setting in SETTINGS.items():
            with self.subTest(name):
                self.compare(name, ours(*setting), noted[name])


class Torchvision(Case):
    def test_same_answers_as_torchvision_gives_now(self):
        noted = json.loads(GOLDEN.read_text(encoding="utf-8"))["settings"]
        for name, setting in SETTINGS.items():
            with self.subTest(name):
                now = theirs(*setting)
                self.compare(f"{name}, now", ours(*setting), now)
                self.compare(f"{name}, as noted", noted[name], now)


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write_golden()
    else:
        unittest.main(verbosity=2)
