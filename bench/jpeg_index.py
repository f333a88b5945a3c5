#!/usr/bin/env python3
"""What `stoker shard --jpeg-index` gains: shards of photographs as they are and in the form for decoding in parts, fed in turn with
random resized crops of 224x224.

    bench/record.py jpeg_index bench/jpeg_index.py

The photographs of feed_jpeg.py, and images of 4032x3024 that are sixteen of them side by side, each twice as large. Medians over
rounds; the digests of both forms must be equal. Needs Pillow. Exit status: 0 measured, 1 a run failed or a digest differs.
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from peers import photos

REPOSITORY = Path(__file__).resolve().parent.parent
LARGE, TILES = (4032, 3024), 4
FORMS = {"as it is": [], "--jpeg-index": ["--jpeg-index"]}


def run(options, *words):
    return subprocess.run([str(options.stoker), *map(str, words)], capture_output=True, text=True, check=True).stdout


def lay_out_large(found, folder, count):
    """Images as of a camera: photographs side by side have their detail, and sides that a crop is shrunk from."""
    folder = folder / "all"
    folder.mkdir(parents=True)
    chosen = random.Random(1)
    width, height = LARGE[0] // TILES, LARGE[1] // TILES
    for number in range(count):
        image = Image.new("RGB", LARGE)
        for place in range(TILES * TILES):
            with Image.open(chosen.choice(found)) as photo:
                tile = photo.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
            image.paste(tile, (place % TILES * width, place // TILES * height))
        image.save(folder / f"{number:03}.jpg", quality=92)


def feed(options, shards, workers, *words):
    return json.loads(run(options, "bench", "feed", "--data", shards, "--aa", "imagenet-train", "--json", "-j", workers, *words))


def measure(options, folder, scratch, epochs):
    shards, sizes = {}, {}
    for form, words in FORMS.items():
        shards[form] = scratch / f"{folder.name}-{len(words)}"
        run(options, "shard", folder, "--out", shards[form], *words)
        sizes[form] = sum(path.stat().st_size for path in shards[form].glob("*.tar"))
    if len({feed(options, where, 2)["digest"] for where in shards.values()}) != 1:
        raise RuntimeError("the digests differ")
    rates = {(form, workers): [] for form in FORMS for workers in (1, 2)}
    for number in range(options.rounds):
        for form, workers in random.Random(number).sample(list(rates), len(rates)):
            report = feed(options, shards[form], workers, "--epochs", epochs, "--no-digest")
            rates[form, workers].append(report["samples_per_second"])
    return rates, sizes


def show(what, rates, sizes):
    plain, indexed = FORMS
    cells = [what, f"{100 * (sizes[indexed] / sizes[plain] - 1):+.1f} %"]
    for workers in (1, 2):
        before, after = (statistics.median(rates[form, workers]) for form in FORMS)
        spread = " to ".join(f"{f(a / b for a, b in zip(rates[indexed, workers], rates[plain, workers])):.2f}" for f in (min, max))
        cells += [f"{before:.0f}", f"{after:.0f}", f"{after / before:.2f} ({spread})"]
    print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoker", type=Path, default=REPOSITORY / "build/release/stoker")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| images | bytes | 1 worker, samples/s | indexed | ratio | 2 workers | indexed | ratio |\n|---|---|---|---|---|---|---|---|")
    found = photos.find_photos(REPOSITORY)
    with tempfile.TemporaryDirectory(prefix="jpeg-index-") as scratch:
        scratch = Path(scratch)
        photos.lay_out(found, scratch / "photos", 4)
        show("500×375", *measure(options, scratch / "photos", scratch, 2))
        lay_out_large(found, scratch / "large", 32)
        show("4032×3024", *measure(options, scratch / "large", scratch, 4))


if __name__ == "__main__":
    main()
