"""A network that was trained for a moment on small images, and what `stoker predict` says of them."""

import csv
import io
import subprocess

import helpers


def program(stoker, *words):
    done = subprocess.run([str(stoker), *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class SmallRun:
    """`weights`, `images` (paths), and for each path the probabilities of the classes x and y."""

    def __init__(self, stoker, folder):
        for number in range(12):
            helpers.png(folder / "data/x" / f"{number}.png", 30, 24, lambda x, y, n=number: 5 * x + n)
            helpers.png(folder / "data/y" / f"{number}.png", 24, 30, lambda x, y, n=number: 250 - 6 * y - n)
        program(stoker, "train", folder / "data", "--model", "cnn:4,8", "--epochs", "1", "--batch-size", "8", "--aa", "resize_crop(20,16)",
                "--val-fraction", "0.25", "--output", folder / "runs", "--no-report", "--threads", "1", "--workers", "1")
        self.weights = next((folder / "runs").rglob("best.safetensors"))
        self.images = sorted((folder / "data").rglob("*.png"))
        text = program(stoker, "predict", folder / "data", "--weights", self.weights, "--batch-size", "1", "--topk", "2", "--format", "csv")
        self.said = {}
        for row in csv.reader(io.StringIO(text)):
            if row[0].endswith(".png"):
                named = {row[i]: float(row[i + 1]) for i in range(len(row) - 1) if row[i] in ("x", "y")}
                self.said[row[0]] = [named["x"], named["y"]]
        assert len(self.said) == len(self.images), text
