#!/usr/bin/env python3
"""The course project's training on the plates: Stoker beside Python torchvision, like for like, one row per shortcut.

The document's code: ResNet-18 (or MobileNetV2) with everything frozen but its last layer, model.train() for the whole
network in the train phase (batch norms normalise by the batch and move their running statistics), batches of 8, Adam
with 1e-3, StepLR(7) whose step() stands at the beginning of each train phase, every 6th image to validation, nothing
kept between epochs. Then shortcuts, each on top of those before it, on both sides: frozen batch norms; features of
validation images computed once; features of 10 views of each training image computed once. The first row has Python
with 8 loader workers (the document's), with 2 and with none; the others have it with --shortcut-workers. Interleaved
rounds in one run, medians. The time is that of training: Python's from before its first epoch to after its last (kept
features included), Stoker's the "time" that it prints, which holds reading the data and drawing the report too.
The test images have no labels: Stoker's predictions for them are compared with Python's for the same weights.
Exit status: 0 measured, 1 a side failed.
"""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

PYTHON = """
import json, pathlib, sys, time
import torch, torchvision
from torchvision import transforms
plates, weights, model_name = sys.argv[1:4]
epochs, workers, shortcuts = (int(word) for word in sys.argv[4:7])
frozen_norms, kept_validation, kept_training = shortcuts >= 1, shortcuts >= 2, shortcuts >= 3
torch.manual_seed(0)
normalise = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
train = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalise])
plain = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor(), normalise])
class Files(torch.utils.data.Dataset):
    def __init__(self, files, change): self.files, self.change = files, change
    def __len__(self): return len(self.files)
    def __getitem__(self, i):
        path, label = self.files[i]
        return self.change(torchvision.datasets.folder.default_loader(path)), label
files = {"train": [], "val": []}
for label, name in enumerate(("cleaned", "dirty")):
    for i, path in enumerate(sorted(pathlib.Path(plates, "train", name).iterdir())):
        files["train" if i % 6 else "val"].append((str(path), label))
def loader(phase):
    return torch.utils.data.DataLoader(Files(files[phase], train if phase == "train" else plain), batch_size=8, shuffle=True, num_workers=workers)
def batches(samples):
    return torch.utils.data.DataLoader(samples, batch_size=8, shuffle=True)
model = getattr(torchvision.models, model_name)()
if weights.endswith(".safetensors"):
    from safetensors.torch import load_file
    model.load_state_dict(load_file(weights))
else:
    model.load_state_dict(torch.load(weights, weights_only=True))
for parameter in model.parameters():
    parameter.requires_grad = False
is_resnet = model_name.startswith("resnet")
head = torch.nn.Linear(model.fc.in_features if is_resnet else model.classifier[1].in_features, 2)
if is_resnet:
    model.fc = torch.nn.Identity()
else:
    head = torch.nn.Sequential(model.classifier[0], head)  # its dropout
    model.classifier = torch.nn.Identity()
@torch.no_grad()
def kept(phase):
    model.eval()
    return [(feature, label) for images, labels in loader(phase) for feature, label in zip(model(images), labels)]
loss_of = torch.nn.CrossEntropyLoss()
optimiser = torch.optim.Adam(head.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimiser, step_size=7, gamma=0.1)
best, begin = 0, time.perf_counter()
views = [kept("train") for _ in range(min(10, epochs))] if kept_training else []
validation = kept("val") if kept_validation else None
loaders = {phase: loader(phase) for phase in files}
for epoch in range(epochs):
    for phase in ("train", "val"):
        if phase == "train":
            scheduler.step()
        model.train(phase == "train" and not frozen_norms)
        head.train(phase == "train")
        is_kept = kept_training if phase == "train" else kept_validation
        source = loaders[phase] if not is_kept else batches(views[epoch % len(views)] if phase == "train" else validation)
        right = 0
        for inputs, labels in source:
            optimiser.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = head(inputs if is_kept else model(inputs))
                loss = loss_of(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimiser.step()
            right += int((outputs.argmax(1) == labels).sum())
        if phase == "val":
            best = max(best, right)
print(json.dumps({"seconds": time.perf_counter() - begin, "best": best, "last": right}))
"""

# Each on top of those before it.
SHORTCUTS = (("none: the document's code", []),
             ("frozen norms", ["--freeze-norms", "--val-features", "fresh"]),
             ("+ cached validation features", ["--freeze-norms"]),
             ("+ cached training features", ["--freeze-norms", "--features", "cached"]))


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def python_side(options, workers, shortcuts):
    command = [sys.executable, "-c", PYTHON, str(options.plates), str(options.weights), options.model, str(options.epochs),
               str(workers), str(shortcuts)]
    return json.loads(output_of(command))


def stoker_side(options, extra, scratch):
    command = [str(options.stoker), "train", "--data", str(options.plates), "--recipe", "plates", "--model", options.model,
               "--pretrained", str(options.weights), "--epochs", str(options.epochs), "--output", scratch, *extra]
    text = output_of(command)
    folder = re.search(r"run +(\S+)", text).group(1)
    with open(Path(folder, "results.csv"), encoding="utf-8") as file:
        accuracies = [round(8 * float(row["val_top1"])) for row in csv.DictReader(file)]
    seconds = float(re.search(r"time +([0-9.]+) s", text).group(1))
    return {"seconds": seconds, "best": max(accuracies), "last": accuracies[-1], "folder": folder}


AGREEMENT = """
import csv, json, pathlib, sys
import torch, torchvision
from safetensors.torch import load_file
from torchvision import transforms
model_name, weights, predictions = sys.argv[1:]
plain = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor(),
                            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
model = getattr(torchvision.models, model_name)(num_classes=2)
model.load_state_dict(load_file(weights))
model.eval()
same, most, count = 0, 0.0, 0
with open(predictions, encoding="utf-8") as file, torch.inference_mode():
    for row in csv.DictReader(file):
        image = plain(torchvision.datasets.folder.default_loader(row["sample"]))
        shares = model(image[None]).softmax(1)[0].tolist()
        same += row["class"] == ("cleaned", "dirty")[shares[1] > shares[0]]
        most = max(most, abs(shares[0] - float(row["cleaned"])))
        count += 1
print(json.dumps({"images": count, "same": same, "largest difference": most}))
"""


def agreement(options, folder):
    """How many of the test images get the same class from both, with the weights of this run."""
    weights = Path(folder, "weights", "last.safetensors")
    out = Path(folder, "test.csv")
    output_of([str(options.stoker), "predict", str(options.plates / "test"), "--weights", str(weights), "--out", str(out), "--force"])
    return json.loads(output_of([sys.executable, "-c", AGREEMENT, options.model, str(weights), str(out)]))


def main():
    data = Path(os.environ.get("STOKER_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    parser.add_argument("--plates", type=Path, default=data / "plates")
    parser.add_argument("--weights", type=Path, default=data / "weights/resnet18_imagenet1k_v1_reconstructed.safetensors")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python-workers", default="8,2,0", help="of the document's code, e.g. 8,2,0")
    parser.add_argument("--shortcut-workers", type=int, default=0, help="of Python in the other rows")
    options = parser.parse_args()
    sides = {}  # (shortcut, who): what runs it
    for number, (_, flags) in enumerate(SHORTCUTS):
        counts = [int(n) for n in options.python_workers.split(",")] if number == 0 else [options.shortcut_workers]
        for count in counts:
            sides[number, f"Python, {count} workers"] = lambda scratch, n=number, c=count: python_side(options, c, n)
        sides[number, "Stoker"] = lambda scratch, f=flags: stoker_side(options, f, scratch)
    results = {key: [] for key in sides}
    with tempfile.TemporaryDirectory(prefix="plates-") as scratch:
        for _ in range(options.rounds):
            for key, side in sides.items():
                results[key].append(side(scratch))
                print(f"{SHORTCUTS[key[0]][0]:30} {key[1]:18} {results[key][-1]}", flush=True)
        print("test images:", agreement(options, results[0, "Stoker"][-1]["folder"]))
    print(f"\n{options.model}, {options.epochs} epochs, medians of {options.rounds}\n")
    print("| shortcuts | program | seconds | best of 8 | last |\n|---|---|---|---|---|")
    for (number, who), runs in results.items():
        seconds = statistics.median(run["seconds"] for run in runs)
        print(f"| {SHORTCUTS[number][0]} | {who} | {seconds:.1f} | {runs[0]['best']} | {runs[0]['last']} |")


if __name__ == "__main__":
    main()
