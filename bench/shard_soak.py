#!/usr/bin/env python3
"""A soak: epochs over shards of an S3 server through a proxy that breaks answers, with the reader killed at random.

    STOKER=build/release/stoker python3 bench/shard_soak.py MINUTES [SEED]

Every run goes on where the last complete batch ended. At the end every finished epoch must hold every sample exactly once, in
the order that a run without faults gives; anything else is an error. Needs flowers12 of $STOKER_TEST_DATA.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from servers import STORE_FAULTS, FaultProxy, S3Server  # noqa: E402

STOKER = os.environ["STOKER"]
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or ROOT.parent / "shared" / "data") / "flowers12" / "train"
BATCH, SAMPLES = 32, 720


def complete_lines(path):
    text = path.read_text() if path.exists() else ""
    return text[:text.rfind("\n") + 1].splitlines()


def command(data, order, start, epochs, *more):
    batch = start * BATCH
    return [STOKER, "bench", "feed", "--no-digest", "--json", "--data", data, "--aa", "resize(64,64)", "--dtype", "uint8", "-b", str(BATCH),
            "--from", f"{batch // SAMPLES}:{batch % SAMPLES}", "--epochs", str(epochs), "--save-order", str(order), "--seed", "3",
            "--shuffle-window", "4", *map(str, more)]


def main(minutes, seed):
    chance = random.Random(seed)
    end = time.monotonic() + 60 * minutes
    per_epoch = SAMPLES // BATCH + (SAMPLES % BATCH > 0)
    assert SAMPLES % BATCH == 16
    with tempfile.TemporaryDirectory() as work, S3Server() as server:
        work = pathlib.Path(work)
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        subprocess.run([STOKER, "shard", str(DATA), "--out", "s3://bucket/x", "--shard-size", "500KB"], check=True, capture_output=True,
                       env={**environment, "AWS_ENDPOINT_URL": server.url})
        order, kills, runs, ended, injected = work / "order.tsv", 0, 0, 0, 0
        done = 0
        while time.monotonic() < end:
            lines = complete_lines(order)
            order.write_text("".join(line + "\n" for line in lines))
            done = len(lines)
            epoch, place = divmod(done, per_epoch)
            with FaultProxy(server.url, STORE_FAULTS, share=0.15, seed=chance.random()) as proxy:
                words = command("s3://bucket/x", order, 0, 1_000_000, "--store-timeout", 2, "--cache-dir", work / "cache", "--cache-size", "4MB",
                                "-j", chance.choice([1, 2, 4]))
                words[words.index("--from") + 1] = f"{epoch}:{place * BATCH}"
                process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                           env={**environment, "AWS_ENDPOINT_URL": proxy.url})
                try:
                    process.wait(timeout=chance.uniform(0.2, 12))
                    ended += 1  # by itself: a store that failed too often; that must be an error with a message
                    assert process.returncode == 1 and "cannot" in process.stderr.read(), process.returncode
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    kills += 1
                process.stderr.close()
                runs += 1
                injected += len(proxy.injected)
        lines = complete_lines(order)
        epochs = len(lines) // per_epoch
        reference = work / "reference.tsv"
        subprocess.run(command("s3://bucket/x", reference, 0, max(epochs, 1), "--cache-dir", work / "clean"), check=True, capture_output=True,
                       env={**environment, "AWS_ENDPOINT_URL": server.url})
        wanted = complete_lines(reference)
        for epoch in range(epochs):
            part = lines[epoch * per_epoch:(epoch + 1) * per_epoch]
            indices = sorted(int(index) for line in part for index in line.split("\t")[1].split())
            assert indices == list(range(SAMPLES)), f"epoch {epoch} is not every sample once"
            assert part == wanted[epoch * per_epoch:(epoch + 1) * per_epoch], f"epoch {epoch} has another order"
        print(json.dumps({"minutes": minutes, "runs": runs, "kills": kills, "ended by the store": ended, "faults": injected,
                          "batches": len(lines), "finished epochs, each sample once and in order": epochs}))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
