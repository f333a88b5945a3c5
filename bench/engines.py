#!/usr/bin/env python3
"""What a trained network costs in use: Stoker's engines beside ONNX Runtime, OpenVINO and PyTorch, run bare.

    bench/engines.py --batch 32 1 --precision float32 bfloat16 int8      one batch of 224x224 images that lies in memory
    bench/engines.py --files photos/                                     from JPEG files to probabilities

All sides compute the same network on all CPUs; interleaved rounds in one run, the median of each side's medians. OpenVINO runs
with both of its hints; the better one counts. In int8 all read the file that Stoker writes. From files, the others use
torchvision's transforms in a DataLoader with two workers. Needs onnxruntime, openvino and torch with torchvision (or timm) in
this Python. Exit status: 0 measured, 1 a side failed.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import results as figures

REPOSITORY = Path(__file__).resolve().parent.parent

# Prints images per second (the median of five timed parts after two steps), seconds to the first result, the largest memory in MB.
TIMED = """
import resource, statistics, sys, time
begin = time.perf_counter()
def report(step, batch, seconds):
    step()
    first = time.perf_counter() - begin
    step()
    speeds = []
    for _ in range(5):
        steps, start = 0, time.perf_counter()
        while steps == 0 or time.perf_counter() - start < seconds / 5:
            step(); steps += 1
        speeds.append(steps * batch / (time.perf_counter() - start))
    print(f"{statistics.median(speeds):.2f} {first:.2f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")
file, name, batch, precision, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5])
"""

ONNXRUNTIME = """
import numpy, onnxruntime, os
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = len(os.sched_getaffinity(0))
session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
"""
ONNXRUNTIME_STEP = """
images = numpy.random.default_rng(0).standard_normal((batch, 3, 224, 224), dtype=numpy.float32)
report(lambda: session.run(None, {name: images}), batch, seconds)
"""

OPENVINO = """
import numpy, openvino, os
core = openvino.Core()
model = core.read_model(file)
model.reshape([batch, 3, 224, 224])
compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": HINT,
    "INFERENCE_PRECISION_HINT": "bf16" if precision == "bfloat16" else "f32", "INFERENCE_NUM_THREADS": len(os.sched_getaffinity(0))})
"""
OPENVINO_STEP = """
requests = [compiled.create_infer_request() for _ in range(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))]
for request in requests:
    request.set_input_tensor(openvino.Tensor(numpy.random.default_rng(0).standard_normal((batch, 3, 224, 224), dtype=numpy.float32)))
def step():
    for request in requests: request.start_async()
    for request in requests: request.wait()
report(step, batch * len(requests), seconds)
"""

TORCH = """
import torch, contextlib
try:
    import torchvision
    model = getattr(torchvision.models, name)()
except AttributeError:
    import timm
    model = timm.create_model(name)
model = model.eval().to(memory_format=torch.channels_last)
if COMPILE:
    import torch._inductor.config
    torch._inductor.config.freezing = True
    model = torch.compile(model)
cast = torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()
"""
TORCH_STEP = """
images = torch.randn(batch, 3, 224, 224).contiguous(memory_format=torch.channels_last)
with torch.inference_mode(not COMPILE), torch.no_grad(), cast:
    report(lambda: model(images), batch, seconds)
"""

# From files: the last batch too, since a user has it.
LOADER = """
import torch.utils.data, torchvision.transforms as T
from pathlib import Path
from PIL import Image
class Photos(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.paths = sorted(Path(folder).iterdir())
        self.frame = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    def __len__(self): return len(self.paths)
    def __getitem__(self, i): return self.frame(Image.open(self.paths[i]).convert("RGB"))
photos = Photos(FOLDER)
def report_files(step):
    step(torch.zeros(batch, 3, 224, 224))
    start = time.perf_counter()
    for images in torch.utils.data.DataLoader(photos, batch, num_workers=2): step(images)
    print(f"{len(photos) / (time.perf_counter() - start):.2f}")
"""
FILES = {
    "onnxruntime": TIMED + ONNXRUNTIME + LOADER + "report_files(lambda x: session.run(None, {name: x.numpy()}))\n",
    "openvino": TIMED + OPENVINO.replace("HINT,", '"LATENCY",', 1).replace("[batch, 3", "[-1, 3") + LOADER +
    "report_files(lambda x: compiled(x.numpy()))\n",
    "torch eager": TIMED + TORCH.replace("COMPILE", "False") + LOADER +
    "with torch.inference_mode(), cast: report_files(lambda x: model(x.contiguous(memory_format=torch.channels_last)))\n",
}

PEERS = {
    "onnxruntime": TIMED + ONNXRUNTIME + ONNXRUNTIME_STEP,
    "openvino latency": TIMED + OPENVINO.replace("HINT,", '"LATENCY",', 1) + OPENVINO_STEP,
    "openvino throughput": TIMED + OPENVINO.replace("HINT,", '"THROUGHPUT",', 1) + OPENVINO_STEP,
    "torch eager": TIMED + (TORCH + TORCH_STEP).replace("COMPILE", "False"),
    "torch compile": TIMED + (TORCH + TORCH_STEP).replace("COMPILE", "True"),
}
OURS = ("libtorch", "openvino", "onnxruntime", "training")


def can_compute(side, precision):
    engine = side.split()[-1] if side.startswith("stoker") else side.split()[0]
    if precision == "bfloat16":
        return engine != "onnxruntime"
    return precision == "float32" or engine not in ("training", "torch")


def output_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr[-3000:]}")
    return done.stdout + done.stderr


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("networks", nargs="*", default=["mobilenet_v2", "resnet18", "resnet50", "vit_small_patch16_224"])
    add("--step", type=Path, default=REPOSITORY / "build/release/bench/engine_step")
    add("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    add("--files", type=Path, help="a folder of photographs: from files to probabilities")
    add("--batch", type=int, nargs="+", default=[32, 1])
    add("--precision", nargs="+", default=["float32", "bfloat16", "int8"])
    add("--seconds", type=float, default=3, help="timed part of a side per round (3)")
    add("--rounds", type=int, default=3)
    add("--without", nargs="*", default=[], help="sides to leave out")
    add("--json", type=Path, help="add the figures to this file, such as bench/results/engines.json")
    return parser.parse_args()


def main():
    options = parse_arguments()
    results = []
    with tempfile.TemporaryDirectory(prefix="engines-") as scratch:
        for name in options.networks:
            if options.files:
                results.append(measure_files(options, Path(scratch), name))
                print(results[-1], flush=True)
                continue
            for batch in options.batch:
                for precision in options.precision:
                    results.append(measure(options, Path(scratch), name, batch, precision))
                    print(results[-1], flush=True)
    print_table(options, results)
    if options.json:
        figures.append(options.json, results)


def network_file(options, scratch, name, kind):
    file = scratch / f"{name}-{kind}.{'safetensors' if kind == 'model' else 'onnx'}"
    if not file.exists():
        output_of([options.step, name, kind, file])
    return file


def measure(options, scratch, name, batch, precision):
    file = network_file(options, scratch, name, "onnx-int8" if precision == "int8" else "onnx")
    sides = [f"stoker {engine}" for engine in OURS] + list(PEERS)
    sides = [side for side in sides if side not in options.without and can_compute(side, precision)]
    figures = {side: [] for side in sides}
    for _ in range(options.rounds):
        for side in sides:
            if side in PEERS:
                command = [sys.executable, "-c", PEERS[side], file, name, batch, precision, options.seconds]
            else:
                command = [options.step, name, batch, side.split()[1], precision, options.seconds]
            figures[side].append([float(word) for word in output_of(command).split()[:3]])
    medians = {side: [statistics.median(column) for column in zip(*rows)] for side, rows in figures.items()}
    return {"network": name, "batch": batch, "precision": precision, "speeds": {side: row[0] for side, row in medians.items()},
            "first": {side: row[1] for side, row in medians.items()}, "memory": {side: row[2] for side, row in medians.items()}}


def measure_files(options, scratch, name):
    """With what each of our engines does from memory, and decoding alone, for the speed that both together allow."""
    network, model = network_file(options, scratch, name, "onnx"), network_file(options, scratch, name, "model")
    engines = [engine for engine in OURS if engine != "training" and f"stoker {engine}" not in options.without]
    sides = {f"stoker {engine}": [] for engine in engines} | {side: [] for side in FILES if side not in options.without}
    sides |= {"decoding": []} | {f"memory {engine}": [] for engine in engines}
    for _ in range(options.rounds):
        for side, speeds in sides.items():
            if side == "decoding":
                text = output_of([options.stoker, "bench", "feed", "--data", options.files, "--aa", "resize_crop(256,224)", "--workers", 2])
                speed = re.search(r"speed +([\d.]+)", text.replace(",", "")).group(1)
            elif side.startswith("memory"):
                speed = output_of([options.step, name, 32, side.split()[1], "float32", options.seconds]).split()[0]
            elif side.startswith("stoker"):
                out = scratch / "p.csv"
                out.unlink(missing_ok=True)
                text = output_of([options.stoker, "predict", options.files, "--weights", model, "--engine", side.split()[1], "--out", out])
                speed = re.search(r"\(([\d.]+) images/s\)", text).group(1)
            else:
                script = FILES[side].replace("FOLDER", repr(str(options.files)))
                speed = output_of([sys.executable, "-c", script, network, name, 32, "float32", 1]).split()[0]
            speeds.append(float(speed))
    return {"network": name, "speeds": {side: statistics.median(speeds) for side, speeds in sides.items()}}


def print_table(options, results):
    """Images per second, and how near the best of ours comes to the best of the others, or to what decoding leaves."""
    sides = list(dict.fromkeys(side for row in results for side in row["speeds"]))
    keys = ["network"] if options.files else ["network", "batch", "precision"]
    print("\n| " + " | ".join([*keys, *sides, "part of the limit" if options.files else "ours / best other"]) + " |")
    print("|---" * (len(keys) + len(sides) + 1) + "|")
    for row in results:
        speeds = row["speeds"]
        if options.files:
            limits = {side: 1 / (1 / speeds[f"memory {side.split()[1]}"] + 1 / speeds["decoding"]) for side in speeds if side.startswith("stoker")}
            ratio = ", ".join(f"{side.split()[1]} {speeds[side] / limit:.2f}" for side, limit in limits.items())
        else:
            others = max((speed for side, speed in speeds.items() if side in PEERS), default=float("nan"))
            ratio = f"{max(speed for side, speed in speeds.items() if side.startswith('stoker')) / others:.2f}"
        print("| " + " | ".join([*(str(row[key]) for key in keys), *(f"{speeds[side]:.0f}" if side in speeds else "" for side in sides), ratio]) + " |")


if __name__ == "__main__":
    main()
