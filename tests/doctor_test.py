#!/usr/bin/env python3
"""`stoker doctor` finds every defect that is planted among real photographs, and nothing else.

Run by ctest with the program's path as STOKER and a case as argument. Needs `pip install pillow==13.0.0` and real
photographs (STOKER_TEST_DATA/photos); without them it says so and ends with 77, ctest's "skipped" here.
"""

import base64
import html.parser
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    from PIL import Image, ImageDraw, ImageEnhance, ImageOps
except ImportError as error:
    print(f"skipped: {error}; pip install pillow==13.0.0")
    sys.exit(77)

STOKER = os.environ["STOKER"]
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or pathlib.Path(__file__).parents[2] / "shared/data")
MAX_PIXELS = 900_000
EVIL = '"><script>alert(1)<script>.jpg'


def plain_photos():
    """Photographs without any oddity, so that a folder of them is healthy."""
    found = []
    for path in sorted((DATA / "photos").glob("*.JPEG")):
        with Image.open(path) as image:
            sides = sorted(image.size)
            plain = image.mode == "RGB" and image.getexif().get(0x0112, 1) == 1 and image.format == "JPEG"
            if plain and sides[0] >= 100 and sides[1] <= 3 * sides[0] and sides[0] * sides[1] <= MAX_PIXELS:
                found.append(path)
    if len(found) < 150:
        print(f"skipped: needs 150 photographs in {DATA / 'photos'}; set STOKER_TEST_DATA")
        sys.exit(77)
    return found


def run(*arguments, **options):
    return subprocess.run([STOKER, "doctor", *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          timeout=120, **options)


class Folder:
    """A data set of photographs, each used once: train, val and test with four classes."""

    CLASSES = ("bird", "fish", "insect", "snake")

    def __init__(self, root, photos):
        self.root = root
        self.pool = iter(photos)
        self.expected = set()
        for part, count in (("train", 12), ("val", 4), ("test", 4)):
            for name in self.CLASSES:
                for i in range(count):
                    self.copy(f"{part}/{name}/{i:03}.jpg")

    def path(self, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def photo(self):
        with Image.open(next(self.pool)) as image:
            return image.convert("RGB")

    def copy(self, name):
        shutil.copyfile(next(self.pool), self.path(name))

    def save(self, name, image, **options):
        image.save(self.path(name), **options)

    def write(self, name, data):
        self.path(name).write_bytes(data)

    def expect(self, kind, *names):
        self.expected.add((kind, *names))


def plant_unreadable(folder):
    folder.write("train/bird/empty.jpg", b"")
    folder.expect("unreadable", "train/bird/empty.jpg")
    folder.write("train/bird/page.jpg", b"<html><body>404 not found</body></html>")
    folder.expect("unreadable", "train/bird/page.jpg")
    folder.save("train/fish/damaged.png", folder.photo())
    data = bytearray(folder.path("train/fish/damaged.png").read_bytes())
    data[len(data) // 2] ^= 0x40
    folder.write("train/fish/damaged.png", data)
    folder.expect("unreadable", "train/fish/damaged.png")
    for kind, name in (("JPEG", EVIL), ("PNG", "cut.png"), ("WEBP", "cut.webp")):
        whole = io.BytesIO()
        folder.photo().save(whole, kind)
        folder.write(f"test/bird/{name}", whole.getvalue()[:len(whole.getvalue()) * 3 // 4])
        folder.expect("truncated", f"test/bird/{name}")
    folder.save("train/fish/huge.jpg", folder.photo().resize((1000, 1000)))
    folder.expect("too_large", "train/fish/huge.jpg")


def plant_odd(folder):
    folder.save("train/insect/png.jpg", folder.photo(), format="PNG")
    folder.expect("wrong_extension", "train/insect/png.jpg")
    folder.save("train/insect/jpeg.webp", folder.photo(), format="JPEG")
    folder.expect("wrong_extension", "train/insect/jpeg.webp")
    folder.save("train/insect/cmyk.jpg", folder.photo().convert("CMYK"))
    folder.expect("cmyk", "train/insect/cmyk.jpg")
    folder.save("train/insect/deep.png", folder.photo().convert("L").convert("I;16").point(lambda v: v * 257))
    folder.expect("sixteen_bit", "train/insect/deep.png")
    folder.expect("mixed_colour", "train/insect/deep.png")
    folder.save("train/insect/palette.png", folder.photo().quantize(64))
    folder.expect("palette", "train/insect/palette.png")
    glass = folder.photo()
    glass.putalpha(glass.convert("L"))
    folder.save("train/insect/glass.png", glass)
    folder.expect("transparency", "train/insect/glass.png")
    folder.save("val/insect/grey.jpg", folder.photo().convert("L"))
    folder.expect("mixed_colour", "val/insect/grey.jpg")
    photo = folder.photo()
    folder.save("val/insect/moves.webp", photo, save_all=True, append_images=[ImageOps.invert(photo)])
    folder.expect("animated", "val/insect/moves.webp")
    exif = Image.Exif()
    exif[0x0112] = 6
    folder.save("val/insect/turned.jpg", folder.photo(), exif=exif)
    folder.expect("rotated", "val/insect/turned.jpg")
    folder.save("train/snake/icon.png", folder.photo().resize((24, 30)))
    folder.expect("tiny", "train/snake/icon.png")
    folder.save("train/snake/banner.jpg", folder.photo().resize((500, 100)))
    folder.expect("elongated", "train/snake/banner.jpg")
    folder.save("train/snake/blank.png", Image.new("RGB", (200, 150), (7, 7, 7)))
    folder.expect("blank", "train/snake/blank.png")
    folder.save("test/snake/blank too.png", Image.new("RGB", (150, 200), (255, 255, 255)))
    folder.expect("blank", "test/snake/blank too.png")


def plant_duplicates(folder):
    for copies in (("train/bird/same a.jpg", "train/bird/deep/er/same b.jpg", "train/bird/same c.jpg"),):
        photo = next(folder.pool)
        for name in copies:
            shutil.copyfile(photo, folder.path(name))
        folder.expect("duplicate", *sorted(copies))
    folder.copy("train/fish/pixels.jpg")
    with Image.open(folder.path("train/fish/pixels.jpg")) as image:
        folder.save("train/fish/pixels.png", image)
    folder.expect("duplicate", "train/fish/pixels.jpg", "train/fish/pixels.png")
    for kinds, names in ((("leak",), ("test/fish/leak.jpg", "train/fish/leak.jpg")),
                         (("leak",), ("test/fish/leak2.jpg", "val/fish/leak2.jpg")),
                         (("two_labels",), ("train/fish/both.jpg", "train/snake/both.jpg")),
                         (("two_labels", "leak"), ("train/bird/all.jpg", "val/snake/all.jpg"))):
        photo = next(folder.pool)
        for name in names:
            shutil.copyfile(photo, folder.path(name))
        for kind in kinds:
            folder.expect(kind, *names)


def smaller(image):
    return image.resize((image.width * 6 // 10, image.height * 6 // 10))


def cropped(image):
    return image.crop((2, 2, image.width - 2, image.height - 2))


def stamped(image):
    ImageDraw.Draw(image).text((image.width - 90, image.height - 20), "photo 2026", fill=(255, 255, 255))
    return image


def plant_near_duplicates(folder):
    changes = (("poor", lambda image: image, {"quality": 25}), ("small", smaller, {}), ("cropped", cropped, {}),
               ("stamped", stamped, {}), ("dark", lambda image: ImageEnhance.Brightness(image).enhance(0.7), {}),
               ("flat", lambda image: ImageEnhance.Contrast(image).enhance(0.6), {}),
               ("pale", lambda image: ImageEnhance.Color(image).enhance(0.2), {}),
               ("mild", lambda image: image, {"quality": 92}))
    places = (("near_duplicate", "train/bird", "train/bird"), ("near_leak", "train/fish", "val/fish"),
              ("near_two_labels", "train/bird", "train/snake"))
    for i, (name, change, options) in enumerate(changes):
        kind, first, second = places[i % len(places)]
        photo = folder.photo()
        names = f"{first}/{name} 1.png", f"{second}/{name} 2.jpg"
        folder.save(names[0], photo)
        folder.save(names[1], change(photo), **options)
        folder.expect(kind, *sorted(names))


def plant_what_training_warns_of(folder):
    """Last: whether a pair counts as alike depends on the photograph, so those before keep theirs."""
    folder.save("train/fish/scan.gif", folder.photo())
    folder.expect("unsupported", "train/fish/scan.gif")
    folder.save("train/fish/photo", folder.photo(), format="JPEG")  # without an extension
    folder.expect("unsupported", "train/fish/photo")
    folder.save("train/insect/xray.png", folder.photo().convert("L").convert("I;16").point(lambda v: v * 16))
    folder.expect("dark_sixteen_bit", "train/insect/xray.png")
    folder.expect("mixed_colour", "train/insect/xray.png")


def plant_class_mistakes(folder):
    folder.copy("train/rare/1.jpg")
    folder.expect("missing_class", "train/rare")
    folder.expect("imbalance", "train/rare", "train/bird")
    for i in range(3):
        folder.copy(f"test/unheard of/{i}.jpg")
    folder.expect("unknown_class", "test/unheard of")
    folder.path("val/rare").mkdir()
    folder.expect("empty_class", "val/rare")
    folder.copy("train/forgotten.jpg")
    folder.expect("stray_image", "train/forgotten.jpg")
    for name in ("train/bird/Thumbs.db", "train/.DS_Store", "val/fish/labels.txt"):
        folder.write(name, b"junk")
        folder.expect("ignored", name)


class Page(html.parser.HTMLParser):
    """What is in the page: elements, images, text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.sources, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name == "src"]

    def handle_data(self, data):
        self.text.append(data)


class WithPhotos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.root = pathlib.Path(cls.temporary.name)
        photos = plain_photos()
        random.Random(5).shuffle(photos)
        cls.folder = Folder(cls.root / "data", photos)

    def examine(self, *arguments):
        out = self.root / "out"
        done = run(self.folder.root, "--max-pixels", MAX_PIXELS, "--out", out, "--force", *arguments)
        return done, json.loads((out / "doctor.json").read_text())


class Healthy(WithPhotos):
    """Photographs without defects."""

    def test_nothing_is_found(self):
        done, report = self.examine("--fail-on", "note", "--mirrored")
        self.assertEqual(report["findings"], [], done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 errors, 0 warnings, 0 notes", done.stdout)
        self.assertEqual(report["images"], 80)
        self.assertEqual([part["images"] for part in report["parts"]], [48, 16, 16])

    def test_the_clean_list_is_all_of_train(self):
        self.examine("--write-list", self.root / "clean.tsv")
        lines = [line.split("\t") for line in (self.root / "clean.tsv").read_text().splitlines()]
        self.assertEqual(len(lines), 48)
        for path, name in lines:
            self.assertEqual((self.root / path).parent, self.folder.root / "train" / name)
            self.assertTrue((self.root / path).is_file())

    def test_wrong_words_are_wrong_usage(self):
        for words in (["--fail-on", "sometimes"], ["--max-pixels", "0"], ["--near", "99"]):
            self.assertEqual(run(self.folder.root, *words).returncode, 2, words)
        self.assertEqual(run(self.root / "nowhere").returncode, 2)
        self.assertEqual(run().returncode, 2)

    def test_outputs_that_cannot_be_written_are_failures(self):
        done = run(self.folder.root, "--json", self.root / "no" / "such" / "folder.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("folder.json", done.stderr)


class Planted(WithPhotos):
    """One of each defect, some several times."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for plant in (plant_unreadable, plant_odd, plant_duplicates, plant_near_duplicates, plant_class_mistakes,
                      plant_what_training_warns_of):
            plant(cls.folder)

    def test_every_defect_is_found_and_nothing_else(self):
        done, report = self.examine()
        found = [(finding["kind"], *finding["paths"]) for finding in report["findings"]]
        self.assertEqual(len(set(found)), len(found))
        # Which of two equally large classes is named does not matter.
        found = {("imbalance", words[1], "train/bird") if words[0] == "imbalance" else words for words in found}
        self.assertEqual(found - self.folder.expected, set(), "not planted")
        self.assertEqual(self.folder.expected - found, set(), "not found")
        self.assertEqual(done.returncode, 1, done.stderr)
        for finding in report["findings"]:
            self.assertTrue(finding["detail"] and finding["advice"], finding)

    def test_severity_decides_the_exit_code(self):
        self.assertEqual([self.examine("--fail-on", word)[0].returncode for word in
                          ("error", "warning", "note", "never")], [1, 1, 1, 0])

    def test_workers_change_nothing(self):
        outputs = set()
        for workers in (1, 2, 3, 8):
            done, _ = self.examine("--workers", workers)
            outputs.add((done.stdout, *((self.root / "out" / name).read_bytes() for name in
                                        ("doctor.json", "doctor.html"))))
        self.assertEqual(len(outputs), 1)

    def test_the_page_stands_alone(self):
        self.examine()
        text = (self.root / "out" / "doctor.html").read_text()
        page = Page(text)
        self.assertFalse({"script", "link", "iframe", "object"} & set(page.tags))
        self.assertGreater(page.tags.count("img"), 40)
        self.assertLess(len(text), 2_000_000)
        for source in page.sources:
            kind, data = source.split(",", 1)
            self.assertEqual(kind, "data:image/webp;base64")
            with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as image:
                self.assertLessEqual(max(image.size), 160)
        self.assertIn(f"test/bird/{EVIL}", "".join(page.text))

    def test_the_clean_list_has_no_error_and_no_copy(self):
        self.examine("--write-list", self.root / "clean.tsv")
        lines = (self.root / "clean.tsv").read_text().splitlines()
        listed = {line.split("\t")[0] for line in lines}
        self.assertEqual(len(listed), len(lines))
        every = {f"data/{path.relative_to(self.folder.root)}" for path in (self.folder.root / "train").rglob("*")
                 if path.suffix in {".jpg", ".png", ".webp"}}
        gone = {f"data/train/{name}" for name in (
            "bird/empty.jpg", "bird/page.jpg", "fish/damaged.png", "fish/huge.jpg", "bird/same a.jpg",
            "bird/same c.jpg", "fish/pixels.png", "fish/leak.jpg", "fish/both.jpg", "snake/both.jpg", "bird/all.jpg")}
        self.assertEqual(every - listed, gone | {"data/train/forgotten.jpg"})
        self.assertEqual(listed - every, set())

    def test_a_clean_list_made_into_a_folder_has_no_errors(self):
        self.examine("--write-list", self.root / "clean.tsv")
        again = self.root / "again"
        for line in (self.root / "clean.tsv").read_text().splitlines():
            path = pathlib.Path(line.split("\t")[0]).relative_to("data/train")
            (again / path).parent.mkdir(parents=True, exist_ok=True)
            os.link(self.folder.root / "train" / path, again / path)
        done = run(again, "--out", self.root / "out2", "--max-pixels", MAX_PIXELS)
        report = json.loads((self.root / "out2" / "doctor.json").read_text())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(report["summary"]["error"], 0)
        self.assertNotIn("duplicate", report["counts"])

    def test_mirrored_images_are_found_when_asked(self):
        photo = self.folder.photo()
        names = "train/bird/left.png", "train/bird/right.jpg"
        self.folder.save(names[0], photo)
        self.folder.save(names[1], photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
        try:
            for arguments, expected in (((), False), (("--mirrored",), True)):
                _, report = self.examine(*arguments)
                found = {(finding["kind"], *finding["paths"]) for finding in report["findings"]}
                self.assertEqual(("near_duplicate", *names) in found, expected)
        finally:
            for name in names:
                self.folder.path(name).unlink()

    def test_the_screen_shows_no_control_characters(self):
        self.folder.write("train/bird/\x1b[31mred.jpg", b"")
        try:
            done, _ = self.examine()
            self.assertNotIn("\x1b", done.stdout + done.stderr)
            self.assertIn("\\x1b[31mred.jpg", done.stdout)
        finally:
            self.folder.path("train/bird/\x1b[31mred.jpg").unlink()


if __name__ == "__main__":
    unittest.main()
