#!/usr/bin/env python3
"""Our event files as TensorBoard's own reader sees them: tags, steps and values beside the run's tables.

Run by ctest with the program's path as STOKER, in a Python with tensorboard (requirements.txt). Needs Fashion-MNIST.
"""

import csv
import io
import json
import os
import subprocess
import sys
import unittest

try:
    from PIL import Image
    from tensorboard.backend.event_processing import event_accumulator
except ImportError as error:
    print(f"needs tensorboard and pillow: {error}")
    sys.exit(77)

from runs import Case

STOKER = os.environ["STOKER"]
TRAIN = [STOKER, "train", "--data", "fashion-mnist", "--model", "mlp:784,16,10:relu", "--epochs", "3",
         "--batches-per-epoch", "50", "--tensorboard", "--histograms", "--log-json", "--no-report"]
COLUMNS = {"loss/train": "train_loss", "loss/val": "val_loss", "top1/train": "train_top1", "top1/val": "val_top1",
           "topk/val": "val_top5", "macro_f1/val": "val_macro_f1", "ece/val": "val_ece", "lr": "lr"}


def table(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_events(folder):
    events = event_accumulator.EventAccumulator(
        str(folder), size_guidance={event_accumulator.SCALARS: 0, event_accumulator.HISTOGRAMS: 0,
                                    event_accumulator.IMAGES: 0, event_accumulator.TENSORS: 0})
    events.Reload()
    return events


class Events(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([*TRAIN, "--output", cls.output, "--experiment", "a"], check=True, capture_output=True, timeout=300)
        cls.folder = cls.output / "a"
        cls.events = read_events(cls.folder)

    def check_scalar(self, tag, steps, values):
        found = self.events.Scalars(tag)
        self.assertEqual([event.step for event in found], steps, tag)
        for event, value in zip(found, values):
            self.assertAlmostEqual(event.value, value, delta=1e-6 + 1e-6 * abs(value), msg=tag)
            self.assertGreater(event.wall_time, 1.6e9)

    def test_epochs_have_the_values_of_results_csv(self):
        rows = table(self.folder / "results.csv")
        steps = [int(row["step"]) for row in rows]
        self.assertEqual(steps, [50, 100, 150])
        for tag, column in COLUMNS.items():
            self.check_scalar(tag, steps, [float(row[column]) for row in rows])

    def test_steps_have_the_values_of_steps_csv(self):
        rows = table(self.folder / "steps.csv")
        self.assertGreaterEqual(len(rows), 100)
        steps = [int(row["step"]) for row in rows]
        for tag, column in (("step/loss", "loss"), ("step/top1", "top1"), ("step/lr", "lr")):
            self.check_scalar(tag, steps, [float(row[column]) for row in rows])

    def test_images_can_be_decoded(self):
        events = self.events.Images("confusion_matrix")
        self.assertEqual([event.step for event in events], [50, 100, 150])
        for event in events:
            image = Image.open(io.BytesIO(event.encoded_image_string))
            image.load()
            self.assertEqual(image.size, (event.width, event.height))

    def test_histograms_count_every_weight(self):
        tags = self.events.Tags()["histograms"]
        self.assertEqual(len(tags), 4)
        first = self.events.Histograms("weights/layers.0.weight")
        self.assertEqual([event.step for event in first], [50, 100, 150])
        for event in first:
            value = event.histogram_value
            self.assertEqual(value.num, 784 * 16)
            self.assertEqual(sum(value.bucket), value.num)
            self.assertEqual(len(value.bucket), len(value.bucket_limit))
            self.assertLessEqual(value.min, value.max)
            self.assertEqual(value.max, value.bucket_limit[-1])

    def test_settings_are_text(self):
        event = self.events.Tensors("settings")[0]
        text = event.tensor_proto.string_val[0].decode()
        self.assertIn('    model: "mlp:784,16,10:relu"', text)
        metadata = self.events.SummaryMetadata("settings")
        self.assertEqual(metadata.plugin_data.plugin_name, "text")

    def test_json_lines_say_the_same(self):
        with open(self.folder / "log.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        epochs = [line for line in lines if line["event"] == "epoch"]
        rows = table(self.folder / "results.csv")
        self.assertEqual([line["epoch"] for line in epochs], [1, 2, 3])
        for line, row in zip(epochs, rows):
            for tag, column in COLUMNS.items():
                self.assertAlmostEqual(line[tag], float(row[column]), delta=1e-6)
        steps = [line for line in lines if line["event"] == "step"]
        self.assertEqual(len(steps), len(table(self.folder / "steps.csv")))
        self.assertEqual([line["event"] for line in lines[len(epochs) + len(steps):]], ["test"])


class Resumed(Case):
    def test_a_resumed_run_has_every_step_once(self):
        # Broken off after the first epoch by asking for a stop as soon as its checkpoint is there.
        process = subprocess.Popen([*TRAIN, "--output", self.output, "--experiment", "a", "--batches-per-epoch", "800"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in process.stdout:
            if line.startswith("epoch 1/3"):
                break
        process.kill()
        process.communicate()
        folder = self.output / "a"
        subprocess.run([STOKER, "train", "--resume", folder], check=True, capture_output=True, timeout=300)
        files = sorted(folder.glob("events.out.tfevents.*"))
        self.assertEqual(len(files), 2)
        self.assertEqual([event.step for event in read_events(folder).Scalars("loss/val")],
                         [int(row["step"]) for row in table(folder / "results.csv")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
