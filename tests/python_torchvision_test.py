#!/usr/bin/env python3
"""stoker.transforms beside torchvision's transforms of the same names: what has no choice left must give the same pixels.

Run with the program as STOKER, in .venv-networks (scripts/setup), which this starts; without it the test is skipped.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import helpers

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-networks/bin/python"
STOKER = os.environ.get("STOKER", str(ROOT / "build/release/stoker"))
SIDE = 96
SKIPPED = 77

if __name__ == "__main__" and "STOKER_IN_NETWORKS" not in os.environ:
    if not PYTHON.exists():
        print(f"skipped: no {PYTHON}; scripts/setup makes it")
        sys.exit(SKIPPED)
    os.execve(PYTHON, [str(PYTHON), *sys.argv], os.environ | {"STOKER_IN_NETWORKS": "1"})

import numpy as np  # noqa: E402
import torch  # noqa: E402
from PIL import Image  # noqa: E402
from torchvision.transforms import InterpolationMode, v2  # noqa: E402

helpers.bare_python_package()

import stoker.transforms as T  # noqa: E402

BILINEAR = {"interpolation": InterpolationMode.BILINEAR}
# Name, arguments of both, more arguments of torchvision, largest difference of a value, largest mean difference.
SAME = [
    ("RandomHorizontalFlip", {"p": 1}, {}, 0, 0), ("RandomVerticalFlip", {"p": 1}, {}, 0, 0),
    ("ColorJitter", {"brightness": (1.5, 1.5)}, {}, 1, 1), ("ColorJitter", {"contrast": (0.4, 0.4)}, {}, 1, 1),
    ("ColorJitter", {"saturation": (1.8, 1.8)}, {}, 1, 1), ("ColorJitter", {"hue": (0.2, 0.2)}, {}, 16, 1),
    ("GaussianBlur", {"kernel_size": 5, "sigma": (1.0, 1.0)}, {}, 1, 0.1), ("RandomSolarize", {"threshold": 128, "p": 1}, {}, 0, 0),
    ("RandomPosterize", {"bits": 3, "p": 1}, {}, 0, 0), ("RandomAutocontrast", {"p": 1}, {}, 1, 0.1), ("RandomEqualize", {"p": 1}, {}, 1, 0.1),
    ("RandomInvert", {"p": 1}, {}, 0, 0), ("RandomAdjustSharpness", {"sharpness_factor": 2, "p": 1}, {}, 1, 0.1),
    ("Grayscale", {"num_output_channels": 3}, {}, 1, 1), ("Resize", {"size": (40, 50)}, {}, 1, 0.1),
    ("Resize", {"size": (40, 50), "interpolation": InterpolationMode.BICUBIC}, {}, 1, 0.1),
    # Edges differ: torchvision's border is half a pixel further out.
    ("RandomRotation", {"degrees": (30, 30)}, BILINEAR, 255, 1.5), ("RandomAffine", {"degrees": (20, 20), "scale": (1.3, 1.3)}, BILINEAR, 255, 1.5),
    ("RandomAffine", {"degrees": 0, "scale": (0.7, 0.7)}, BILINEAR, 255, 1.5),
]


def image_of(number):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    waves = [128 + 90 * np.sin((x + 3 * number) / 17 + k) * np.cos(y / 11 - k) + 30 * (x > 3 * y) for k in range(3)]
    return np.clip(np.stack(waves, axis=-1), 0, 255).astype(np.uint8)


class Pixels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "images/a").mkdir(parents=True)
        cls.images = [image_of(number) for number in range(4)]
        for number, image in enumerate(cls.images):
            Image.fromarray(image).save(cls.folder / f"images/a/{number}.png")

    def ours(self, policy):
        file = self.folder / "batch.npy"
        policy = policy if policy.startswith("resize") else f"resize({SIDE},{SIDE}),{policy}"
        subprocess.run([STOKER, "bench", "feed", str(self.folder / "images"), "--aa", policy, "--no-shuffle", "--dtype", "uint8", "-b", "4",
                        "-j", "1", "--no-digest", "--save-batch", str(file)], check=True, capture_output=True, timeout=60)
        pixels = np.load(file).astype(int)
        file.unlink()
        return pixels if pixels.shape[-1] == 3 else pixels.transpose(0, 2, 3, 1)

    def theirs(self, change):
        done = [change(torch.from_numpy(image).permute(2, 0, 1)) for image in self.images]
        return torch.stack(done).permute(0, 2, 3, 1).numpy().astype(int)

    def compare(self, name, ours, theirs, most, mean):
        self.assertEqual(theirs.shape, ours.shape, name)
        difference = np.abs(ours - theirs)
        self.assertLessEqual(difference.max(), most, name)
        self.assertLessEqual(difference.mean(), mean, name)

    def test_same_names_give_the_same_pixels(self):
        for name, arguments, more, most, mean in SAME:
            transform = getattr(T, name)(**arguments)
            self.compare(repr(transform), self.ours(str(transform)), self.theirs(getattr(v2, name)(**arguments, **more)), most, mean)

    def test_resize_and_center_crop(self):
        ours = self.ours(str(T.Compose([T.Resize(80), T.CenterCrop(64)])))
        self.compare("crop", ours, self.theirs(v2.Compose([v2.Resize(80), v2.CenterCrop(64)])), 1, 0.1)

    def test_the_order_of_an_affine_map(self):
        text = T.RandomAffine((20, 20), translate=(0.2, 0.1), scale=(1.3, 1.3)).to_policy()
        fixed = text.replace("translate_x(-0.2,0.2)", "translate_x(0.1,0.1)").replace("translate_y(-0.1,0.1)", "translate_y(-0.06,-0.06)")
        self.assertNotEqual(text, fixed)
        moved = [int(0.1 * SIDE), int(-0.06 * SIDE)]
        self.compare(fixed, self.ours(fixed), self.theirs(lambda image: v2.functional.affine(
            image, angle=20, translate=moved, scale=1.3, shear=[0, 0], interpolation=InterpolationMode.BILINEAR)), 255, 1.5)

    def test_a_difference_is_seen(self):
        with self.assertRaises(AssertionError):
            self.compare("another angle", self.ours("rotate(-20,-20)"), self.theirs(v2.RandomRotation((20, 20), **BILINEAR)), 255, 1.5)


if __name__ == "__main__":
    unittest.main()
