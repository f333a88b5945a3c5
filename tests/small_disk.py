"""A disk of a few megabytes that is really full: a tmpfs in a mount namespace of its own. Needs root."""

import os
import pathlib
import subprocess


class SmallDisk:
    """Used in a with block. `path` is where commands with prefix() in front see it, `files` where this process does."""

    def __init__(self, path, size="8m"):
        self.path = pathlib.Path(path).resolve()
        self.size = size

    def __enter__(self):
        self.path.mkdir(parents=True, exist_ok=True)
        script = f'mount -t tmpfs -o size={self.size} tmpfs "$0" && echo ready && read end'
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", script, self.path], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            self.__exit__()
            raise OSError("cannot mount a tmpfs")
        self.files = pathlib.Path(f"/proc/{self.holder.pid}/root{self.path}")
        return self

    def __exit__(self, *_):
        self.holder.stdin.close()
        self.holder.stdout.close()
        self.holder.wait()

    def prefix(self):
        return ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", f"--wd={os.getcwd()}"]

    def fill(self, room=0):
        """Leaves this many bytes, in whole pages."""
        self.empty()
        free = os.statvfs(self.files)
        with open(self.files / "filler", "wb") as file:
            file.write(b"x" * max(0, free.f_bavail * free.f_frsize - room))

    def empty(self):
        (self.files / "filler").unlink(missing_ok=True)
