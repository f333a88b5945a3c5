#!/usr/bin/env python3
"""Common mistakes, the command that makes each, and the exact words that the program has for it: docs/messages.md.

Run by ctest with the program's path as STOKER: every command is run and its words are compared with the page.
`messages_test.py --write` writes the page anew; read what changed. Needs Fashion-MNIST.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import zlib

from runs import Case

STOKER = os.environ["STOKER"]
SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGE = SOURCE / "docs" / "messages.md"
TRAIN = "stoker train --data fashion-mnist --model mlp:784,16,10"

# (what is wrong, command); files and folders are those of prepare().
MISTAKES = [
    ("a command that does not exist", "stoker trian --data fashion-mnist"),
    ("no data", "stoker train --model mlp:784,16,10"),
    ("weights of an unknown network", "stoker train fashion-mnist --pretrained unknown.safetensors"),
    ("a misspelt dataset", "stoker train --data fashon-mnist --model mlp:784,16,10"),
    ("a folder that is not there", "stoker train --data images/trian --model cnn:small"),
    ("a folder without images", "stoker train --data empty --model cnn:small --aa \"resize(32,32)\" --val-every 4"),
    ("a class folder in place of the data", "stoker train --data images/train/cat --model cnn:small --aa \"resize(32,32)\""),
    ("two ways to validate", f"{TRAIN} --val-every 6 --val-fraction 0.2"),
    ("a file that exists", "stoker preview fashion-mnist -o broken.yaml"),
    ("a corrupt image",
     "stoker train --data broken --model cnn:small --aa \"resize(32,32)\" --val-every 2 --epochs 1 --no-report"),
    ("validation data with another class folder",
     "stoker train --data images/train --val-data images/other --model cnn:small --aa \"resize(32,32)\""),
    ("a network that does not exist", "stoker train --data fashion-mnist --model resnet19"),
    ("a network for other data", "stoker train --data fashion-mnist --model mlp:100,16,10"),
    ("a misspelt flag", f"{TRAIN} --epoch 3"),
    ("words where a number belongs", f"{TRAIN} --epochs many"),
    ("no epochs", f"{TRAIN} --epochs 0"),
    ("an empty batch", f"{TRAIN} --batch-size 0"),
    ("too large a batch for the memory",
     "prlimit --as=6000000000 stoker train --data fashion-mnist --model cnn:small --batch-size 60000"),
    ("an optimiser that does not exist", f"{TRAIN} --opt sgdm"),
    ("a schedule that does not exist", f"{TRAIN} --sched cosin"),
    ("an operation that does not exist", f"{TRAIN} --aa \"rotat(-5,5)\""),
    ("an operation with a bracket missing", f"{TRAIN} --aa \"rotate(-5,5\""),
    ("an operation with too many numbers", f"{TRAIN} --aa \"rotate(-5,5,5)\""),
    ("a device that is not there", f"{TRAIN} --device cuda"),
    ("settings with a misspelt name", f"{TRAIN} --config misspelt.yaml"),
    ("settings that are no YAML", f"{TRAIN} --config broken.yaml"),
    ("a name that is taken", f"{TRAIN} --output runs --experiment done"),
    ("a run to resume that is not there", "stoker train --resume runs/gone"),
    ("other settings for a resumed run", "stoker train --resume runs/done --lr 0.5"),
    ("a folder that cannot be written", f"{TRAIN} --output /proc/runs"),
    ("a full disk", "stoker predict fashion-mnist --weights runs/done/weights/last.safetensors --out /dev/full"),
    ("weights that are not there", "stoker eval --data fashion-mnist --weights runs/done/weights/bset.safetensors"),
    ("weights that are no weights", "stoker eval --data fashion-mnist --weights runs/done/args.yaml"),
    ("weights cut short", "stoker eval --data fashion-mnist --weights short.safetensors"),
    ("weights for other data", "stoker eval --data images/train --weights runs/done/weights/last.safetensors"),
    ("freezing more than there is", f"{TRAIN} --freeze 9"),
    ("keeping features that change", f"{TRAIN} --features cached"),
    ("a report of no run", "stoker report images"),
    ("a column that is not there", "stoker plot runs/done/steps.csv -x step -y top2 -o p.png"),
    ("a sweep over nothing", "stoker sweep -- --data fashion-mnist"),
    ("a sweep over a misspelt list", "stoker sweep --vary workers:1,2 -- --data fashion-mnist"),
    ("a flag of timm that is not needed", f"{TRAIN} --num-classes 10"),
    ("a flag of timm that is part of the augmentation", f"{TRAIN} --hflip 0.5"),
    ("a flag of timm for a tracker", f"{TRAIN} --log-wandb"),
    ("stochastic depth of a network that has none", f"{TRAIN} --drop-path 0.1"),
    ("a setting of Ultralytics with a wrong value", "stoker train data=fashion-mnist imgsz=big"),
    ("an unknown value for mixed precision", f"{TRAIN} --amp maybe"),
    ("mixed precision where the network has none", f"{TRAIN} --amp"),
    ("label smoothing of more than 1", f"{TRAIN} --smoothing 1.5"),
    ("a learning rate below zero", f"{TRAIN} --lr -1"),
    ("an unknown recipe", "stoker train fashion-mnist --recipe fine-tune"),
    ("a fold without folds", f"{TRAIN} --fold 1"),
    ("more samples than there are", f"{TRAIN} --train-samples 100000"),
    ("an image that is not there", "stoker predict digit.png --weights runs/done"),
    ("a folder without weights", "stoker predict images/train --weights images"),
    ("predictions without a model", "stoker predict images/train"),
    ("a filter of predictions that cannot be read", "stoker predict fashion-mnist --weights runs/done --where p=high"),
    ("a doctor for a folder that is not there", "stoker doctor imagse"),
    ("an unknown value of a choice", "stoker doctor images/train --fail-on errors"),
    ("an export to an unknown format", "stoker export runs/done --out model.pb"),
    ("names of classes that are not UTF-8",
     "stoker export short.safetensors --model mobilenet_v2 --class-names latin1.txt --out model.onnx"),
    ("a comparison of one folder that is no run", "stoker compare images/train"),
    ("a run for a tracker that is no run", "stoker log images/train --to wandb"),
    ("shards without a place", "stoker shard images/train"),
]


def png(path, side, colour):
    """A grey square."""
    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
    rows = b"".join(b"\0" + bytes([colour]) * side for _ in range(side))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", side.to_bytes(4, "big") * 2 + b"\x08\0\0\0\0")
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def prepare(folder):
    for i in range(8):
        for part, names in (("train", ("cat", "dog")), ("other", ("cat", "dgo"))):
            for name in names:
                png(folder / "images" / part / name / f"{i}.png", 40 + i, 10 * i)
        for name in ("cat", "dog"):
            png(folder / "broken" / name / f"{i}.png", 40 + i, 10 * i)
    path = folder / "broken" / "dog" / "3.png"
    path.write_bytes(path.read_bytes()[:60])
    (folder / "empty" / "cat").mkdir(parents=True)
    (folder / "misspelt.yaml").write_text("epochs: 3\nbatchsize: 32\n")
    (folder / "broken.yaml").write_text("epochs: [3\n")
    (folder / "latin1.txt").write_text("pâté\nsoup\n", encoding="latin-1")
    subprocess.run([STOKER, *shlex.split(TRAIN)[1:], "--epochs", "1", "--batches-per-epoch", "5", "--output", "runs",
                    "--experiment", "done", "--no-report"], cwd=folder, check=True, capture_output=True, timeout=120)
    whole = (folder / "runs/done/weights/last.safetensors").read_bytes()
    (folder / "short.safetensors").write_bytes(whole[:-100])
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    (folder / "unknown.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))


def words_of(command, folder):
    words = [STOKER if word == "stoker" else word for word in shlex.split(command)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    for line in done.stderr.splitlines():
        if re.match(r"^(epoch|features) .*%", line):
            raise AssertionError(f"{command}: got as far as training")
    return done.returncode, done.stderr.strip().replace(str(folder.resolve()) + "/", "")


def page(folder):
    lines = ["# What the program says to common mistakes", "",
             "Every command below was run and printed this message; a test (`tests/messages_test.py`) runs them again.",
             "A message has this form: what failed, and on what. Expected X, got Y. What to do.", "",
             "Exit codes: 1 for a failure, 2 for wrong usage, 3 for a run that was stopped and can be resumed.", ""]
    for number, (wrong, command) in enumerate(MISTAKES, 1):
        code, words = words_of(command, folder)
        lines += [f"**{number}. {wrong[0].upper()}{wrong[1:]}** (exit code {code})", "", "```", f"$ {command}", words,
                  "```", ""]
    return "\n".join(lines)


def words_on_page():
    """(exit code, words) of every command."""
    blocks = re.findall(r"\(exit code (\d+)\)\n\n```\n\$ (.*)\n([^`]*(?:`[^`]+`[^`]*)*)\n```\n", PAGE.read_text(encoding="utf-8"))
    return {command: (int(code), words) for code, command, words in blocks}


class Messages(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.output.resolve()
        prepare(cls.folder)

    def test_every_mistake_is_an_error_with_the_words_of_the_page(self):
        said = words_on_page()
        self.assertGreaterEqual(len(MISTAKES), 60)
        for _, command in MISTAKES:
            with self.subTest(command):
                code, words = words_of(command, self.folder)
                self.assertIn(code, (1, 2))
                self.assertNotIn("report this", words)
                self.assertGreater(len(words), 20)
                self.assertEqual((code, words), said.get(command))


if __name__ == "__main__":
    if "--write" in sys.argv:
        with tempfile.TemporaryDirectory() as temporary:
            prepare(pathlib.Path(temporary).resolve())
            PAGE.write_text(page(pathlib.Path(temporary).resolve()), encoding="utf-8")
    else:
        unittest.main(verbosity=2)
