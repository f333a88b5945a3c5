#!/usr/bin/env python3
"""What Python adds to a batch of the feed: bench/python_layer.py [--data DATA --augment POLICY] [--batches N] [--torch]

Microseconds per batch, in turn and several times:
  taking   next() of the extension, a batch of bytes that is ready: arrays are made and dropped
  loop     the same through stoker.Feed: what a program pays
  program  `stoker bench feed`: time per batch of the same feed in C++
  feed     the same feed in a loop of Python
The Python layer costs `loop`; its part of a feed is (feed - program) / program. Needs build/release/python in PYTHONPATH and
the program as STOKER. Batches are made ahead before the first two are measured, so no worker runs then.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

import stoker

READY = 2000  # batches that are made ahead; of 16 small images, so that they fit into memory


def time_ready(data, framework, through_class):
    """Seconds per batch where all are ready."""
    feed = stoker.Feed(data, batch_size=16, dtype="uint8", layout="channels_last", framework=framework, workers=1, prefetch_batches=READY)
    batches = iter(feed)
    next(batches)
    while feed.stats()["samples"] < 16 * (READY - 10):
        time.sleep(0.01)
    take = batches.__next__ if through_class else feed._native.next
    start = time.perf_counter()
    for _ in range(READY // 2):
        batch = take()
    seconds = time.perf_counter() - start
    del batch
    feed.close()
    return seconds / (READY // 2)


def time_feed(options):
    feed = stoker.Feed(options.data, augment=options.augment, workers=options.workers, framework=options.framework)
    count = 0
    start = time.perf_counter()
    while count < options.batches:
        for batch in feed:
            count += 1
            if count == options.batches:
                break
    seconds = time.perf_counter() - start
    feed.close()
    return seconds / count


def time_program(options):
    done = subprocess.run([os.environ["STOKER"], "bench", "feed", options.data, *(["--aa", options.augment] if options.augment else []), "--workers",
                           str(options.workers), "--batches-per-epoch", str(options.batches), "--no-digest", "--json"], capture_output=True, text=True,
                          check=True)
    return 64 / json.loads(done.stdout)["samples_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--augment", default="rotate(-10,10)")
    parser.add_argument("--batches", type=int, default=900)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--torch", dest="framework", action="store_const", const="torch", default="numpy")
    options = parser.parse_args()
    measures = {"taking": lambda: time_ready("fashion-mnist", options.framework, False), "loop": lambda: time_ready("fashion-mnist", options.framework, True),
                "program": lambda: time_program(options), "feed": lambda: time_feed(options)}
    seconds = {name: [] for name in measures}
    for _ in range(options.rounds):
        for name, measure in measures.items():
            seconds[name].append(measure())
    for name, values in seconds.items():
        print(f"{name:8} {1e6 * statistics.median(values):9.2f} us per batch ({1e6 * min(values):.2f} to {1e6 * max(values):.2f})")


if __name__ == "__main__":
    main()
