#!/usr/bin/env python3
"""The course project's training on the plates: Stoker beside Python torchvision, the same recipe and weights.

ResNet-18 (or MobileNetV2) with everything frozen but its last layer, batches of 8, Adam with 1e-3, the rate times 0.1 every 7 epochs, every 6th picture
to validation. The test pictures have no labels: Stoker's predictions for them are compared with Python's for the same weights. Python with the document's 8 loader workers, with 2 and with none, each with the threads PyTorch takes by itself; Stoker as it is and with
--features cached. Interleaved rounds in one run, medians. The time is that of training: Python's from before its first epoch to after its last, Stoker's the
"time" that it prints, which holds reading the data and drawing the reports too.
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
import copy, json, pathlib, sys, time
import torch, torchvision
from torchvision import transforms
plates, weights, model_name, epochs, workers = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
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
loaders = {phase: torch.utils.data.DataLoader(Files(files[phase], train if phase == "train" else plain), batch_size=8, shuffle=True,
                                              num_workers=workers) for phase in files}
model = getattr(torchvision.models, model_name)()
if weights.endswith(".safetensors"):
    from safetensors.torch import load_file
    model.load_state_dict(load_file(weights))
else:
    model.load_state_dict(torch.load(weights, weights_only=True))
for parameter in model.parameters():
    parameter.requires_grad = False
if model_name.startswith("resnet"):
    model.fc = torch.nn.Linear(model.fc.in_features, 2)
else:
    model.classifier[1] = torch.nn.Linear(model.classifier[1].in_features, 2)
loss_of = torch.nn.CrossEntropyLoss()
optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimiser, step_size=7, gamma=0.1)
best, begin = 0, time.perf_counter()
for epoch in range(epochs):
    for phase in ("train", "val"):
        model.train(phase == "train")
        right = 0
        for pictures, labels in loaders[phase]:
            optimiser.zero_grad()
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(pictures)
                loss = loss_of(outputs, labels)
                if phase == "train":
                    loss.backward()
                    optimiser.step()
            right += int((outputs.argmax(1) == labels).sum())
        if phase == "train":
            scheduler.step()
        elif right >= best:
            best = right
print(json.dumps({"seconds": time.perf_counter() - begin, "best": best, "last": right}))
"""


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def python_side(options, workers):
    command = [sys.executable, "-c", PYTHON, str(options.plates), str(options.weights), options.model, str(options.epochs),
               str(workers)]
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
        picture = plain(torchvision.datasets.folder.default_loader(row["sample"]))
        shares = model(picture[None]).softmax(1)[0].tolist()
        same += row["class"] == ("cleaned", "dirty")[shares[1] > shares[0]]
        most = max(most, abs(shares[0] - float(row["cleaned"])))
        count += 1
print(json.dumps({"pictures": count, "same": same, "largest difference": most}))
"""


def agreement(options, folder):
    """How many of the test pictures get the same class from both, with the weights of this run."""
    weights = Path(folder, "weights", "last.safetensors")
    out = Path(folder, "test.csv")
    output_of([str(options.stoker), "predict", str(options.plates / "test"), "--weights", str(weights), "--out", str(out)])
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
    parser.add_argument("--without", default="", help="sides to leave out, by number, e.g. 0,1")
    options = parser.parse_args()
    sides = {"Python, 8 workers": lambda scratch: python_side(options, 8),
             "Python, 2 workers": lambda scratch: python_side(options, 2),
             "Python, no workers": lambda scratch: python_side(options, 0),
             "Stoker": lambda scratch: stoker_side(options, [], scratch),
             "Stoker, cached": lambda scratch: stoker_side(options, ["--features", "cached"], scratch)}
    for number in sorted((int(n) for n in options.without.split(",") if n), reverse=True):
        sides.pop(list(sides)[number])
    results = {name: [] for name in sides}
    with tempfile.TemporaryDirectory(prefix="plates-") as scratch:
        for _ in range(options.rounds):
            for name, side in sides.items():
                results[name].append(side(scratch))
                print(f"{name:20} {results[name][-1]}", flush=True)
        if "Stoker" in results:
            print("test pictures:", agreement(options, results["Stoker"][-1]["folder"]))
    print(f"{'':20} {'seconds':>8} {'best of 8':>10} {'last':>5}")
    for name, runs in results.items():
        print(f"{name:20} {statistics.median(r['seconds'] for r in runs):8.1f} {runs[0]['best']:10} {runs[0]['last']:5}")


if __name__ == "__main__":
    main()
