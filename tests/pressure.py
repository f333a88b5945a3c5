"""What makes a machine a bad one for a while: others that compute on it, and less memory. For soak tests."""

import os
import pathlib
import random
import subprocess
import sys
import threading
import time


class BusyLoops:
    """Other work on the same CPUs that comes and goes: one to three processes that compute for 2 to 8 s, then none for 5 to
    20 s. Used in a with block; they have the priority of the caller."""

    def __init__(self, seed):
        self.chance, self.bursts, self.seconds = random.Random(seed), 0, 0.0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        while not self.over.wait(self.chance.uniform(5, 20)):
            begin = time.monotonic()
            loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.chance.randint(1, 3))]
            self.over.wait(self.chance.uniform(2, 8))
            for loop in loops:
                loop.kill()
                loop.wait()
            self.bursts += 1
            self.seconds += time.monotonic() - begin

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def memory_root():
    """The folder in which memory groups (cgroup v1) can be made; None where there is none."""
    root = pathlib.Path("/sys/fs/cgroup/memory")
    if not (root / "memory.limit_in_bytes").exists() or not os.access(root, os.W_OK):
        return None
    own = next((line.split(":", 2)[2] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                if line.split(":")[1] == "memory"), "/")
    below = root / own.strip("/")
    return below if below.is_dir() else root


class MemoryGroup:
    """A memory group whose limit can be lowered. Used in a with block, after which its processes must have ended."""

    STEP = 1 << 20

    def __init__(self, name):
        self.folder = memory_root() / name

    def __enter__(self):
        self.folder.mkdir()
        return self

    def __exit__(self, *_):
        for _ in range(50):
            try:
                return self.folder.rmdir()
            except OSError:  # a process of it has not quite ended
                time.sleep(0.1)
        print(f"{self.folder} cannot be removed", file=sys.stderr)

    def wrapper(self):
        """In front of a command: it runs in this group, also inside `ip netns exec`, which hides the folder.
        0 is the process that writes; torchrun would change $$."""
        return ["sh", "-c", 'echo 0 >"$0" && exec "$@"', f"/proc/{os.getpid()}/root{self.folder}/cgroup.procs"]

    def numbers(self, file):
        return {name: int(value) for name, value in map(str.split, (self.folder / file).read_text().splitlines())}

    def kills(self):
        """Processes that the kernel has killed because there was no memory left."""
        return self.numbers("memory.oom_control")["oom_kill"]

    def peak(self):
        """The most bytes that its processes and the files that they read have taken at one time."""
        return int((self.folder / "memory.max_usage_in_bytes").read_text())

    def set(self, limit):
        (self.folder / "memory.limit_in_bytes").write_text(str(limit))

    def squeeze(self, spare):
        """Takes away what the kernel can take (files in memory), and leaves `spare` bytes beyond the rest; the limit."""
        limit = self.numbers("memory.stat")["total_rss"]
        while True:
            try:
                self.set(limit)
                break
            except OSError:  # in use, and cannot be taken
                limit += self.STEP
        self.set(limit + spare)
        return limit + spare

    def relax(self):
        self.set(-1)
