#!/usr/bin/env python3
"""Six ways of use, as scripts: the commands that people typed who had read the README alone, and what each should answer.

A command that ends otherwise, or does not say what it should, is a stumble. `users_test.py --count` prints the stumbles of
the program that STOKER names, also an older one; as a test (ctest) at most 5 of all are allowed, and each is listed.
Needs Fashion-MNIST (Debian's dataset-fashion-mnist).
"""

import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from helpers import catches, png

STOKER = os.environ["STOKER"]
MOST_STUMBLES = 5
SMALL = "--train-samples 600 --epochs 1"
SMALLER = f"{SMALL} --model cnn:4"  # validates and tests 16,000 images soon

# For each user: (command, exit code, what the answer contains). Files are those of prepare().
USERS = {
    "student": [
        ("stoker", 2, "--help"),
        ("stoker help", 0, "train"),
        ("stoker help train", 0, "--epochs"),
        (f"stoker train fashion-mnist {SMALL}", 0, "network"),
        ("stoker predict shirt.png --weights runs/fashion-mnist-cnn", 0, "shirt.png"),
        ("stoker preview runs/fashion-mnist-cnn", 0, "png"),
        ("stoker eval fashion-mnist --weights runs/fashion-mnist-cnn", 0, "top-1"),
        ("stoker train --resume runs/fashion-mnist-cnn", 0, "finished"),
        (f"stoker train fashion-mnist {SMALLER} --sched constant --experiment longer", 0, ""),
        ("stoker train --resume runs/longer --epochs 2", 0, ""),
        ("stoker compare runs/fashion-mnist-cnn runs/longer", 0, "comparison.html"),
        ("stoker train fashion-mnist --epochs 0", 2, "--epochs must be at least 1 (got 0)"),
        ("stoker trian fashion-mnist", 2, "Did you mean train?"),
    ],
    "industrial engineer": [
        ("stoker doctor parts", 0, "doctor-parts"),
        ("stoker train parts --img-size 32 --model cnn:8,16 --epochs 2", 0, "report"),
        ("stoker predict new --weights runs/parts-cnn --out rows.csv", 0, "rows.csv"),
        ("stoker predict new --weights runs/parts-cnn --out rows.csv", 1, "--force"),
        ("stoker predict new --weights runs/parts-cnn --out rows.csv --force", 0, "rows.csv"),
        ("stoker export runs/parts-cnn --out model.onnx", 0, "model.onnx"),
        ("stoker export runs/parts-cnn --out model.onnx", 1, "--force"),
        ("stoker info runs/parts-cnn", 0, "stoker.architecture"),
        ("stoker info model.onnx", 0, ""),
        ("stoker doctor parts --weights runs/parts-cnn --out check", 0, "doubted"),
        ("stoker eval parts --weights runs/parts-cnn --top-losses losses.png", 0, "top-1"),
        ("stoker train parts --img-size 32 --model cnn:8,16 --epochs 1 --device cuda", 1, "--device cpu"),
    ],
    "timm user": [
        ("stoker train --data-dir parts --model resnet18 --img-size 32 --epochs 1 -b 8 --opt AdamW --lr 1e-3 --wd 0.05 --experiment a",
         0, "resnet18"),
        ("stoker train parts --model resnet18 --img-size 32 --epochs 1 --batch_size 8 --learning-rate 0.01 --ema --experiment b", 0, ""),
        ("stoker train parts --model resnet18 --num-classes 2", 2, "follows from the data"),
        ("stoker train parts --model resnet18 --in-chans 3", 2, "follows from the data"),
        ("stoker train parts --model resnet18 --drop-path 0.1", 2, "stochastic depth"),
        ("stoker train parts --model resnet18 --torchcompile", 2, "not compiled"),
        ("stoker train parts --model resnet18 --log-wandb", 2, "stoker log"),
        ("stoker train parts --model resnet18 --hflip 0.5", 2, "hflip(0.5)"),
        ("stoker train parts --model resnet18 --reprob 0.25", 2, "erase"),
        ("stoker train parts --model resnet18 --aa rand-m9-mstd0.5-inc1", 2, "randaugment(2,9,0.5)"),
        ("stoker train parts --initial-checkpoint nothing.pth", 1, "nothing.pth"),
        ("stoker train parts --model resnet18 --amp auto --img-size 32 --epochs 1 -b 8 --experiment c", 0, "because"),
    ],
    "Ultralytics user": [
        ("stoker train data=parts imgsz=32 epochs=1 batch=8 model=cnn:8 name=ultra", 0, ""),
        ("stoker predict source=new model=cnn:8", 2, "--weights"),
        ("stoker predict source=new --weights runs/ultra", 0, "new"),
        ("stoker train data=parts imgsz=32 fliplr=0.5", 2, "hflip"),
        ("stoker train data=parts imgsz=big", 2, "got \"big\""),
        ("stoker train data=parts imgsz=32 optimizer=AdamW lr0=0.001 epochs=1 model=cnn:8 project=out", 0, ""),
    ],
    "HPC user": [
        (f"stoker train fashion-mnist {SMALLER} --experiment job --resume auto", 0, ""),
        (f"stoker train fashion-mnist {SMALLER} --experiment job --resume auto", 0, "finished"),
        ("TERM stoker train fashion-mnist --model cnn:4 --epochs 50 --experiment stopped --metrics-file job.prom", 3, "--resume runs/stopped"),
        (f"stoker sweep --vary lr=0.1,0.01 --output swept -- --data fashion-mnist --model mlp:784,16,10 {SMALL}", 0, "sweep"),
        ("INT stoker predict fashion-mnist --split train --weights runs/job --out all.csv", 3, "no file was written"),
        ("stoker train fashion-mnist --rank 1 --world-size 2 --timeout 5", 1, "did not meet"),
        ("stoker devices", 0, "cpu"),
    ],
    "PyTorch user": [
        ("stoker export runs/parts-cnn --out model.pth", 0, "model.pth"),
        ("stoker info model.pth", 0, ""),
        ("stoker train parts --model resnet --img-size 32", 2, "resnet18"),
        ("stoker train parts --model cnn:8 --img-size 32 --epochs 1 --num_workers 2 --optimizer sgd --experiment torch", 0, ""),
        ("stoker train parts --model cnn:8 --optimizer Lamb", 2, "adamw"),
        ("stoker train no/such/folder", 1, "no/such/folder"),
        ("stoker train parts --lr_scheduler cosine --model cnn:8 --img-size 32 --epochs 1 --experiment cosine", 0, ""),
        ("stoker eval parts --weights runs/torch --json", 0, "top1"),
        ("stoker log runs/torch --to wandb", 1, "pip install wandb"),
    ],
    "owner of a table": [
        ("stoker train labels.tsv --val-fraction 0.25 --img-size 32 --model cnn:8 --epochs 1 --experiment table", 0, ""),
        ("stoker predict labels.tsv --weights runs/table --out table.csv", 0, "table.csv"),
        ("stoker train labels.csv --val-fraction 0.25 --img-size 32 --model cnn:8 --epochs 1 --experiment csv", 0, ""),
        ("stoker doctor labels.tsv", 0, ""),
        ("stoker split parts --fraction 0.25 --out split", 0, ""),
        ("stoker train broken.tsv --img-size 32 --model cnn:8", 1, "line 2"),
    ],
}


def prepare(folder):
    png(folder / "shirt.png", 40, 60, lambda x, y: 200 if 8 < x < 32 else 0)
    lines = []
    for kind, stripe in (("bolt", 3), ("nut", 7)):
        for i in range(24):
            png(folder / "parts" / kind / f"{i}.png", 40 + i, 48, lambda x, y, s=stripe, i=i: 60 + 3 * i if (x + i) // s % 2 else 200 - i)
            lines.append((f"parts/{kind}/{i}.png", kind))
    for i in range(4):
        png(folder / "new" / f"{i}.png", 50, 50, lambda x, y, i=i: 90 + i if x // 5 % 2 else 190)
    (folder / "labels.tsv").write_text("".join(f"{path}\t{kind}\n" for path, kind in lines), encoding="utf-8")
    (folder / "labels.csv").write_text("path,label\n" + "".join(f"{path},{kind}\n" for path, kind in lines), encoding="utf-8")
    (folder / "broken.tsv").write_text("parts/bolt/0.png\tbolt\nparts/bolt/gone.png\tbolt\n", encoding="utf-8")


def stop_soon(process, which):
    """Sends the signal once the program has a handler for it and has begun to work."""
    number = {"TERM": signal.SIGTERM, "INT": signal.SIGINT}[which]
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if catches(process.pid, number):
            process.send_signal(number)
            return
        time.sleep(0.005)


def answer(command, folder):
    which, _, rest = command.partition(" ")
    words = shlex.split(rest if which in ("TERM", "INT") else command)
    process = subprocess.Popen([STOKER, *words[1:]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    if which in ("TERM", "INT"):
        stop_soon(process, which)
    try:
        said = process.communicate(timeout=120)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return -1, "still running after 120 s"
    return process.returncode, said


def stumbles(folder):
    """(user, command, what happened)"""
    for user, commands in USERS.items():
        for command, code, contains in commands:
            found, said = answer(command, folder)
            if found != code or contains not in said:
                last = said.strip().splitlines()[-1] if said.strip() else "(nothing)"
                yield user, command, f"exit code {found}, not {code}: {last}" if found != code else f"no \"{contains}\" in: {last}"


def count():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prepare(folder)
        found = list(stumbles(folder))
    for user, command, what in found:
        print(f"{user}: {command}\n    {what[:300]}")
    print(f"{len(found)} stumbles in {sum(map(len, USERS.values()))} commands")
    return found


class Users(unittest.TestCase):
    def test_they_hardly_stumble(self):
        found = count()
        self.assertLessEqual(len(found), MOST_STUMBLES)


if __name__ == "__main__":
    if "--count" in sys.argv:
        count()
    else:
        unittest.main(verbosity=2)
