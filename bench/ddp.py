#!/usr/bin/env python3
"""A training step of ResNet-18 at 224x224 on several ranks, one thread each: Stoker beside Python's DistributedDataParallel.

Both are launched by the same torchrun, compute on one batch that lies in memory, with momentum, channels last, Gloo; interleaved
rounds in one run, each round in another order, the median of each side's medians. Needs a Python with torch and torchvision and
their torchrun: run it with that Python.
Exit status: 0 measured, 1 a side failed.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

PYTHON = """
import json, statistics, sys, time
import torch, torchvision
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = getattr(torchvision.models, name)().to(memory_format=torch.channels_last).train()
model = DistributedDataParallel(model, gradient_as_bucket_view=True)
images = torch.randn(batch, 3, 224, 224).contiguous(memory_format=torch.channels_last)
labels = torch.randint(1000, (batch,))
optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
seconds = []
for step in range(-3, steps):
    start = time.perf_counter()
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimiser.step()
    if step >= 0:
        seconds.append(time.perf_counter() - start)
if dist.get_rank() == 0:
    print(json.dumps({"step": statistics.median(seconds)}))
dist.destroy_process_group()
"""


def measured(options, ranks, command):
    launch = [Path(sys.executable).parent / "torchrun", "--standalone", "--nproc-per-node", ranks, "--no-python", *command]
    done = subprocess.run([str(part) for part in launch], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=Path, default=REPOSITORY / "build/release/bench/ddp_step")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--batch", type=int, default=8, help="of one rank")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    words = [options.model, options.batch, options.steps]
    script = Path("/tmp") / f"ddp_side_{random.getrandbits(32):08x}.py"
    script.write_text(PYTHON, encoding="utf-8")
    sides = {"Python DDP": [sys.executable, script, *words], "Stoker": [options.step, *words],
             "Stoker, bfloat16": [options.step, *words, "overlap", 25, "bfloat16"],
             "Stoker, sums after": [options.step, *words, "after"], "Stoker, no sums": [options.step, *words, "none"]}
    results = {name: [] for name in sides}
    try:
        for round_number in range(options.rounds):
            order = list(sides)
            random.Random(round_number).shuffle(order)
            for name in order:
                results[name].append(measured(options, options.ranks, sides[name]))
    finally:
        script.unlink()
    medians = {name: statistics.median(r["step"] for r in rows) for name, rows in results.items()}
    print(f"{options.model}, {options.ranks} ranks, {options.batch} samples each, one thread each: seconds a step")
    for name, rows in results.items():
        spread = f"{min(r['step'] for r in rows):.3f} to {max(r['step'] for r in rows):.3f}"
        text = f"{name:20} {medians[name]:.3f}  ({spread})  {medians['Python DDP'] / medians[name]:.2f}x"
        if rows[0].get("bytes"):
            middle = {key: statistics.median(r[key] for r in rows) for key in ("bytes", "reduction", "exposed")}
            hidden = max(0.0, middle["reduction"] - middle["exposed"])
            text += (f"   {middle['bytes'] / 1e6:.1f} MB summed in {1000 * middle['reduction']:.0f} ms, of which "
                     f"{1000 * hidden:.0f} ms hidden behind the backward pass")
        print(text)
    if options.json:
        options.json.write_text(json.dumps({"options": {k: str(v) for k, v in vars(options).items()}, "results": results}, indent=1))


if __name__ == "__main__":
    main()
