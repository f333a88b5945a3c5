"""Machines made of network namespaces: each has an address of its own and a cable (veth) to a switch (bridge). A cable can be
pulled; a machine can also hang on a wire that can be told to delay and to lose frames. Needs root."""

import contextlib
import ctypes
import fcntl
import heapq
import mmap
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def ip(*words, space=None):
    subprocess.run(["ip", *(["-n", space] if space else []), *words], check=True, capture_output=True, text=True)


def enter(space):
    """Sockets and devices that this thread makes from now on belong to the namespace."""
    handle = os.open(f"/run/netns/{space}", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(handle, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(handle)


@contextlib.contextmanager
def inside(space):
    """For this thread, in a with block; sockets made there stay in the namespace."""
    outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        enter(space)
        yield
    finally:
        ctypes.CDLL(None, use_errno=True).setns(outside, CLONE_NEWNET)
        os.close(outside)


def possible():
    """None, or why this machine cannot do it."""
    if os.geteuid() != 0:
        return "needs root"
    try:
        with Hosts(2, wired=[1]):
            pass
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces: {error}"
    return None


class Hosts:
    """Used in a with block, which leaves nothing behind."""

    def __init__(self, count, wired=()):
        self.name = f"st{os.getpid() % 100000}"
        self.count, self.wired, self.wires = count, wired, {}

    def space(self, host):
        return f"{self.name}h{host}"

    @property
    def switch(self):
        return f"{self.name}sw"

    def address(self, host):
        return f"10.77.0.{host + 1}"

    def give_switch_an_address(self):
        """A server that listens there (see inside) is reached by every machine."""
        address = "10.77.0.254"
        ip("addr", "add", f"{address}/24", "dev", "switch", space=self.switch)
        return address

    def prefix(self, host):
        return ["ip", "netns", "exec", self.space(host)]

    def __enter__(self):
        try:
            ip("netns", "add", self.switch)
            ip("link", "add", "switch", "type", "bridge", space=self.switch)
            ip("link", "set", "switch", "up", space=self.switch)
            for host in range(self.count):
                self.add(host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def add(self, host):
        space = self.space(host)
        # Names for the addresses: without them every connection would wait for a name server that is not there.
        folder = pathlib.Path("/etc/netns", space)
        folder.mkdir(parents=True)
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n{self.address(host)} {socket.gethostname()}\n" +
                                      "".join(f"{self.address(other)} machine{other}\n" for other in range(self.count)))
        ip("netns", "add", space)
        if host in self.wired:
            self.wires[host] = Wire(space, self.switch, f"port{host}")
        else:
            ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", f"port{host}", "netns", self.switch)
        ip("link", "set", f"port{host}", "master", "switch", "up", space=self.switch)
        ip("link", "set", "lo", "up", space=space)
        ip("addr", "add", f"{self.address(host)}/24", "dev", "eth0", space=space)
        ip("link", "set", "eth0", "up", space=space)

    def cut(self, host):
        ip("link", "set", f"port{host}", "down", space=self.switch)

    def mend(self, host):
        ip("link", "set", f"port{host}", "up", space=self.switch)

    def slow(self, host, delay=0.1, loss=0.05):
        """Seconds that a frame takes each way, and the share of frames that never arrive. (0, 0): a good wire again."""
        self.wires[host].slow(delay, loss)

    def __exit__(self, *unused):
        for wire in self.wires.values():
            wire.stop()
        for space in [self.space(host) for host in range(self.count)] + [self.switch]:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)
            shutil.rmtree(pathlib.Path("/etc/netns", space), ignore_errors=True)


class Wire:
    """A process between two ends of a cable. (The kernel's own, tc netem, is not in every kernel.)"""

    def __init__(self, space, switch, port):
        ready, told = os.pipe()
        self.told = mmap.mmap(-1, mmap.PAGESIZE)  # delay and loss, seen by the process too
        self.process = os.fork()
        if self.process == 0:
            try:
                ends = [self.tap(space, "eth0"), self.tap(switch, port)]
                os.write(told, b"1")
                self.forward(ends)
            finally:
                os._exit(1)
        os.close(told)
        if os.read(ready, 1) != b"1":
            raise OSError("no TAP devices")
        os.close(ready)

    @staticmethod
    def tap(space, name):
        enter(space)
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH14x", name.encode(), IFF_TAP | IFF_NO_PI))
        return end

    def slow(self, delay, loss):
        struct.pack_into("dd", self.told, 0, delay, loss)

    def forward(self, ends):
        chance, frames, count = random.Random(1), [], 0
        while True:
            until = max(0.0, frames[0][0] - time.monotonic()) if frames else None
            for end in select.select(ends, [], [], until)[0]:
                frame = os.read(end, 1 << 16)
                delay, loss = struct.unpack_from("dd", self.told)
                if chance.random() >= loss:
                    count += 1
                    heapq.heappush(frames, (time.monotonic() + delay, count, ends[1 - ends.index(end)], frame))
            while frames and frames[0][0] <= time.monotonic():
                _, _, end, frame = heapq.heappop(frames)
                try:
                    os.write(end, frame)
                except OSError:
                    pass  # the other end is down: lost

    def stop(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
