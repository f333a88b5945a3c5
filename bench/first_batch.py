#!/usr/bin/env python3
"""From nothing to the first batch of 100,000 small images: Stoker beside a torchvision DataLoader, 2 workers each.

Interleaved rounds in one run; medians. Wall time is that of a whole process, and for Python also without its imports.
Memory is the largest resident size of the process and of its workers, added up. The page cache is warm for all.
Exit status: 0 measured, 1 a side failed.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SIDE = 32

TORCHVISION = """
import resource, sys, time
from PIL import Image
import torch, torchvision
from torchvision.transforms import v2
begin = time.perf_counter()
change = v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), v2.PILToTensor(),
                     v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
data = torchvision.datasets.ImageFolder(sys.argv[1], change)
listed = time.perf_counter()
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, num_workers=2)
batches = iter(loader)
assert next(batches)[0].shape == (64, 3, 32, 32) and len(data) == int(sys.argv[2])
end = time.perf_counter()
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
del batches
worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
import json
print(json.dumps({"inside": end - begin, "listing": listed - begin, "kilobytes": own + 2 * worker}))
"""


def make_images(folder, count):
    """A hundred classes of small JPEGs, all different files."""
    from PIL import Image
    import numpy as np
    noise = np.random.default_rng(0)
    files = []
    for number in range(200):
        image = Image.fromarray(noise.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8))
        path = folder / f"{number}.jpg"
        image.save(path, quality=85)
        files.append(path.read_bytes())
        path.unlink()
    for number in range(count):
        into = folder / f"class{number % 100:03}"
        into.mkdir(exist_ok=True)
        (into / f"{number:06}.jpg").write_bytes(files[number % len(files)])


def timed(command, **options):
    """The process's wall time, its output and its largest resident size in kB."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise RuntimeError(f"{command[0]} failed: {process.stderr.read()}")
    return seconds, json.loads(text), usage.ru_maxrss


def stoker(options, folder, cache):
    command = [str(options.stoker), "bench", "feed", "--data", str(folder), "--aa",
               f"random_resized_crop({SIDE}),hflip(0.5)", "--batches-per-epoch", "1", "--no-digest", "--json", "-j", "2"]
    seconds, report, kilobytes = timed(command, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    if report["samples"] != 64:
        raise RuntimeError(f"{report['samples']} samples instead of 64")
    return {"seconds": seconds, "megabytes": kilobytes / 1024}


def torchvision(options, folder):
    seconds, report, _ = timed([sys.executable, "-c", TORCHVISION, str(folder), str(options.count)])
    return {"seconds": seconds, "megabytes": report["kilobytes"] / 1024, "without imports": report["inside"],
            "listing": report["listing"]}


def one_round(options, folder, cache):
    shutil.rmtree(cache, ignore_errors=True)
    return {"Stoker, first time": stoker(options, folder, cache), "Stoker, listing kept": stoker(options, folder, cache),
            "torchvision DataLoader": torchvision(options, folder)}


def medians(rounds):
    return {side: {key: statistics.median(r[side][key] for r in rounds) for key in values}
            for side, values in rounds[0].items()}


def show(result):
    print(f"{'':24} {'seconds':>8} {'MB':>7}")
    for side, values in result.items():
        rest = "".join(f", {key} {values[key]:.2f} s" for key in ("without imports", "listing") if key in values)
        print(f"{side:24} {values['seconds']:8.2f} {values['megabytes']:7.0f}{rest}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write all rounds there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first_batch-") as scratch:
        folder, cache = Path(scratch, "images"), Path(scratch, "cache")
        folder.mkdir()
        make_images(folder, options.count)
        time.sleep(3)  # a listing is kept once its folders have been at rest for two seconds
        one_round(options, folder, cache)  # warms the page cache
        rounds = [one_round(options, folder, cache) for _ in range(options.rounds)]
    show(medians(rounds))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"median": medians(rounds), "rounds": rounds}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
