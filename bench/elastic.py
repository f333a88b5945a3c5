#!/usr/bin/env python3
"""Elastic determinism by experiment: ours beside MosaicML Streaming.

    STOKER=build/release/stoker python3 bench/elastic.py

For 1, 2 and 4 ranks: which samples make global batch b, and in which order? After a stop at a random step with some number of ranks
and a resume with another: do the batches that follow hold the same samples? Ranks of Streaming are simulated by its environment
variables (RANK, WORLD_SIZE, LOCAL_WORLD_SIZE), one process each, batch 64 over all ranks, shuffle on, its defaults otherwise, and
the dataset's own state_dict for the resume. Needs a Python with mosaicml-streaming and torch, and flowers12 of $STOKER_TEST_DATA.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STOKER = os.environ.get("STOKER", str(ROOT / "build" / "release" / "stoker"))
DATA = pathlib.Path(os.environ.get("STOKER_TEST_DATA") or ROOT.parent / "shared" / "data") / "flowers12" / "train"
BATCH, SAMPLES = 64, 720
STREAMING = """
import json, sys, streaming
folder, batch, seen, mode = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
from streaming.base.util import clean_stale_shared_memory
more = {} if mode == 'default' else {'num_canonical_nodes': int(mode)}
data = streaming.StreamingDataset(local=folder, shuffle=True, shuffle_seed=1, batch_size=batch, **more)
if seen is not None: data.load_state_dict(seen)
print(json.dumps([int(sample['id']) for sample in data]))
"""


def in_ranks(ranks, words, port):
    """Runs the ranks side by side; the list of each."""
    processes = []
    for rank in range(ranks):
        environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks),
                       "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        processes.append(subprocess.Popen([sys.executable, "-W", "ignore", "-c", STREAMING, *words], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, env=environment))
    lists = []
    for process in processes:
        out, error = process.communicate(timeout=300)
        if process.returncode != 0:
            raise RuntimeError(error[-1500:])
        lists.append(json.loads(out.splitlines()[-1]))
    return lists


def streaming_batches(folder, ranks, step, mode, port):
    """The global batches from `step` on."""
    state = None
    if step:
        state = {"epoch": 0, "sample_in_epoch": step * BATCH, "num_canonical_nodes": int(mode) if mode != "default" else 1,
                 "shuffle_seed": 1, "initial_physical_nodes": 1}
    share = BATCH // ranks
    lists = in_ranks(ranks, [str(folder), str(share), json.dumps(state), mode], port)
    return [[index for mine in lists for index in mine[at:at + share]] for at in range(0, max(map(len, lists)), share)]


def our_batches(shards, ranks, step):
    batches = {}
    for rank in range(ranks):
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([STOKER, "bench", "feed", "--no-digest", "--data", str(shards), "--aa", "resize(8,8)", "--dtype", "uint8", "-b", str(BATCH),
                            "--seed", "1", "--from", f"0:{step * BATCH}", "--rank", str(rank), "--ranks", str(ranks), "--save-order", file.name],
                           check=True, capture_output=True)
            for line in pathlib.Path(file.name).read_text().splitlines():
                number, indices = line.split("\t")
                batches.setdefault(int(number), {})[rank] = [int(index) for index in indices.split()]
    # Rank r has every n-th place of the batch.
    ordered = []
    for number in sorted(batches):
        parts = batches[number]
        ordered.append([parts[place % ranks][place // ranks] for place in range(sum(map(len, parts.values())))])
    return ordered


def compare(name, batches_of, places=True):
    """Rows of the table. `places`: whether the order within a batch is known; Streaming's ranks are joined one after the other here,
    which says nothing about it."""
    step = random.Random(5).randrange(3, 9)
    base = batches_of(1, 0)
    rows = []
    for ranks in (2, 4):
        other = batches_of(ranks, 0)
        rows.append((f"{ranks} ranks instead of 1", base, other))
    for ranks in (1, 2, 4):
        rows.append((f"stopped at step {step} on 1 rank, resumed on {ranks}", base[step:], batches_of(ranks, step)))
    for title, wanted, found in rows:
        same_order = ("yes" if wanted == found else "no") if places else "not asked"
        same_sets = [sorted(batch) for batch in wanted] == [sorted(batch) for batch in found]
        together = sorted(index for batch in found for index in batch) == sorted(index for batch in wanted for index in batch)
        length = sum(map(len, found))
        print(f"| {name} | {title} | {'yes' if same_sets else 'no'} | {same_order} | "
              f"{'yes' if together else 'no'} | {length} of {sum(map(len, wanted))} |")


def uneven(work, port):
    """A number of samples that four ranks cannot share evenly: is each seen once?"""
    import streaming
    images = sorted(DATA.rglob("*.jpg"))[:-3]
    listed = "".join(f"{path}\t{path.parent.name}\n" for path in images)
    (work / "list.tsv").write_text(listed)
    subprocess.run([STOKER, "shard", str(work / "list.tsv"), "--out", str(work / "odd"), "--shard-size", "1MB"], check=True, capture_output=True)
    with streaming.MDSWriter(out=str(work / "odd-mds"), columns={"jpg": "bytes", "id": "int"}, size_limit=1 << 20) as out:
        for number, path in enumerate(images):
            out.write({"jpg": path.read_bytes(), "id": number})
    for name, batches in (("stoker", our_batches(work / "odd", 4, 0)), ("streaming", streaming_batches(work / "odd-mds", 4, 0, "default", port))):
        seen = [index for batch in batches for index in batch]
        print(f"{name}: {len(images)} samples on 4 ranks: {len(seen)} given, {len(set(seen))} different ones")


def main():
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        subprocess.run([STOKER, "shard", str(DATA), "--out", str(work / "shards"), "--shard-size", "1MB"], check=True, capture_output=True)
        print("| | | same samples in each global batch | in the same places | same samples in all | seen |\n|---|---|---|---|---|---|")
        compare("stoker", lambda ranks, step: our_batches(work / "shards", ranks, step))
        try:
            import streaming
            with streaming.MDSWriter(out=str(work / "mds"), columns={"jpg": "bytes", "id": "int"}, size_limit=1 << 20) as out:
                for number, path in enumerate(sorted(DATA.rglob("*.jpg"))):
                    out.write({"jpg": path.read_bytes(), "id": number})
        except ImportError:
            print("streaming is not installed")
            return
        port = [29500]

        def theirs(mode):
            def batches(ranks, step):
                port[0] += 1
                return streaming_batches(work / "mds", ranks, step, mode, port[0])
            return batches
        compare("streaming", theirs("default"), places=False)
        uneven(work, port[0] + 1)


if __name__ == "__main__":
    main()
