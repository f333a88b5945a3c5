#!/usr/bin/env python3
"""What a trained network costs in use: Stoker's engines beside ONNX Runtime, OpenVINO and PyTorch, run bare.

All sides compute the same network on one batch of 224x224 images that lies in memory, on all CPUs; interleaved rounds in one
run, the median of each side's medians. OpenVINO runs with both of its hints; the better one counts. Needs onnxruntime,
openvino and torch with torchvision (or timm) in this Python. Exit status: 0 measured, 1 a side failed.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

# Prints images per second: the median of five timed parts after two steps.
TIMED = """
import statistics, sys, time
def report(step, batch, seconds):
    step(); step()
    speeds = []
    for _ in range(5):
        steps, start = 0, time.perf_counter()
        while steps == 0 or time.perf_counter() - start < seconds / 5:
            step(); steps += 1
        speeds.append(steps * batch / (time.perf_counter() - start))
    print(f"{statistics.median(speeds):.2f}")
file, name, batch, precision, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[5])
"""

ONNXRUNTIME = TIMED + """
import numpy, onnxruntime, os
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = len(os.sched_getaffinity(0))
session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
images = numpy.random.default_rng(0).standard_normal((batch, 3, 224, 224), dtype=numpy.float32)
name = session.get_inputs()[0].name
report(lambda: session.run(None, {name: images}), batch, seconds)
"""

OPENVINO = TIMED + """
import numpy, openvino, os
core = openvino.Core()
model = core.read_model(file)
model.reshape([batch, 3, 224, 224])
compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": HINT, "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[precision],
                                             "INFERENCE_NUM_THREADS": len(os.sched_getaffinity(0))})
requests = [compiled.create_infer_request() for _ in range(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))]
for request in requests:
    request.set_input_tensor(openvino.Tensor(numpy.random.default_rng(0).standard_normal((batch, 3, 224, 224), dtype=numpy.float32)))
def step():
    for request in requests: request.start_async()
    for request in requests: request.wait()
report(step, batch * len(requests), seconds)
"""

TORCH = TIMED + """
import torch, contextlib
try:
    import torchvision
    model = getattr(torchvision.models, name)()
except AttributeError:
    import timm
    model = timm.create_model(name)
model = model.eval().to(memory_format=torch.channels_last)
images = torch.randn(batch, 3, 224, 224).contiguous(memory_format=torch.channels_last)
if COMPILE:
    import torch._inductor.config
    torch._inductor.config.freezing = True
    model = torch.compile(model)
cast = torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()
with torch.inference_mode(not COMPILE), torch.no_grad(), cast:
    report(lambda: model(images), batch, seconds)
"""

PEERS = {
    "onnxruntime": ONNXRUNTIME,
    "openvino latency": OPENVINO.replace("HINT,", '"LATENCY",', 1),
    "openvino throughput": OPENVINO.replace("HINT,", '"THROUGHPUT",', 1),
    "torch eager": TORCH.replace("COMPILE", "False"),
    "torch compile": TORCH.replace("COMPILE", "True"),
}
OURS = ("libtorch", "openvino", "training")


def output_of(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr[-3000:]}")
    return done.stdout


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("networks", nargs="*", default=["mobilenet_v2", "resnet18", "resnet50", "vit_small_patch16_224"])
    add("--step", type=Path, default=REPOSITORY / "build/release/bench/engine_step")
    add("--batch", type=int, nargs="+", default=[32, 1])
    add("--precision", nargs="+", default=["float32", "bfloat16"])
    add("--seconds", type=float, default=3, help="timed part of a side per round (3)")
    add("--rounds", type=int, default=3)
    add("--without", nargs="*", default=[], help="sides to leave out")
    add("--json", type=Path)
    return parser.parse_args()


def main():
    options = parse_arguments()
    results = []
    with tempfile.TemporaryDirectory(prefix="engines-") as scratch:
        for name in options.networks:
            file = Path(scratch, f"{name}.onnx")
            output_of([options.step, name, "onnx", file])
            for batch in options.batch:
                for precision in options.precision:
                    results.append(measure(options, file, name, batch, precision))
                    print(results[-1], flush=True)
    print_table(results)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def measure(options, file, name, batch, precision):
    sides = [f"stoker {engine}" for engine in OURS] + list(PEERS)
    sides = [side for side in sides if side not in options.without and not (side == "onnxruntime" and precision != "float32")]
    speeds = {side: [] for side in sides}
    for _ in range(options.rounds):
        for side in sides:
            words = [batch, precision, options.seconds]
            if side in PEERS:
                command = [sys.executable, "-c", PEERS[side], file, name, *words]
            else:
                command = [options.step, name, batch, side.split()[1], precision, options.seconds]
            speeds[side].append(float(output_of(command).split()[0]))
    return {"network": name, "batch": batch, "precision": precision} | {side: statistics.median(all) for side, all in speeds.items()}


def print_table(results):
    """Images per second, and how near the best of ours comes to the best of the others."""
    sides = [side for side in (*(f"stoker {engine}" for engine in OURS), *PEERS) if any(side in row for row in results)]
    print("\n| network | batch | precision | " + " | ".join(sides) + " | ours / best other |")
    print("|---|---|---|" + "---|" * (len(sides) + 1))
    for row in results:
        others = max((row[side] for side in PEERS if side in row), default=float("nan"))
        ours = max(row[side] for side in row if side.startswith("stoker"))
        figures = [f"{row[side]:.0f}" if side in row else "" for side in sides]
        print(f"| {row['network']} | {row['batch']} | {row['precision']} | " + " | ".join(figures) + f" | {ours / others:.2f} |")


if __name__ == "__main__":
    main()
