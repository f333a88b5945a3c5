#!/usr/bin/env python3
"""`stoker serve` under more load than it can bear: no wrong answer, bounded memory, 429 for the rest.

    bench/serve_load.py --stoker build/release/stoker --weights runs/first --images photos/ --seconds 600

First as many clients as wait for answers measure the capacity. Then requests come at a fixed rate, `--times` that capacity,
whether the server keeps up or not. Every answer is compared with `stoker predict`. Prints one JSON object.
"""

import argparse
import csv
import http.client
import io
import json
import pathlib
import re
import subprocess
import threading
import time

LABEL, PROBABILITY = "label", "probability"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stoker", default="build/release/stoker")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--images", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--times", type=float, default=2)
    parser.add_argument("--clients", type=int, default=256)
    parser.add_argument("flags", nargs="*", help="further flags of serve, behind --")
    return parser.parse_args()


def predicted(options):
    """Most probable class of each image, and its probability."""
    text = subprocess.run([options.stoker, "predict", options.images, "--weights", options.weights, "--topk", "1"], capture_output=True,
                          text=True, check=True).stdout
    rows = [row for row in csv.reader(io.StringIO(text)) if pathlib.Path(row[0]).is_file()]
    return {pathlib.Path(row[0]).read_bytes(): (row[1], float(row[2])) for row in rows}


def memory(process):
    """Kilobytes of the server and of its decoders, without what they share."""
    found, ahead = 0, [process]
    while ahead:
        number = ahead.pop()
        try:
            found += sum(int(size) for size in re.findall(r"Private_\w+:\s+(\d+)", pathlib.Path(f"/proc/{number}/smaps_rollup").read_text(encoding="utf-8")))
            for task in pathlib.Path(f"/proc/{number}/task").iterdir():
                ahead += map(int, (task / "children").read_text(encoding="utf-8").split())
        except OSError:  # it has just ended
            continue
    return found


class Load:
    def __init__(self, port, expected):
        self.port, self.expected, self.images = port, expected, list(expected)
        self.lock, self.statuses, self.times, self.wrong = threading.Lock(), {}, [], []

    def ask(self, connection, number):
        image = self.images[number % len(self.images)]
        before = time.monotonic()
        connection.request("POST", "/classify?topk=1", image)
        response = connection.getresponse()
        text = response.read()
        taken = time.monotonic() - before
        with self.lock:
            self.statuses[response.status] = self.statuses.get(response.status, 0) + 1
            if response.status != 200:
                return
            self.times.append(taken)
            found, (label, probability) = json.loads(text), self.expected[image]
            if found[LABEL] != label or abs(found[PROBABILITY] - probability) > 1e-3:
                self.wrong.append((found, label, probability))

    def closed(self, clients, seconds):
        """Each client asks again when it has its answer. Gives answers a second."""
        end = time.monotonic() + seconds

        def work(number):
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            while time.monotonic() < end:
                self.ask(connection, number)
                number += 1

        run_all(work, clients)
        return len(self.times) / seconds

    def steady(self, clients, rate, seconds):
        """Requests come at this rate."""
        begin, next_number = time.monotonic(), iter(range(int(rate * seconds)))

        def work(_):
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            while True:
                with self.lock:
                    number = next(next_number, None)
                if number is None:
                    return
                time.sleep(max(0, begin + number / rate - time.monotonic()))
                self.ask(connection, number)

        run_all(work, clients)


def run_all(work, count):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def quantile(times, fraction):
    return round(1000 * sorted(times)[int(fraction * (len(times) - 1))], 1) if times else None


def main():
    options = arguments()
    expected = predicted(options)
    server = subprocess.Popen([options.stoker, "serve", options.weights, "--port", "0", *options.flags], stdout=subprocess.PIPE, text=True)
    lines = [server.stdout.readline(), server.stdout.readline()]
    port = int(re.search(r":(\d+)\s*$", lines[1])[1])
    try:
        Load(port, expected).closed(32, 2)
        capacity = Load(port, expected).closed(64, 10)
        load, samples, stop = Load(port, expected), [], threading.Event()

        def watch():
            while not stop.wait(1):
                samples.append(memory(server.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        load.steady(options.clients, options.times * capacity, options.seconds)
        stop.set()
        watcher.join()
    finally:
        server.terminate()
        code = server.wait(timeout=60)
    print(json.dumps({"model": lines[0].split(maxsplit=1)[1].strip(), "capacity": round(capacity, 1), "offered": round(options.times * capacity, 1),
                      "statuses": load.statuses, "wrong": len(load.wrong), "p50_ms": quantile(load.times, 0.5), "p99_ms": quantile(load.times, 0.99),
                      "megabytes_first_tenth": max(samples[:max(1, len(samples) // 10)]) // 1000, "megabytes_last_tenth": max(samples[-max(1, len(samples) // 10):]) // 1000,
                      "exit_code": code}, indent=1))
    return 1 if load.wrong or code else 0


if __name__ == "__main__":
    raise SystemExit(main())
