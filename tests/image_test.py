#!/usr/bin/env python3
"""Our decoders beside Pillow: the same pixels, the same verdicts where both should agree.

Run by ctest with the path of the test program as IMAGE_CAT and a case as argument. Needs `pip install
pillow==13.0.0 numpy` and real data (STOKER_TEST_DATA); without them it says so and ends with 77, ctest's
"skipped" here.
"""

import collections
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    from PIL import Image, ImageOps, features
except ImportError as error:
    print(f"skipped: {error}; pip install pillow==13.0.0 numpy")
    sys.exit(77)

DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or pathlib.Path(__file__).parents[2] / "shared/data")
WHITE = (255, 255, 255)
ORIENTATION = 0x0112


class ImageCat:
    """One process for many files: it decodes as a worker does, with one decoder."""

    def __init__(self):
        self.process = subprocess.Popen([os.environ["IMAGE_CAT"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, path, **options):
        """What it says of the file, and the pixels; None where it refuses."""
        words = [f"{name}={','.join(map(str, np.atleast_1d(value)))}" for name, value in options.items()]
        self.process.stdin.write(" ".join([str(path), *words]).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            return answer, None
        kind = np.dtype(np.uint8 if answer["depth"] == 8 else np.uint16)
        pixels = self.process.stdout.read(int(np.prod(answer["shape"])) * kind.itemsize)
        return answer, np.frombuffer(pixels, kind).reshape(answer["shape"])

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=10)


def real_photos():
    found = sorted(path for name in ("photos", "flowers12", "plates") for path in (DATA / name).rglob("*")
                   if path.suffix.lower() in {".jpeg", ".jpg", ".png", ".webp"})
    if not found:
        raise unittest.SkipTest(f"no photographs in {DATA}; set STOKER_TEST_DATA")
    return found


def flattened(image, background=WHITE):
    """Upright, with transparency laid over the background, as RGB."""
    image = ImageOps.exif_transpose(image)
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        flat = Image.new("RGB", image.size, background)
        flat.paste(rgba, mask=rgba.getchannel("A"))
        return flat
    return image.convert("RGB")


def random_region(rng, shape):
    width, height = rng.randint(1, shape[1]), rng.randint(1, shape[0])
    return rng.randint(0, shape[1] - width), rng.randint(0, shape[0] - height), width, height


def part(pixels, region):
    left, top, width, height = region
    return pixels[top:top + height, left:left + width]


def jpeg_variants(photo):
    """The ways in which a JPEG encoder stores an image: (mode, save's arguments)."""
    for mode in ("RGB", "L", "CMYK"):
        for progressive in (False, True):
            for subsampling in (0, 1, 2) if mode == "RGB" else (0,):
                yield photo.convert(mode), {"format": "JPEG", "progressive": progressive, "subsampling": subsampling,
                                            "quality": 60 + 10 * subsampling}
    yield photo, {"format": "JPEG", "restart_marker_blocks": 7}
    yield photo, {"format": "JPEG", "streamtype": 0, "optimize": True, "quality": 98}


def png_variants(photo):
    alpha = photo.convert("L").point(lambda v: 255 - v)
    rgba = photo.copy()
    rgba.putalpha(alpha)
    grey_alpha = photo.convert("L")
    grey_alpha.putalpha(alpha)
    palette = photo.quantize(200)
    for image in (photo, photo.convert("L"), photo.convert("1"), rgba, grey_alpha, palette, photo.quantize(13)):
        yield image, {"format": "PNG", "compress_level": 1}
    yield palette, {"format": "PNG", "transparency": bytes(range(0, 200))}
    yield photo, {"format": "PNG", "transparency": photo.getpixel((5, 5))}


def webp_variants(photo):
    rgba = photo.copy()
    rgba.putalpha(photo.convert("L"))
    for image in (photo, rgba):
        yield image, {"format": "WEBP", "quality": 80, "method": 0}
        yield image, {"format": "WEBP", "lossless": True, "method": 0}
    yield photo, {"format": "WEBP", "save_all": True, "method": 0, "append_images": [ImageOps.invert(photo)]}


def tiff_variants(photo):
    rgba = photo.copy()
    rgba.putalpha(photo.convert("L"))
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        for image in (photo, photo.convert("L"), photo.convert("1"), rgba, photo.quantize(200), photo.convert("CMYK")):
            yield image, {"format": "TIFF", "compression": compression}
    yield photo, {"format": "TIFF", "compression": "tiff_lzw", "tiffinfo": {317: 2}}  # predictor
    yield photo, {"format": "TIFF", "compression": "jpeg", "quality": 80}
    yield photo.convert("L"), {"format": "TIFF", "compression": "jpeg"}
    yield photo, {"format": "TIFF", "big_tiff": True}
    yield photo, {"format": "TIFF", "strip_size": 5000, "compression": "tiff_lzw"}


def bmp_variants(photo):
    for image in (photo, photo.convert("L"), photo.convert("1"), photo.quantize(200), photo.convert("RGBA")):
        yield image, {"format": "BMP"}


def pnm_variants(photo):
    for image in (photo, photo.convert("L"), photo.convert("1")):
        yield image, {"format": "PPM"}


class BesidePillow(unittest.TestCase):
    def setUp(self):
        self.cat = ImageCat()
        self.addCleanup(self.cat.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "image")
        self.rng = random.Random(11)
        self.compared = 0
        self.addCleanup(lambda: print(f"{self.id()}: {self.compared} images or regions compared; Pillow "
                                      f"{Image.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}, "
                                      f"libwebp {features.version('webp')}"))

    def assert_pixels(self, found, expected, why):
        self.compared += 1
        self.assertEqual(found.shape, expected.shape, why)
        if not np.array_equal(found, expected):
            difference = np.abs(found.astype(int) - expected)
            self.fail(f"{why}: {np.count_nonzero(difference)} values differ, by up to {difference.max()}")

    def photo(self):
        with Image.open(self.rng.choice(real_photos())) as image:
            return image.convert("RGB")


class RealFiles(BesidePillow):
    def test_every_file_has_pillows_pixels_in_colour_and_grey(self):
        for path in real_photos():
            with Image.open(path) as image:
                rgb = flattened(image)
            for channels, expected in ((3, rgb), (1, rgb.convert("L"))):
                answer, pixels = self.cat(path, channels=channels)
                self.assertIsNotNone(pixels, f"{path}: {answer}")
                self.assert_pixels(pixels.squeeze(), np.asarray(expected), path)


class MadeFiles(BesidePillow):
    """Every kind of file that Pillow writes, with regions of it."""

    def check_variants(self, variants, photos):
        for number in range(photos):
            for image, arguments in variants(self.photo()):
                image.save(self.file, **arguments)
                self.check_file(f"photo {number}, {image.mode}, {arguments}")

    def check_file(self, why):
        background = tuple(self.rng.randrange(256) for _ in range(3))
        with Image.open(self.file) as image:
            expected = flattened(image, background)
        rgb, grey = np.asarray(expected), np.asarray(expected.convert("L"))
        answer, pixels = self.cat(self.file, background=background)
        self.assertIsNotNone(pixels, f"{why}: {answer}")
        self.assert_pixels(pixels, rgb, why)
        self.assert_pixels(self.cat(self.file, background=background, channels=1)[1].squeeze(2), grey, why)
        for _ in range(4):
            region = random_region(self.rng, rgb.shape)
            answer, pixels = self.cat(self.file, background=background, region=region)
            self.assertIsNotNone(pixels, f"{why}: {region}: {answer}")
            self.assert_pixels(pixels, part(rgb, region), f"{why}: {region}")

    def test_jpeg(self):
        self.check_variants(jpeg_variants, 12)

    def test_png(self):
        self.check_variants(png_variants, 6)

    def test_webp(self):
        self.check_variants(webp_variants, 6)

    def test_tiff(self):
        self.check_variants(tiff_variants, 3)

    def test_bmp(self):
        self.check_variants(bmp_variants, 4)

    def test_pnm(self):
        self.check_variants(pnm_variants, 4)

    def test_sizes_around_a_block(self):
        photo = self.photo()
        for width in (1, 2, 7, 8, 9, 15, 16, 17, 33):
            for height in (1, 2, 8, 15, 17, 34):
                for subsampling in (0, 1, 2):
                    image = photo.crop((40, 40, 40 + width, 40 + height))
                    image.save(self.file, "JPEG", subsampling=subsampling, progressive=bool(width % 2))
                    self.check_file(f"{width}x{height}, subsampling {subsampling}")

    def test_sixteen_bits_keep_the_high_byte(self):
        """Pillow cuts 16-bit grey off at 255 in convert("RGB"); we take the high byte, as both do for colour."""
        values = np.arange(0, 65536, 7, np.uint16)[:96 * 97].reshape(96, 97)
        for kind in ("PNG", "TIFF", "PPM"):
            Image.fromarray(values).save(self.file, kind)
            pixels = self.cat(self.file, channels=1)[1]
            self.assert_pixels(pixels.squeeze(2), (values >> 8).astype(np.uint8), f"16-bit grey {kind}")

    def test_sixteen_bits_stay_at_depth_16(self):
        values = np.arange(0, 65536, 7, np.uint16)[:96 * 97].reshape(96, 97)
        region = (5, 6, 70, 80)
        for kind in ("PNG", "TIFF", "PPM"):
            Image.fromarray(values).save(self.file, kind)
            pixels = self.cat(self.file, channels=1, depth=16)[1]
            self.assert_pixels(pixels.squeeze(2), values, f"16-bit grey {kind}")
            for low, high, words in ((3000, 40000, {"window": (3000, 40000)}), (0, int(values.max()), {"window_of_image": 1})):
                span = high - low
                expected = (np.clip(values.astype(np.int64) - low, 0, span) * 65535 + span // 2) // span
                pixels = self.cat(self.file, channels=1, depth=16, region=region, **words)[1]
                self.assert_pixels(pixels.squeeze(2), part(expected.astype(np.uint16), region), f"{kind}, {words}")

    def test_eight_bits_are_widened_and_alpha_is_kept(self):
        photo = self.photo()
        rgba = photo.copy()
        rgba.putalpha(photo.convert("L"))
        for image, arguments in ((photo, {"format": "JPEG"}), (rgba, {"format": "PNG"}),
                                 (rgba, {"format": "WEBP", "lossless": True, "exact": True}), (rgba, {"format": "TIFF"}),
                                 (photo.convert("P"), {"format": "BMP"}), (photo, {"format": "PPM"})):
            image.save(self.file, **arguments)
            with Image.open(self.file) as again:
                expected = np.asarray(again.convert("RGBA"))
            self.assert_pixels(self.cat(self.file, channels=4)[1], expected, arguments)
            self.assert_pixels(self.cat(self.file, channels=4, depth=16)[1], expected.astype(np.uint16) * 257, arguments)
            rgb = self.cat(self.file)[1]
            self.assert_pixels(self.cat(self.file, depth=16)[1], rgb.astype(np.uint16) * 257, arguments)

    def test_all_orientations_in_all_formats(self):
        photo = self.photo().crop((0, 0, 101, 70))
        for orientation in range(9):
            for arguments in ({"format": "JPEG"}, {"format": "JPEG", "progressive": True, "subsampling": 2},
                              {"format": "PNG"}, {"format": "WEBP"}, {"format": "TIFF"}):
                exif = Image.Exif()
                exif[ORIENTATION] = orientation
                photo.save(self.file, exif=exif.tobytes(), **arguments)
                why = f"orientation {orientation}, {arguments}"
                self.assertEqual(self.cat(self.file)[0]["orientation"], max(1, orientation), why)
                self.check_file(why)


def psnr(found, expected):
    error = np.mean((found.astype(float) - expected) ** 2)
    return float("inf") if error == 0 else 10 * np.log10(255**2 / error)


class ScaledDecode(BesidePillow):
    """Decoding at 1/2, 1/4, 1/8 and resizing, beside decoding all and resizing; both with antialiasing."""

    FILES, FLOOR = 60, 30.0  # decibels, for each image

    def enlarged(self, path, target):
        """Photographs of a camera's size: the JPEG's own detail must be finer than what remains."""
        with Image.open(path) as image:
            side = 8 * target + 40
            return image.convert("RGB").resize((side, side - 21), Image.Resampling.BICUBIC)

    def test_stays_close_to_the_whole_decode(self):
        target, seen = 64, collections.defaultdict(list)
        for path in self.rng.sample(real_photos(), self.FILES):
            self.enlarged(path, target).save(self.file, "JPEG", quality=92, subsampling=self.rng.choice((0, 2)))
            whole = self.cat(self.file)[1]
            for scale in (1, 2, 4, 8):
                region = self.region(whole.shape, scale * target)
                answer, pixels = self.cat(self.file, region=region, target=(target, target))
                self.assertEqual(answer["scale"], scale)
                small = Image.fromarray(pixels).resize((target, target), Image.Resampling.BILINEAR, answer["box"])
                exact = Image.fromarray(part(whole, region)).resize((target, target), Image.Resampling.BILINEAR)
                seen[scale].append(psnr(np.asarray(small), np.asarray(exact)))
                self.compared += 1
        for scale, values in seen.items():
            print(f"scale {scale}: PSNR mean {np.mean(values):.1f}, lowest {min(values):.1f} dB")
        self.assertEqual(min(seen[1]), float("inf"))
        for scale in (2, 4, 8):
            self.assertGreater(min(seen[scale]), self.FLOOR)

    def region(self, shape, least):
        """At least this large, not so large that the next scale would do."""
        width, height = (self.rng.randint(least, min(side, least * 3 // 2)) for side in (shape[1], shape[0]))
        return self.rng.randint(0, shape[1] - width), self.rng.randint(0, shape[0] - height), width, height

    def test_a_region_is_cut_from_the_scaled_image(self):
        """Also where EXIF turns it: the box says where the region lies, in every orientation."""
        for orientation in range(1, 9):
            photo = self.photo()
            exif = Image.Exif()
            exif[ORIENTATION] = orientation
            photo.save(self.file, "JPEG", exif=exif.tobytes(), quality=95)
            with Image.open(self.file) as image:
                upright = flattened(image)
            for target in (20, 40, 80):
                left, top, width, height = region = self.region((upright.height, upright.width), target)
                answer, pixels = self.cat(self.file, region=region, target=(target, target))
                small = Image.fromarray(pixels).resize((10, 10), Image.Resampling.BOX, answer["box"])
                exact = upright.resize((10, 10), Image.Resampling.BOX, (left, top, left + width, top + height))
                self.assertGreater(psnr(np.asarray(small), np.asarray(exact)), 35, f"{orientation} {region} {answer}")
                self.compared += 1


class HostileFiles(BesidePillow):
    """1,566 damaged or odd files: where our verdict is not Pillow's, there is a reason."""

    # Pillow decodes them, we refuse. Each is damage, or a cut, that Pillow does not look for, but for the last.
    STRICTER = {
        "bad Huffman code": 4,  # a warning of libjpeg; the rest of the image is grey or shifted
        "bad arithmetic code": 1,  # likewise
        "premature end of data segment": 4,  # likewise
        "Inconsistent progression sequence": 1,  # likewise; a scan refines what no scan has begun
        "no end-of-image marker": 6,  # the image may be whole, or end in grey
        "before the last chunk: it is cut short": 10,  # PNG that ends before IEND, or inside IDAT
        "IDAT: CRC error": 1,  # Pillow does not check the sum of the pixels' chunks
        "SOF type 0xc3": 3,  # lossless JPEG needs libjpeg-turbo 3; Debian 12 has 2.1.5
    }
    # Pillow refuses them for a text or profile that we never unpack.
    LAXER = {"pillow/png_decompression_dos.png", "pillow/unknown_compression_method.png"}

    def rows(self):
        table = DATA / "hostile" / "PILLOW.csv"
        if not table.exists():
            self.skipTest(f"needs {table}")
        with table.open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_every_other_verdict_is_explained(self):
        stricter, laxer = collections.Counter(), set()
        for row in self.rows():
            answer, pixels = self.cat(DATA / "hostile" / row["file"])
            self.compared += 1
            if row["magic"] not in {"jpeg", "png", "webp", "bmp"}:
                self.assertIsNone(pixels, row)
            elif pixels is not None and row["verdict"] != "ok":
                laxer.add(row["file"])
            elif pixels is None and row["verdict"] == "ok":
                reasons = [reason for reason in self.STRICTER if reason in answer["error"]]
                self.assertEqual(len(reasons), 1, f"{row['file']}: {answer}")
                stricter.update(reasons)
        self.assertEqual(dict(stricter), self.STRICTER)
        self.assertEqual(laxer, self.LAXER)

    def test_what_both_decode_has_the_same_pixels(self):
        other = set()
        for row in self.rows():
            pixels = self.cat(DATA / "hostile" / row["file"])[1] if row["verdict"] == "ok" else None
            if pixels is None:
                continue
            with Image.open(DATA / "hostile" / row["file"]) as image:
                mode, expected = image.mode, np.asarray(flattened(image))
            if mode == "I;16":  # see test_sixteen_bits_keep_the_high_byte
                other.add(row["file"].split("/")[-1])
            else:
                self.assert_pixels(pixels, expected, row["file"])
        self.assertIn("basn0g16.png", other)
        self.assertLess(len(other), 10)


if __name__ == "__main__":
    outcome = unittest.main(verbosity=2, exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.skipped else 0)  # 77: ctest's "skipped" here
