"""Training on tables for several labels and for numbers: how well, killed and resumed, on several ranks.

Images are drawn here: a patch for each class that an image shows, or a line at an angle. So the truth is known, and a
network in Python that trains on the same images says what can be reached."""

import functools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
from PIL import Image

import ranks

STOKER = os.environ["STOKER"]
SIDE = 24
CLASSES = ("bar", "corner", "dot", "frame")


def draw_shapes(rng, shown):
    """One shape for each class that is shown, at a random place of its quarter, in noise."""
    image = rng.normal(90, 25, (SIDE, SIDE))
    for number, name in enumerate(CLASSES):
        if name not in shown:
            continue
        y, x = (rng.integers(0, 12, 2) + (number * 5, number * 3)) % (SIDE - 8)
        if name == "bar":
            image[y:y + 2, x:x + 8] += 90
        elif name == "corner":
            image[y:y + 7, x] += 90
            image[y, x:x + 7] += 90
        elif name == "dot":
            image[y:y + 4, x:x + 4] += 90
        else:
            image[y:y + 7, [x, x + 6]] += 90
            image[[y, y + 6], x:x + 7] += 90
    return Image.fromarray(image.clip(0, 255).astype(numpy.uint8))


def write_shapes(folder, count, seed):
    """A table with a column of 0 and 1 for each class, and a column of parts."""
    rng = numpy.random.default_rng(seed)
    rows = ["path," + ",".join(CLASSES) + ",split"]
    (folder / "images").mkdir(parents=True)
    for i in range(count):
        shown = [name for name in CLASSES if rng.random() < 0.4]
        draw_shapes(rng, shown).save(folder / f"images/{i}.png")
        part = "test" if i % 5 == 0 else "val" if i % 5 == 1 else "train"
        rows.append(f"images/{i}.png," + ",".join(str(int(name in shown)) for name in CLASSES) + f",{part}")
    (folder / "shapes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "shapes.csv"


def write_lines(folder, count, seed):
    """A line through the middle; its angle, in degrees, is the target."""
    rng = numpy.random.default_rng(seed)
    rows = ["path,angle,split"]
    (folder / "images").mkdir(parents=True)
    ys, xs = numpy.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2
    for i in range(count):
        angle = rng.uniform(-80, 80)
        distance = numpy.abs(xs * math.sin(math.radians(angle)) - ys * math.cos(math.radians(angle)))
        image = 40 + 180 * numpy.clip(1.8 - distance, 0, 1) + rng.normal(0, 8, (SIDE, SIDE))
        Image.fromarray(image.clip(0, 255).astype(numpy.uint8)).save(folder / f"images/{i}.png")
        part = "test" if i % 5 == 0 else "val" if i % 5 == 1 else "train"
        rows.append(f"images/{i}.png,{angle:.3f},{part}")
    (folder / "lines.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder / "lines.csv"


class Tasks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)

    @functools.cached_property
    def shapes(self):
        return self.drawn("shapes", write_shapes, 1500, 1)

    @functools.cached_property
    def lines(self):
        return self.drawn("lines", write_lines, 2500, 2)

    def drawn(self, name, write, *how):
        """The table in the class's folder; its first test that asks for it has it drawn."""
        folder = self.folder / name
        return folder / f"{name}.csv" if folder.exists() else write(folder, *how)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def stoker(self, *arguments, expect=0):
        done = subprocess.run([STOKER, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    COMMON = ("--model", "cnn:small", "--aa", f"resize({SIDE},{SIDE})", "--opt", "adam", "--lr", "0.003", "--batch-size", "32",
              "--threads", "1", "--workers", "2", "--no-report")
    LABELS = ("--labels", ",".join(CLASSES))

    def train(self, name, data, columns, *more):
        return self.stoker("train", data, *columns, *self.COMMON, "--experiment", name, *more)

    def facts(self, name):
        return json.loads((self.folder / "runs" / name / "run.json").read_text(encoding="utf-8"))

    def weights(self, name):
        return (self.folder / "runs" / name / "weights/last.safetensors").read_bytes()

    def onnx_rows(self, name, images):
        """What ONNX Runtime makes of these images with the run's exported model, by the file's own metadata."""
        import onnxruntime  # pylint: disable=import-outside-toplevel; bench/multilabel.py draws with this file and lacks it

        path = self.folder / f"{name}.onnx"
        self.stoker("export", f"runs/{name}", "--out", path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        facts = session.get_modelmeta().custom_metadata_map
        grey = numpy.stack([numpy.asarray(Image.open(image), numpy.float32) for image in images])
        channels = session.get_inputs()[0].shape[1]
        pixels = numpy.repeat(grey[:, None], channels, axis=1)
        mean, deviation = (numpy.array(json.loads(facts[key])[:channels], numpy.float32).reshape(1, -1, 1, 1)
                           for key in ("stoker.mean", "stoker.std"))
        (output,) = session.run(None, {session.get_inputs()[0].name: (pixels / 255 - mean) / deviation})
        return session.get_outputs()[0].name, output

    def killed_and_resumed(self, name, data, columns, *more):
        """The same run, killed twice, each time soon after another checkpoint was written."""
        command = [STOKER, "train", str(data), *columns, *self.COMMON, "--experiment", name, "--resume", "auto",
                   "--checkpoint-every", "3steps", *more]
        done = ranks.kill_and_resume(command, self.folder / "runs" / name, 2, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Multilabel(Tasks):
    def test_learns_and_says_so_everywhere(self):
        out = self.train("many", self.shapes, self.LABELS, "--epochs", "12", "--seed", "1").stdout
        self.assertIn("task multilabel", out)
        facts = self.facts("many")
        self.assertEqual(facts["task"], "multilabel")
        self.assertEqual(facts["classes"], list(CLASSES))
        self.assertGreater(facts["test"]["map"], 0.9)
        header = (self.folder / "runs/many/results.csv").read_text(encoding="utf-8").splitlines()[0]
        self.assertIn("val_map", header)
        self.assertNotIn("top1", header)
        found = json.loads(self.stoker("eval", self.shapes, *self.LABELS, "--weights", "runs/many", "--split", "test",
                                       "--json").stdout)
        self.assertAlmostEqual(found["map"], facts["test"]["map"], places=5)
        self.assertEqual([one["name"] for one in found["classes"]], list(CLASSES))
        self.assertTrue(all(0 < one["threshold"] < 1 for one in found["classes"]))
        rows = self.stoker("predict", self.folder / "shapes/images", "--weights", "runs/many").stdout.splitlines()
        self.assertEqual(rows[0], "sample,classes," + ",".join(CLASSES) + ",error")
        self.assertEqual(len(rows), 1501)
        cells = [row.split(",") for row in rows[1:21]]
        name, found = self.onnx_rows("many", [self.folder / "shapes/images" / pathlib.Path(row[0]).name for row in cells])
        self.assertEqual(name, "probabilities")
        numpy.testing.assert_allclose(found, numpy.array([row[2:6] for row in cells], numpy.float32), atol=1e-4)

    def test_figures_are_scikit_learns(self):
        """mAP and F1 of the rows that predict writes, computed again from the definition."""
        self.train("scored", self.shapes, self.LABELS, "--epochs", "2", "--seed", "3")
        found = json.loads(self.stoker("eval", self.shapes, *self.LABELS, "--weights", "runs/scored", "--split", "test",
                                       "--json").stdout)
        self.stoker("predict", self.shapes, *self.LABELS, "--weights", "runs/scored", "--split", "test", "--out", "p.csv")
        predicted = {}
        for row in (self.folder / "p.csv").read_text(encoding="utf-8").splitlines()[1:]:
            cells = row.split(",")
            predicted[pathlib.Path(cells[0]).name] = [float(cell) for cell in cells[2:6]]
        scores, truth = [], []
        for row in self.shapes.read_text(encoding="utf-8").splitlines()[1:]:
            cells = row.split(",")
            if cells[-1] == "test":
                scores.append(predicted[pathlib.Path(cells[0]).name])
                truth.append([int(cell) for cell in cells[1:5]])
        scores, truth = numpy.array(scores), numpy.array(truth)
        precisions = []
        for c in range(len(CLASSES)):
            order = numpy.argsort(-scores[:, c], kind="stable")
            hits = truth[order, c]
            precisions.append((hits.cumsum() / numpy.arange(1, len(hits) + 1))[hits == 1].mean())
        self.assertAlmostEqual(found["map"], float(numpy.mean(precisions)), places=4)

    def test_killed_and_resumed_is_the_same_run(self):
        more = ("--epochs", "3", "--seed", "2")
        self.train("whole", self.shapes, self.LABELS, *more)
        self.killed_and_resumed("killed", self.shapes, self.LABELS, *more)
        self.assertEqual(self.weights("killed"), self.weights("whole"))
        self.assertEqual(self.facts("killed")["samples_digest"], self.facts("whole")["samples_digest"])

    def test_losses_and_wrong_ones(self):
        for loss in ("focal", "asymmetric"):
            self.train(loss, self.shapes, self.LABELS, "--epochs", "1", "--loss", loss)
        error = self.stoker("train", self.shapes, *self.LABELS, *self.COMMON, "--loss", "huber", expect=2).stderr
        self.assertIn("huber", error)
        error = self.stoker("train", self.shapes, *self.LABELS, *self.COMMON, "--task", "regress", expect=1).stderr
        self.assertIn("multilabel", error)


class Regress(Tasks):
    COLUMNS = ("--target", "angle")

    def test_learns_an_angle(self):
        self.train("angle", self.lines, self.COLUMNS, "--epochs", "24", "--seed", "1")
        facts = self.facts("angle")
        self.assertEqual(facts["task"], "regress")
        self.assertGreater(facts["test"]["r2"], 0.98)
        found = json.loads(self.stoker("eval", self.lines, *self.COLUMNS, "--weights", "runs/angle", "--json").stdout)
        self.assertEqual(found["targets"][0]["name"], "angle")
        self.assertLess(found["mae"], 6)
        rows = self.stoker("predict", self.lines, *self.COLUMNS, "--weights", "runs/angle", "--split", "test").stdout.splitlines()
        self.assertEqual(rows[0], "sample,angle,error")
        truth = {pathlib.Path(row.split(",")[0]).name: float(row.split(",")[1])
                 for row in self.lines.read_text(encoding="utf-8").splitlines()[1:]}
        errors = [abs(float(row.split(",")[1]) - truth[pathlib.Path(row.split(",")[0]).name]) for row in rows[1:]]
        self.assertAlmostEqual(sum(errors) / len(errors), found["mae"], places=3)
        cells = [row.split(",") for row in rows[1:21]]
        name, found = self.onnx_rows("angle", [self.folder / "lines/images" / pathlib.Path(row[0]).name for row in cells])
        self.assertEqual(name, "predictions")
        numpy.testing.assert_allclose(found[:, 0], numpy.array([row[1] for row in cells], numpy.float32), atol=1e-2)

    def test_killed_and_resumed_is_the_same_run(self):
        more = ("--epochs", "3", "--seed", "2")
        self.train("whole", self.lines, self.COLUMNS, *more)
        self.killed_and_resumed("killed", self.lines, self.COLUMNS, *more)
        self.assertEqual(self.weights("killed"), self.weights("whole"))


class Ranks(Tasks):
    def test_three_ranks_see_the_samples_of_one(self):
        for name, data, columns in (("several", self.shapes, Multilabel.LABELS), ("number", self.lines, Regress.COLUMNS)):
            more = ("--epochs", "2", "--seed", "5")
            self.train(f"{name}-1", data, columns, *more)
            ranks.train(3, "train", data, *columns, *self.COMMON, *more, "--output", self.folder / "runs", "--experiment",
                        f"{name}-3", timeout=300)
            one, three = self.facts(f"{name}-1"), self.facts(f"{name}-3")
            self.assertEqual(one["samples_digest"], three["samples_digest"])
            key = "map" if name == "several" else "r2"
            self.assertAlmostEqual(one["best"][key], three["best"][key], delta=0.03)


class Views(Tasks):
    def test_several_views_train_and_resume(self):
        more = ("--epochs", "2", "--seed", "4", "--views", "2", "--aa", f"resize({SIDE},{SIDE}),shift(-2,2),noise(0.05)")
        self.train("whole", self.shapes, self.LABELS, *more)
        self.train("one", self.shapes, self.LABELS, *more[:4], *more[6:])
        self.killed_and_resumed("killed", self.shapes, self.LABELS, *more)
        self.assertEqual(self.weights("killed"), self.weights("whole"))
        self.assertNotEqual(self.weights("one"), self.weights("whole"))
        self.assertEqual(self.facts("one")["samples_digest"], self.facts("whole")["samples_digest"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
