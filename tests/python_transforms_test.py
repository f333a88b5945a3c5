#!/usr/bin/env python3
"""stoker.transforms: the program takes every text, and what cannot be expressed is refused in words.

    python_transforms_test.py       with the program as STOKER
"""

import doctest
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import helpers

helpers.bare_python_package()

import stoker._pixel_transforms  # noqa: E402
import stoker._policy_text  # noqa: E402
import stoker._transform  # noqa: E402
import stoker.transforms as T  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
STOKER = os.environ.get("STOKER", str(ROOT / "build/release/stoker"))

# At least one of every class, with what users of torchvision write.
ACCEPTED = [
    T.Resize((32, 40)), T.Resize([16, 16], interpolation="lanczos"), T.Compose([T.Resize(40), T.CenterCrop(32)]),
    T.Compose([T.Resize(40, interpolation="bicubic"), T.CenterCrop((32, 32))]),
    T.RandomResizedCrop(32), T.RandomResizedCrop((24, 24), scale=(0.3, 0.9), ratio=(1, 1)),
    T.RandomHorizontalFlip(), T.RandomVerticalFlip(1), T.RandomRotation(15), T.RandomRotation((-5, 30)),
    T.RandomAffine(0), T.RandomAffine((-3, 3), translate=(0.1, 0), scale=(0.5, 2)), T.RandomPerspective(), T.RandomPerspective(0.1, 1),
    T.ColorJitter(), T.ColorJitter(0.4, 0.3, 0.2, 0.1), T.ColorJitter(hue=(-0.1, 0.3)), T.ColorJitter((0.6, 1.4), (0.7, 1.3)),
    T.RandomGrayscale(), T.Grayscale(3), T.RandomSolarize(128), T.RandomPosterize(3, 1), T.RandomAutocontrast(), T.RandomEqualize(),
    T.RandomInvert(), T.RandomAdjustSharpness(0.5), T.GaussianBlur(5), T.GaussianBlur([3, 3], 0.7), T.RandomErasing(),
    T.RandomErasing(0.1, (0.01, 0.1), (0.5, 2), 116), T.RandomErasing(value="random"), T.RandAugment(), T.RandAugment(3, 12, magnitude_std=0.5),
    T.TrivialAugmentWide(), T.AugMix(), T.AugMix(2, 4, 3, 0.5), T.RandomApply([T.GaussianBlur(3)], 0.2), T.Identity(),
    T.RandomApply([T.ColorJitter(0.4)], 0.8), T.Operation("noise", 0.1), T.Operation("shift", 2), T.Operation("skew", -0.15, 0.15),
    T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.RandAugment(), T.RandomErasing(0.25)]), T.Compose([]),
]
# What is written, and a part of the message.
REFUSED = [
    (lambda: T.Resize(256).to_policy(), "CenterCrop"), (lambda: T.CenterCrop(224).to_policy(), "Resize"),
    (lambda: T.Resize(256, max_size=300), "same size"), (lambda: T.Resize((8, 8), antialias=False), "antialias"),
    (lambda: T.Compose([T.Resize(200), T.CenterCrop(224)]), "at most 200"), (lambda: T.Compose([T.Resize((9, 9)), T.CenterCrop(3)]), "Resize"),
    (lambda: T.RandomResizedCrop((224, 192)), "square"), (lambda: T.RandomResizedCrop(224, interpolation="bicubic"), "bilinear"),
    (lambda: T.RandomResizedCrop(5000), "1 to 4096"), (lambda: T.RandomResizedCrop(224, scale=(0.5, 0.2)), "area_low <= area_high"),
    (lambda: T.RandomHorizontalFlip(1.5), "0 to 1"), (lambda: T.RandomHorizontalFlip(float("nan")), "0 to 1"),
    (lambda: T.RandomRotation(15, expand=True), "expand=False"), (lambda: T.RandomRotation(15, fill=127), "fill=0"),
    (lambda: T.RandomRotation(15, interpolation="nearest"), "bilinear"), (lambda: T.RandomRotation(-3), "0 or more"),
    (lambda: T.RandomAffine(0, shear=10), "shear_x"), (lambda: T.RandomAffine(0, center=(1, 2)), "center=None"),
    (lambda: T.ColorJitter(brightness=(0.5, 2), contrast=0.1), "symmetric"), (lambda: T.Grayscale(1), "channels"),
    (lambda: T.GaussianBlur(4), "odd"), (lambda: T.RandomErasing(value=[1, 2, 3]), "one byte"), (lambda: T.RandomPosterize(2.5), "whole"),
    (lambda: T.RandAugment(num_magnitude_bins=10), "31"), (lambda: T.AugMix(all_ops=False), "all_ops=True"),
    (lambda: T.RandomApply([T.RandomErasing(1)], 0.5), "no probability"), (lambda: T.Normalize([0.5], [0]), "above 0"),
    (lambda: T.Compose([T.RandomHorizontalFlip(), T.RandomResizedCrop(8)]), "comes first"),
    (lambda: T.Compose([T.Normalize([0.5], [0.5]), T.RandomInvert()]), "last step"), (lambda: T.Compose(["hflip(0.5)"]), "hflip"),
    (lambda: T.Compose([T.Normalize([0.5], [0.5])]).to_policy(), "feed_arguments"), (lambda: T.Operation("rotat", 3), "'rotate'"),
    (lambda: T.Operation("noise"), "too few"), (lambda: T.Operation("noise", 0.1, 2), "too many"),
]


class Texts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("a/1.png", "b/2.png"):
            helpers.png(self.folder / name, 48, 40, lambda x, y: (3 * x + 5 * y) % 256)

    def feed(self, policy):
        return subprocess.run([STOKER, "bench", "feed", str(self.folder), "--aa", policy, "--no-digest", "-j", "1", "-b", "2"],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_the_program_takes_the_text_of_every_class(self):
        self.assertEqual(set(), set(T.__all__) - {"Transform", "Normalize", "CenterCrop"} - {type(t).__name__ for t in ACCEPTED})
        for transform in ACCEPTED:
            text = transform.to_policy()
            sized = text.split("(")[0] in T.FRAMINGS
            done = self.feed(text if sized else ",".join(filter(None, ["resize(32,32)", text])))
            self.assertEqual(0, done.returncode, f"{transform!r}: {done.stderr}")

    def test_the_program_refuses_what_the_ranges_refuse(self):
        for name, parameters in stoker._policy_text.OPERATIONS.items():
            if not parameters:
                continue
            least = [p.minimum for p in parameters]
            for wrong in (parameters[0].minimum - 1, parameters[0].maximum + 1):
                arguments = [wrong, *least[1:]]
                with self.assertRaises(ValueError):
                    T.Operation(name, *arguments)
                if name not in T.FRAMINGS:
                    self.assertNotEqual(0, self.feed(f"resize(32,32),{name}({','.join(map(str, arguments))})").returncode, name)

    def test_what_cannot_be_expressed_is_refused(self):
        for make, part in REFUSED:
            with self.assertRaises(ValueError) as caught:
                make()
            self.assertIn(part, str(caught.exception))
            self.assertRegex(str(caught.exception), r"Expected .+, got .+\.")

    def test_names_without_an_operation_name_another(self):
        for name, instead in T.MISSING.items():
            with self.assertRaisesRegex(AttributeError, "Use"):
                getattr(T, name)
            self.assertTrue(instead)
        with self.assertRaisesRegex(AttributeError, "no attribute 'Nothing'"):
            T.Nothing

    def test_normalize_goes_to_the_feed_and_never_into_a_policy(self):
        both = T.Compose([T.Compose([T.Resize((8, 8))]), T.Normalize([0.1, 0.2, 0.3], [1, 2, 3])])
        self.assertEqual({"augment": "resize(8,8)", "mean": (0.1, 0.2, 0.3), "std": (1.0, 2.0, 3.0)}, both.feed_arguments())
        self.assertNotEqual(0, self.feed(str(both)).returncode)

    def test_equal_texts_are_equal(self):
        self.assertEqual(T.RandomRotation(15), T.Operation("rotate", -15, 15))
        self.assertEqual(1, len({T.RandomRotation(15), T.Operation("rotate", 15)}))
        self.assertNotEqual(T.Normalize([0.5], [0.5]), T.Identity())

    def test_examples_of_the_docstrings(self):
        for module in (T, stoker._transform, stoker._pixel_transforms):
            result = doctest.testmod(module)
            self.assertGreater(result.attempted, 0)
            self.assertEqual(0, result.failed)

    def test_tables_of_the_program_are_up_to_date(self):
        done = subprocess.run([sys.executable, str(ROOT / "scripts/python_options"), "--check", "--program", STOKER], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stdout))


if __name__ == "__main__":
    unittest.main()
