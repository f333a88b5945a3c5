#!/usr/bin/env python3
"""Our operations beside Pillow's on photographs and noise: equal in every byte where Pillow defines them.

Run by ctest with the path of the test program as AUGMENT_CAT. Needs `pip install pillow==13.0.0 numpy`;
without them it says so and ends with 77, ctest's "skipped" here. Photographs come from
$STOKER_TEST_DATA/photos; where there are none, images made by arithmetic take their place.
"""

import os
import pathlib
import subprocess
import sys
import unittest

try:
    import numpy as np
    from PIL import Image, ImageEnhance, ImageOps
except ImportError as error:
    print(f"skipped: {error}; pip install pillow==13.0.0 numpy")
    sys.exit(77)

CAT = os.environ["AUGMENT_CAT"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
PHOTOS = pathlib.Path(os.environ.get("STOKER_TEST_DATA", SOURCE.parent / "shared" / "data"), "photos")
FACTORS = (0, 0.1, 0.27, 0.73, 1, 1.3, 1.9, 3.5)


def made_images():
    random = np.random.default_rng(11)
    noise = random.integers(0, 256, (67, 91, 3), dtype=np.uint8)
    y, x = np.mgrid[0:120, 0:160]
    waves = np.stack([128 + 90 * np.sin(x / 17 + k) * np.cos(y / 11 - k) for k in range(3)], axis=-1)
    tiny = random.integers(0, 256, (2, 3, 3), dtype=np.uint8)
    flat = np.full((20, 30, 3), 77, dtype=np.uint8)
    return [Image.fromarray(pixels.astype(np.uint8)) for pixels in (noise, waves, tiny, flat)]


def photographs(count=6):
    paths = sorted(PHOTOS.glob("*.JPEG"))
    return [Image.open(path).convert("RGB") for path in paths[:: max(1, len(paths) // count)][:count]]


RGB = made_images() + photographs()
GREY = [image.convert("L") for image in RGB]


def ours(image, *words, seed=0):
    channels = 1 if image.mode == "L" else 3
    done = subprocess.run([CAT, str(image.height), str(image.width), str(channels), str(seed), *map(str, words)],
                          input=image.tobytes(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return Image.frombytes(image.mode, image.size, done.stdout)


class Equal(unittest.TestCase):
    """Every byte."""

    def compare(self, policy, theirs, images=None):
        for number, image in enumerate(images or RGB + GREY):
            expected = np.asarray(theirs(image)).astype(int)
            found = np.asarray(ours(image, policy)).astype(int)
            self.assertEqual(np.abs(found - expected).max(), 0, f"{policy} on image {number} ({image.mode})")

    def test_flips(self):
        self.compare("hflip(1)", lambda i: i.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
        self.compare("vflip(1)", lambda i: i.transpose(Image.Transpose.FLIP_TOP_BOTTOM))

    def test_enhancers(self):
        for name, enhancer in (("brightness", ImageEnhance.Brightness), ("contrast", ImageEnhance.Contrast),
                               ("saturation", ImageEnhance.Color), ("sharpness", ImageEnhance.Sharpness)):
            for factor in FACTORS:
                self.compare(f"{name}({factor},{factor})", lambda i, e=enhancer, f=factor: e(i).enhance(f))

    def test_point_operations(self):
        for threshold in (0, 1, 127.5, 128, 255, 256):
            self.compare(f"solarize({threshold})", lambda i, t=threshold: ImageOps.solarize(i, t))
        for bits in range(1, 9):
            self.compare(f"posterize({bits})", lambda i, b=bits: ImageOps.posterize(i, b))
        self.compare("invert", ImageOps.invert)

    def test_histogram_operations(self):
        self.compare("autocontrast", ImageOps.autocontrast)
        self.compare("equalize", ImageOps.equalize)

    def test_greyscale(self):
        self.compare("greyscale(1)", lambda i: i.convert("L").convert(i.mode))

    def test_hue_as_torchvision_uses_pillow(self):
        def adjusted(image, shift):
            if image.mode == "L":
                return image
            h, s, v = image.convert("HSV").split()
            turned = np.asarray(h) + np.int32(shift * 255).astype(np.uint8)
            return Image.merge("HSV", (Image.fromarray(turned), s, v)).convert("RGB")

        for shift in (-0.5, -0.31, -0.1, 0, 0.004, 0.2, 0.5):
            self.compare(f"hue({shift},{shift})", lambda i, s=shift: adjusted(i, s))

    def test_hue_of_all_colours(self):
        # Every red and green with 64 blues: all ranges, all ties.
        values = np.arange(256, dtype=np.uint8)
        for start in range(4):
            red, green, blue = np.meshgrid(values, values, values[start::4], indexing="ij")
            pixels = np.stack([red, green, blue], axis=-1).reshape(2048, -1, 3)
            image = Image.fromarray(np.ascontiguousarray(pixels))
            shift = (0, 0.13, -0.27, 0.5)[start]
            h, s, v = image.convert("HSV").split()
            turned = Image.fromarray(np.asarray(h) + np.int32(shift * 255).astype(np.uint8))
            expected = Image.merge("HSV", (turned, s, v)).convert("RGB")
            self.assertEqual(ours(image, f"hue({shift},{shift})").tobytes(), expected.tobytes())

    def test_translations(self):
        for share in (-0.5, -0.13, 0, 0.2, 1):
            for name, side, place in (("translate_x", 0, 2), ("translate_y", 1, 5)):
                def moved(image, share=share, side=side, place=place):
                    matrix = [1, 0, 0, 0, 1, 0]
                    matrix[place] = -int(share * image.size[side])
                    return image.transform(image.size, Image.Transform.AFFINE, matrix, Image.Resampling.NEAREST)
                self.compare(f"{name}({share},{share})", moved)


class Close(unittest.TestCase):
    """Interpolation: Pillow works in floats and drops the fraction, we round to the nearest of 8-bit weights; at
    the border Pillow repeats the outermost pixel for half a pixel where ours fades to black. So: at most 2 levels in
    the inner part (1 is what photographs show) and 1 on average."""

    def compare(self, words, theirs, images=None):
        for number, image in enumerate(images or RGB[1:2] + photographs(3) + GREY[4:6]):
            if min(image.size) < 20:
                continue
            expected, found = np.asarray(theirs(image)).astype(int), np.asarray(ours(image, *words)).astype(int)
            inner = self.inner(image, theirs)
            self.assertGreater(inner.mean(), 0.2, "too little left to compare")
            differences = np.abs(found - expected)[inner]
            self.assertLessEqual(differences.max(), 2, f"{words} on image {number} ({image.mode})")
            self.assertLessEqual(differences.mean(), 1, f"{words} on image {number} ({image.mode})")

    @staticmethod
    def inner(image, theirs):
        """Where a white image with a black frame of two pixels stays white."""
        frame = Image.new("L", image.size, 0)
        frame.paste(255, (2, 2, image.width - 2, image.height - 2))
        return np.asarray(theirs(frame)) == 255

    @staticmethod
    def affine(image, matrix):
        return image.transform(image.size, Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)

    def test_shears(self):
        for amount in (-0.3, 0.05, 0.3):
            self.compare([f"shear_x({amount},{amount})"], lambda i, a=amount: self.affine(i, (1, a, 0, 0, 1, 0)))
            self.compare([f"shear_y({amount},{amount})"], lambda i, a=amount: self.affine(i, (1, 0, 0, a, 1, 0)))

    def test_rotation(self):
        for degrees in (-30, 9, 135):
            self.compare([f"rotate({degrees},{degrees})"],
                         lambda i, d=degrees: i.rotate(d, Image.Resampling.BILINEAR))

    def test_perspective(self):
        for moves in ((0.1, 0.05, -0.1, 0.2, -0.2, -0.1, 0.05, -0.1), (0.2, 0.2, 0, 0, 0, 0, 0, 0)):
            for image in photographs(2) + RGB[1:2]:
                w, h = image.width - 1, image.height - 1
                start = [(0, 0), (w, 0), (w, h), (0, h)]
                end = [(x + round(dx * w), y + round(dy * h))
                       for (x, y), dx, dy in zip(start, moves[::2], moves[1::2], strict=True)]
                rows, constants = [], []
                for (x, y), (u, v) in zip(end, start, strict=True):
                    rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
                    constants += [u, v]
                coefficients = np.linalg.solve(np.array(rows, float), np.array(constants, float))
                self.compare([value for place in end for value in place],
                             lambda i, c=coefficients: i.transform(i.size, Image.Transform.PERSPECTIVE, tuple(c),
                                                                   Image.Resampling.BILINEAR), [image])

    def test_blur_is_the_gaussian_within_one_level(self):
        def blurred(image, size, sigma):
            x = np.arange(size) - size // 2
            kernel = np.exp(-0.5 * (x / sigma) ** 2)
            kernel /= kernel.sum()
            pixels = np.asarray(image).astype(float)
            for axis in (0, 1):
                pad = [(0, 0)] * pixels.ndim
                pad[axis] = (size // 2, size // 2)
                padded = np.pad(pixels, pad, mode="reflect")
                pixels = sum(weight * np.take(padded, range(k, k + pixels.shape[axis]), axis)
                             for k, weight in enumerate(kernel))
            return pixels

        for size, sigma in ((3, 0.5), (9, 2), (23, 0.1), (23, 2), (51, 9)):
            for image in RGB[:2] + photographs(2) + GREY[:1]:
                found = np.asarray(ours(image, f"blur({size},{sigma},{sigma})")).astype(float)
                difference = np.abs(found - blurred(image, size, sigma))
                self.assertLessEqual(difference.max(), 0.8, (size, sigma))
                self.assertLessEqual(difference.mean(), 0.3, (size, sigma))


if __name__ == "__main__":
    unittest.main(verbosity=2)
