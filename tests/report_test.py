#!/usr/bin/env python3
"""Reports as users get them: from a training run, from a copy of its folder, of several, of hostile names.

Run by ctest with the program's path as STOKER. Needs Fashion-MNIST. How pages look in a browser: scripts/check_report.
"""

import csv
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest

from messages_test import png
from runs import Case

STOKER = os.environ["STOKER"]
TRAIN = ["train", "--data", "fashion-mnist", "--model", "mlp:784,16,10:relu", "--aa", "mnist", "--epochs", "2",
         "--batches-per-epoch", "60"]
FILES = ["args.yaml", "results.csv", "steps.csv", "timing.csv", "predictions.safetensors", "pictures.json", "run.json"]


def run(*arguments, **options):
    return subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def must(*arguments, **options):
    done = run(*arguments, **options)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done


class Page(html.parser.HTMLParser):
    """What a browser would make of the text: elements, their attributes, sections."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)
        self.text = text

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def sections(self):
        return [section["id"] for section in self.all("section")]


class Report(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.done = must(*TRAIN, "--output", cls.output, "--experiment", "a")
        must(*TRAIN, "--output", cls.output, "--experiment", "b", "--lr", "0.01", "--no-report")
        cls.a, cls.b = cls.output / "a", cls.output / "b"

    def page(self, path):
        text = path.read_text(encoding="utf-8")
        self.assertLess(len(text), 3_000_000)
        page = Page(text)
        for tag in ("link", "iframe", "object", "embed", "base"):
            self.assertEqual(page.all(tag), [])
        self.assertEqual(page.all("script"), [{}])
        for image in page.all("img"):
            self.assertRegex(image["src"], r"^data:image/(png|webp);base64,[A-Za-z0-9+/=]+$")
        for _, attributes in page.elements:
            self.assertFalse([name for name in attributes if name.startswith("on")])
        return page

    def test_training_ends_with_a_report_of_everything(self):
        self.assertIn(f"report     {self.a / 'report.html'}", self.done.stdout)
        page = self.page(self.a / "report.html")
        self.assertEqual(page.sections(), ["curves", "classes", "calibration", "losses", "doubts", "batch", "time",
                                           "settings", "machine"])
        self.assertEqual(len(page.all("img")), 24 + 24 + 2 * 16)
        with open(self.a / "results.csv", encoding="utf-8") as file:
            top1 = float(list(csv.DictReader(file))[-1]["val_top1"])
        self.assertIn(f"<b>{100 * top1:.2f} %</b><span>validation top-1, last epoch</span>", page.text)
        test = json.loads((self.a / "run.json").read_text(encoding="utf-8"))["test"]
        self.assertIn(f"<b>{100 * test['top1']:.2f} %</b><span>test top-1, weights of epoch {test['epoch']}</span>",
                      page.text)

    def test_the_confusion_matrix_is_that_of_eval(self):
        found = json.loads(must("eval", "--data", "fashion-mnist", "--split", "val", "--weights",
                                self.a / "weights/last.safetensors", "--json").stdout)
        page = (self.a / "report.html").read_text(encoding="utf-8")
        cells = re.search(r'<table class="confusion">.*?<tbody>(.*?)</tbody>', page, re.DOTALL).group(1)
        counts = [int(cell or 0) for cell in re.findall(r"<td[^>]*>(\d*)</td>", cells)]
        self.assertEqual(counts, found["confusion"])

    def test_no_report_leaves_it_out_but_keeps_the_files(self):
        self.assertFalse((self.b / "report.html").exists())
        for name in FILES:
            self.assertTrue((self.b / name).stat().st_size > 0, name)

    def test_a_copied_folder_gives_the_same_report(self):
        copy = self.output / "elsewhere" / "a"
        copy.mkdir(parents=True)
        for name in FILES:
            shutil.copy(self.a / name, copy / name)
        must("report", "a", cwd=copy.parent)
        without_place = lambda path: re.sub(r"<footer>.*?</footer>", "", path.read_text(encoding="utf-8"))
        self.assertEqual(without_place(copy / "report.html"), without_place(self.a / "report.html"))

    def test_a_run_of_old_needs_its_table_alone(self):
        old = self.output / "old"
        old.mkdir()
        shutil.copy(self.a / "results.csv", old)
        must("report", old)
        self.assertEqual(self.page(old / "report.html").sections(), ["curves"])

    def test_two_runs_are_compared(self):
        path = self.output / "compared.html"
        must("report", self.a, self.b, "--out", path)
        page = self.page(path)
        self.assertEqual(page.sections(), ["results", "against", "curves", "runs", "settings"])
        self.assertIn("They differ in: <b>lr</b>", page.text)

    def test_markdown_has_its_images_beside_it(self):
        must("report", self.a, "--format", "md", "--out", self.output / "m.md")
        text = (self.output / "m.md").read_text(encoding="utf-8")
        images = re.findall(r"!\[.*?\]\((.*?)\)", text)
        self.assertEqual(images, ["m_loss.png", "m_top1.png", "m_confusion.png"])
        for name in images:
            self.assertEqual((self.output / name).read_bytes()[:4], b"\x89PNG")

    def test_timing_adds_up(self):
        with open(self.a / "timing.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                parts = sum(float(row[name]) for name in ("wait", "copy", "forward", "backward", "step"))
                self.assertLessEqual(parts, float(row["seconds"]) + 0.01)
                self.assertGreater(float(row["forward"]), 0)
                self.assertGreater(float(row["backward"]), 0)

    def test_names_of_files_and_classes_do_nothing(self):
        evil = "<img src=x onerror=alert(1)>"
        data = self.output / "evil"
        for part in ("train", "val"):
            for name in (evil, "\"><script>alert(2)</script>".replace("/", "")):
                for i in range(6):
                    png(data / part / name / f"<b onclick=alert(3)>{i}.png", 32, 40 * i)
        must("train", "--data", data, "--model", "cnn:4,8", "--aa", "resize(32,32)", "--epochs", "1", "--batch-size", "4",
             "--output", self.output, "--experiment", "<u>evil</u>".replace("/", ""))
        page = self.page(self.output / "<u>evil<u>" / "report.html")
        self.assertEqual(page.all("u"), [])
        self.assertNotIn("<img src=x", page.text)
        self.assertNotIn("<b onclick", page.text)

    def test_a_damaged_file_is_named(self):
        broken = self.output / "broken"
        shutil.copytree(self.a, broken)
        (broken / "predictions.safetensors").write_bytes(b"nonsense")
        done = run("report", broken)
        self.assertEqual(done.returncode, 1)
        self.assertIn("predictions.safetensors", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
