#!/usr/bin/env python3
"""Shards beside a folder, and from a loopback S3 server beside webdataset, MosaicML Streaming and bare curl.

    python3 bench/shards.py local [N] JPEG shards on disk against the folder they were made of
    python3 bench/shards.py first [N] time to the first batch through a line of 50 ms and 1 Gbit/s
    python3 bench/shards.py train [N] training at about 2,000 samples/s through that line: how long it waits for data
    python3 bench/shards.py s3 [N]    one epoch from moto, 2 workers each side, cold caches; time to the first batch

`first` and `train` need STOKER (the program) and photos of $STOKER_TEST_DATA; STOKER_BEFORE is a program to compare with.
`s3` needs STOKER, a Python with webdataset, mosaicml-streaming, torch and pillow (bench/requirements.txt) to run it,
and flowers12 of $STOKER_TEST_DATA. Sides take turns, N times; figures are medians. Every side decodes to RGB, takes a random resized
crop of 224 and flips; batches of 64, uint8.
"""

import csv
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
STOKER = os.environ.get("STOKER", str(ROOT / "build" / "release" / "stoker"))
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or ROOT.parent / "shared" / "data") / "flowers12" / "train"
TIMES = 4  # 720 images would be over before every side is warm
AUGMENT = "random_resized_crop(224),hflip(0.5)"
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}


def feed(data, *words, **variables):
    done = subprocess.run([STOKER, "bench", "feed", "--json", "--no-digest", "--data", str(data), "--aa", AUGMENT, "--dtype", "uint8",
                           "-b", "64", "-j", "2", *map(str, words)], capture_output=True, text=True, check=True,
                          env={**os.environ, **variables})
    return json.loads(done.stdout)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def local(rounds=7):
    with tempfile.TemporaryDirectory() as work:
        shards = pathlib.Path(work) / "shards"
        subprocess.run([STOKER, "shard", str(DATA), "--out", str(shards), "--shard-size", "4MB"], check=True, capture_output=True)
        speeds, costs = {"folder": [], "shards": []}, {"folder": [], "shards": []}
        for _ in range(rounds):
            for name, data in (("folder", DATA), ("shards", shards)):
                before = cpu_seconds()
                result = feed(data, "--epochs", 3)
                speeds[name].append(result["samples_per_second"])
                costs[name].append((cpu_seconds() - before) / result["samples"] * 1e6)
        for name, values in speeds.items():
            print(f"{name}: {statistics.median(values):.0f} samples/s ({min(values):.0f} to {max(values):.0f}), "
                  f"{statistics.median(costs[name]):.0f} us of CPU a sample")
        for what, columns in (("speed", speeds), ("CPU time", costs)):
            ratios = [b / a for a, b in zip(columns["folder"], columns["shards"])]
            print(f"{what}, shards / folder: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")


# The Python sides run in processes of their own; their clocks start after the imports, and their speed counts from the first batch on.
PYTHON_SIDE = """
import io, random, sys, time, torch
from PIL import Image
def make(jpeg):
    image = Image.open(io.BytesIO(jpeg)).convert('RGB')
    width, height = image.size
    area, ratio = width * height * random.uniform(0.08, 1), random.uniform(0.75, 1.33)
    across, down = min(width, (area * ratio) ** 0.5), min(height, (area / ratio) ** 0.5)
    left, top = random.uniform(0, width - across), random.uniform(0, height - down)
    image = image.resize((224, 224), Image.BILINEAR, (left, top, left + across, top + down))
    if random.random() < 0.5: image = image.transpose(Image.FLIP_LEFT_RIGHT)
    return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(224, 224, 3)
def measure(start, loader):
    first, seen = None, 0
    for images, labels in loader:
        first = first or time.perf_counter() - start
        seen += len(labels)
    print(first, (seen - 64) / (time.perf_counter() - start - first), seen)
"""
WEBDATASET = PYTHON_SIDE + """
import webdataset
start = time.perf_counter()
pairs = lambda sample: (make(sample['jpg']), int(sample['cls']))
data = webdataset.WebDataset(sys.argv[1], shardshuffle=100, empty_check=False).shuffle(1000).map(pairs).batched(64)
measure(start, webdataset.WebLoader(data, batch_size=None, num_workers=2))
"""
STREAMING = PYTHON_SIDE + """
import streaming
start = time.perf_counter()
class Flowers(streaming.StreamingDataset):
    def __getitem__(self, index):
        sample = super().__getitem__(index)
        return make(sample['jpg']), sample['cls']
data = Flowers(remote=sys.argv[1], local=sys.argv[2], shuffle=True, batch_size=64)
measure(start, torch.utils.data.DataLoader(data, batch_size=64, num_workers=2))
"""


def write_streaming(folder):
    import streaming
    with streaming.MDSWriter(out=str(folder), columns={"jpg": "bytes", "cls": "int"}, size_limit=8 << 20) as out:
        for _ in range(TIMES):
            for number, name in enumerate(sorted(DATA.iterdir())):
                for path in sorted(name.iterdir()):
                    out.write({"jpg": path.read_bytes(), "cls": number})


def write_folder(folder):
    """The images TIMES times, as links."""
    for path in DATA.rglob("*.jpg"):
        for number in range(TIMES):
            link = folder / path.parent.name / f"{number}-{path.name}"
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)


def upload(folder, prefix, url):
    import boto3
    client = boto3.client("s3", endpoint_url=url, aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            client.upload_file(str(path), "bucket", f"{prefix}/{path.relative_to(folder)}")


def python_side(code, *words, **variables):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, **variables}, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    first, speed, seen = done.stdout.split()[-3:]
    return float(first), float(speed), int(float(seen))


def s3(rounds=5):
    from servers import S3Server
    with tempfile.TemporaryDirectory() as work, S3Server() as server:
        work = pathlib.Path(work)
        environment = {**KEYS, "AWS_ENDPOINT_URL": server.url, "S3_ENDPOINT_URL": server.url}
        write_folder(work / "folder")
        subprocess.run([STOKER, "shard", str(work / "folder"), "--out", str(work / "shards"), "--shard-size", "8MB"], check=True,
                       capture_output=True)
        upload(work / "shards", "shards", server.url)
        write_streaming(work / "mds")
        upload(work / "mds", "mds", server.url)
        names = sorted(path.name for path in (work / "shards").glob("*.tar"))
        size = sum((work / "shards" / name).stat().st_size for name in names)
        print(f"{len(names)} shards, {size / 1e6:.0f} MB")
        results = {}

        def note(side, first, speed):
            results.setdefault(side, []).append((first, speed))
            print(f"  {side}: {speed:.0f}, {first:.2f} s", file=sys.stderr, flush=True)

        # webdataset reads S3 through a pipe; a public copy by curl costs it least.
        import boto3
        client = boto3.client("s3", endpoint_url=server.url, aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
        client.put_bucket_acl(Bucket="bucket", ACL="public-read")
        for name in names:
            client.put_object_acl(Bucket="bucket", Key=f"shards/{name}", ACL="public-read")
        urls = f"pipe:curl -s {server.url}/bucket/shards/shard-{{000000..{len(names) - 1:06d}}}.tar"
        # Ours to the first batch is the whole program, from its start to its end; theirs is without Python's imports.
        for number in range(rounds):
            start = time.perf_counter()
            feed("s3://bucket/shards", "--batches-per-epoch", 1, "--cache-dir", work / f"a{number}", **environment)
            to_first = time.perf_counter() - start
            whole = feed("s3://bucket/shards", "--cache-dir", work / f"b{number}", **environment)
            note("stoker", to_first, whole["samples_per_second"])
            note("webdataset", *python_side(WEBDATASET, urls)[:2])
            note("streaming", *python_side(STREAMING, "s3://bucket/mds", work / f"m{number}", **environment)[:2])
            start = time.perf_counter()
            subprocess.run(["curl", "-s", "-o", "/dev/null", *[f"{server.url}/bucket/shards/{name}" for name in names]],
                           check=True, stdout=subprocess.DEVNULL)
            note("curl", 0, size / (time.perf_counter() - start))
        for side, values in results.items():
            first, speed = (statistics.median(column) for column in zip(*values))
            if side == "curl":
                print(f"bare curl: {speed / 1e6:.0f} MB/s, which are {speed / size * 720 * TIMES:.0f} samples/s")
            else:
                print(f"{side}: {speed:.0f} samples/s, first batch after {first:.2f} s")


ROUND_TRIP, BYTES_PER_SECOND = 0.050, 1e9 / 8  # of the line before the server


def to_first_batch(program, url, work):
    """Seconds from the program's start to its first batch, and the bytes that the line carried until then."""
    from line import Line
    order, cache = work / "order", work / "cache"
    with Line(url, ROUND_TRIP, BYTES_PER_SECOND) as line:
        start = time.perf_counter()
        with subprocess.Popen([program, "bench", "feed", "--no-digest", "--data", f"{line.url}/shards", "--aa", AUGMENT, "--dtype", "uint8",
                               "-b", "64", "-j", "2", "--save-order", str(order), "--cache-dir", str(cache)],
                              stdout=subprocess.DEVNULL) as process:
            while not order.exists() or order.stat().st_size == 0:
                if process.poll() not in (None, 0):
                    raise RuntimeError("the program failed")
                time.sleep(0.002)
            result = time.perf_counter() - start, line.carried
            process.kill()
    order.unlink()
    shutil.rmtree(cache)
    return result


def write_photo_shards(work, *words):
    """10,000 photographs, of which 250 differ."""
    for number in range(40):
        (work / "photos" / str(number % 2)).mkdir(parents=True, exist_ok=True)
        for path in (DATA.parent.parent / "photos").glob("*.JPEG"):
            (work / "photos" / str(number % 2) / f"{number}-{path.name}").symlink_to(path)
    subprocess.run([STOKER, "shard", str(work / "photos"), "--out", str(work / "shards"), *words], check=True, capture_output=True)
    sizes = [path.stat().st_size for path in (work / "shards").glob("*.tar")]
    print(f"{len(sizes)} shards of {max(sizes) / 1e6:.0f} MB")
    return sum(sizes)


def first(rounds=5):
    from servers import FileServer
    with tempfile.TemporaryDirectory() as work, FileServer(work) as server:
        work = pathlib.Path(work)
        write_photo_shards(work, "--shard-size", "64MB")
        programs = {"whole shards only": os.environ.get("STOKER_BEFORE"), "**samples before their shards**": STOKER}
        results = {name: [] for name, program in programs.items() if program}
        for _ in range(rounds):
            for name, values in results.items():
                values.append(to_first_batch(programs[name], server.url, work))
        print("|  | first batch after | carried until then |\n|---|---|---|")
        for name, values in results.items():
            times, carried = zip(*values)
            print(f"| {name} | {statistics.median(times):.2f} s ({min(times):.2f} to {max(times):.2f}) | "
                  f"{statistics.median(carried) / 1e6:.1f} MB |")


def train(rounds=5):
    """The cache holds half of the data, so every epoch brings shards through the line."""
    from line import Line
    from servers import FileServer
    with tempfile.TemporaryDirectory() as work, FileServer(work) as server:
        work = pathlib.Path(work)
        size = write_photo_shards(work, "--max-side", "160", "--shard-size", "80MB")
        for number in range(2):  # to validate on
            (work / "val" / str(number)).mkdir(parents=True)
            (work / "val" / str(number) / "image.jpg").symlink_to(next((work / "photos" / str(number)).iterdir()).resolve())
        sides = {"local": [], "through the line": []}
        carried = []
        for number in range(rounds):
            sides["local"].append(train_once(work, f"local{number}", work / "shards"))
            with Line(server.url, ROUND_TRIP, BYTES_PER_SECOND) as line:
                cache = work / f"cache{number}"
                sides["through the line"].append(train_once(work, f"line{number}", f"{line.url}/shards", "--cache-dir", cache,
                                                            "--cache-size", size // 2))
                carried.append(line.carried / size)
            shutil.rmtree(cache)
        print("| shards | samples/s | data wait, % | least to most |\n|---|---|---|---|")
        for name, values in sides.items():
            speeds, waits = zip(*values)
            print(f"| {name} | {statistics.median(speeds):,.0f} | {statistics.median(waits):.2f} | {min(waits):.2f} to {max(waits):.2f} |")
        print(f"\nthrough the line in 4 epochs: {statistics.median(carried):.1f} times the data")


def train_once(work, name, data, *words):
    """Samples per second and data wait in per cent of the time, both for epochs 2 to 4."""
    command = [STOKER, "train", data, "--model", "mlp:12288,512,2", "--aa", "random_resized_crop(64),hflip(0.5)", "--epochs", 4, "-b", 64,
               "-j", 2, "--shuffle-window", 2, "--no-report", "--val-data", work / "val", "--output", work / "runs", "--experiment", name, *words]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    epochs = list(csv.DictReader((work / "runs" / name / "timing.csv").open(encoding="utf-8")))[1:]
    seconds, wait = (sum(float(epoch[key]) for epoch in epochs) for key in ("seconds", "wait"))
    return sum(float(epoch["seconds"]) * float(epoch["samples_per_second"]) for epoch in epochs) / seconds, 100 * wait / seconds


if __name__ == "__main__":
    {"first": first, "train": train, "local": local, "s3": s3}[sys.argv[1]](*map(int, sys.argv[2:]))
