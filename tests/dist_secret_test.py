#!/usr/bin/env python3
"""Ranks that share a secret: strangers are refused before, at and after the start, a rank with another secret ends with a message,
and nothing else changes. The class Tunnel runs ranks behind WireGuard; nightly runs it, as it needs wireguard-go.

Run by ctest with the program's path as STOKER; needs MNIST in $STOKER_TEST_DATA (default ../shared/data).
"""

import ctypes
import os
import pathlib
import secrets
import shutil
import socket
import struct
import subprocess
import threading
import time
import unittest

import hosts
from ranks import Rank, Ranks, SOURCE, STOKER, clean_environment, free_port, needs_mnist, train, weights
from runs import Case

FLAGS = ["train", "--data", "mnist", "--train-samples", "932", "--val-data", "mnist:train[50000:50500]", "--batch-size", "30", "--aa", "mnist",
         "--seed", "5", "--epochs", "1", "--threads", "1", "--workers", "1", "--no-report", "--timeout", "20", "--lr", "0.05",
         "--model", "mlp:784,32,10:relu"]
VALIDATE, SET, MAGIC = 0, 1, 0x3C85F7CE  # of the protocol that c10d's TCPStore speaks


def text_of(word):
    return struct.pack("<Q", len(word)) + word


def write_keys(port, keys):
    """As c10d's own client would. Whether the keys were taken: a store that refuses closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=5, source_address=ELSEWHERE) as stranger:
        stranger.sendall(struct.pack("<BI", VALIDATE, MAGIC))
        try:
            for key in keys:
                stranger.sendall(struct.pack("<B", SET) + text_of(b"/" + key) + text_of(b"forged"))
            stranger.settimeout(0.5)
            return stranger.recv(1) != b""
        except TimeoutError:
            return True  # waits for more
        except OSError:
            return False


ELSEWHERE = ("127.0.0.2", 0)  # whoever calls a port of its own address, at which nobody listens yet, may be given that port


def wait_for_port(port, process, timeout=60):
    end = time.monotonic() + timeout
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            probe.bind(ELSEWHERE)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"nobody listens at port {port}; the process: {process.poll()}")


class Strangers:
    """Connect again and again, some silent, some with garbage; used in a with block."""

    SAY = (b"", b"GET / HTTP/1.1\r\n\r\n", b"STOKER1\n" + bytes(range(200)), bytes(100_000))

    def __init__(self, port):
        self.port, self.came, self.over = port, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        held = []
        while not self.over.wait(0.02):
            try:
                held.append(socket.create_connection(("127.0.0.1", self.port), timeout=1, source_address=ELSEWHERE))
                self.came += 1
                held[-1].settimeout(0.2)
                held[-1].sendall(self.SAY[self.came % len(self.SAY)])
            except OSError:
                pass  # nobody listens yet, or it was refused
        for stranger in held:
            stranger.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.over.set()
        self.thread.join()


class SecretCase(Case):
    def setUp(self):
        self.secret = secrets.token_hex(32)
        self.file = self.output / "ranks.secret"
        self.file.touch()
        self.file.chmod(0o600)
        self.file.write_text(self.secret + "\n", encoding="utf-8")

    def flags(self, name, *more):
        return [*FLAGS, "--output", self.output, "--experiment", name, *more]

    def start(self, count, rank, port, flags, secret=None):
        """One rank, with a secret in its environment or without."""
        environment = dict(clean_environment(), RANK=str(rank), WORLD_SIZE=str(count), LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE=str(count),
                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        if secret:
            environment["STOKER_DIST_SECRET"] = secret
        return Rank([STOKER, *map(str, flags)], environment, rank)

    def end(self, ranks, timeout):
        """Exit codes and what was said; no process stays."""
        try:
            return [rank.wait(timeout) for rank in ranks], [rank.stdout + rank.stderr for rank in ranks]
        finally:
            for rank in ranks:
                if rank.process.poll() is None:
                    rank.process.kill()
                    rank.process.wait()
                rank.out.close()
                rank.err.close()

    def plain(self):
        """The folder of the run that all others must equal."""
        folder = self.output / "plain"
        if not folder.exists():
            train(2, *self.flags("plain"))
        return folder


@needs_mnist
class Secret(SecretCase):
    def test_strangers_change_nothing_and_the_secret_is_written_nowhere(self):
        port = free_port()
        flags = self.flags("secret")
        with Strangers(port) as strangers:
            ranks = [self.start(2, 0, port, [*flags, "--dist-secret-file", self.file])]
            wait_for_port(port, ranks[0].process)
            keys = [b"stoker/hello/2/1", b"stoker/welcome/x", b"left"]
            self.assertFalse(write_keys(port, keys), "a stranger wrote keys before the start")
            ranks.append(self.start(2, 1, port, flags, self.secret))
            codes, said = self.end(ranks, 60)
        self.assertEqual(codes, [0, 0], said)
        self.assertGreater(strangers.came, 5)
        self.assertEqual(weights(self.output / "secret"), weights(self.plain()))
        for path in (self.output / "secret").rglob("*"):
            self.assertFalse(path.is_file() and self.secret.encode() in path.read_bytes(), path)
        self.assertNotIn(self.secret, "".join(said))

    def test_keys_that_a_stranger_wrote_before_the_start_do_no_harm_without_a_secret(self):
        port = free_port()
        flags = self.flags("keys")
        ranks = [self.start(2, 0, port, flags)]
        wait_for_port(port, ranks[0].process)
        self.assertTrue(write_keys(port, [b"stoker/hello/2/1", b"stoker/welcome/x", b"stoker/here/x/1", b"left"]))
        ranks.append(self.start(2, 1, port, flags))
        codes, said = self.end(ranks, 60)
        self.assertEqual(codes, [0, 0], said)
        self.assertEqual(weights(self.output / "keys"), weights(self.plain()))

    def test_a_rank_with_another_secret_is_refused_and_the_others_say_who_is_missing(self):
        port, begin = free_port(), time.monotonic()
        flags = self.flags("wrong", "--timeout", "5")
        wrong = secrets.token_hex(32)
        codes, said = self.end([self.start(3, rank, port, flags, wrong if rank == 1 else self.secret) for rank in range(3)], 30)
        self.assertLess(time.monotonic() - begin, 5 + 5)
        self.assertEqual(codes, [1, 1, 1], said)
        self.assertIn("rank 0 refused this rank. Expected the secret that rank 0 has, got another. Give all ranks the same --dist-secret-file",
                      " ".join(said[1].split()))
        self.assertRegex(" ".join(said[0].split()), r"nothing from rank 1(, 2)?; 1 connection was refused, the last from 127.0.0.1: another secret")
        self.assertIn("rank 2 of 3", said[2])
        self.assertNotIn(self.secret, "".join(said))
        self.assertNotIn(wrong, "".join(said))

    def test_a_file_that_others_may_read_is_refused(self):
        self.file.chmod(0o640)
        codes, said = self.end([self.start(2, 0, free_port(), self.flags("mode", "--dist-secret-file", self.file))], 30)
        self.assertEqual(codes, [1], said)
        self.assertIn("chmod 600", said[0])

    def test_torchruns_store_with_forged_keys(self):
        port = free_port()
        torchrun = os.environ.get("STOKER_TORCHRUN", str(SOURCE / "scripts" / "torchrun"))
        command = [torchrun, "--nproc-per-node", "2", "--no-python", "--master-port", str(port), STOKER, *map(str, self.flags("torchrun"))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(clean_environment(), STOKER_DIST_SECRET=self.secret)) as process:
            try:
                wait_for_port(port, process)
                self.assertTrue(write_keys(port, [b"stoker/hello/2/1", b"stoker/welcome/x"]))
                said = process.communicate(timeout=90)[0]
            finally:
                process.kill()
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(weights(self.output / "torchrun"), weights(self.plain()))


@needs_mnist
@unittest.skipIf(hosts.possible(), hosts.possible())
class Names(SecretCase):
    """The name of rank 0's machine leads elsewhere at first."""

    def test_a_rank_follows_the_name_to_another_machine(self):
        with hosts.Hosts(3) as machines:
            for name, secret in (("open", []), ("secret", ["--dist-secret-file", self.file])):
                self.name_leads_to(machines, 2)
                flags = self.flags(f"moved-{name}", *secret)
                # With a secret, somebody listens at the old address and admits nobody.
                listener = [*machines.prefix(2), "python3", "-c", f"import socket, time; s = socket.create_server(('{machines.address(2)}', 29612)); time.sleep(60)"]
                stranger = subprocess.Popen(listener if secret else ["true"])
                address = lambda rank: [] if rank == 0 else ["--master-addr", "meeting"]
                try:
                    with Ranks(2, flags, prefix=machines.prefix, address=machines.address(0), extra=address) as ranks:
                        time.sleep(1.5)
                        self.name_leads_to(machines, 0)
                        self.assertEqual(ranks.wait(60), [0, 0], ranks.report())
                finally:
                    stranger.kill()
                    stranger.wait()
            self.assertEqual(weights(self.output / "moved-open"), weights(self.output / "moved-secret"))

    def name_leads_to(self, machines, host):
        """In the file that is there: it is mounted into the machine."""
        path = pathlib.Path("/etc/netns", machines.space(1), "hosts")
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.endswith(" meeting")]
        path.write_text("\n".join([*lines, f"{machines.address(host)} meeting", ""]), encoding="utf-8")


class Recorder:
    """All frames that pass a switch, in a with block."""

    def __init__(self, space):
        self.frames, self.over = [], threading.Event()
        opened = []
        opener = threading.Thread(target=lambda: opened.append(self.open(space)))  # only that thread is in the namespace
        opener.start()
        opener.join()
        self.socket = opened[0]
        self.thread = threading.Thread(target=self.run)

    @staticmethod
    def open(space):
        handle = os.open(f"/run/netns/{space}", os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(handle, hosts.CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        os.close(handle)
        every_protocol = socket.htons(3)
        recorder = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, every_protocol)
        recorder.settimeout(0.2)
        return recorder

    def run(self):
        while not self.over.is_set():
            try:
                self.frames.append(self.socket.recv(1 << 16))
            except TimeoutError:
                pass

    def ports(self):
        """Protocol and destination port of all packets of IPv4."""
        packets = [frame[14:] for frame in self.frames if frame[12:14] == b"\x08\x00"]
        return {(packet[9], struct.unpack_from(">H", packet, 4 * (packet[0] & 15) + 2)[0]) for packet in packets if packet[9] in (6, 17)}

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.over.set()
        self.thread.join()
        self.socket.close()


TCP, UDP, PORT = 6, 17, 51820


@needs_mnist
@unittest.skipIf(hosts.possible(), hosts.possible())
class Tunnel(SecretCase):
    """The recipe of docs/how-to/encrypt-ranks.md on machines of network namespaces."""

    SCRIPT = SOURCE / "examples" / "wireguard" / "ranks_network"

    def space(self, machines, host):
        return f"{machines.space(host)}r"

    def up(self, machines, host, keys):
        """As the page says, on one of two machines."""
        other = 1 - host
        public = subprocess.run(["wg", "pubkey"], input=keys[other], capture_output=True, text=True, check=True).stdout.strip()
        configuration = self.output / f"{host}.conf"
        configuration.write_text(f"[Interface]\nPrivateKey = {keys[host]}\nListenPort = {PORT}\n\n[Peer]\nPublicKey = {public}\n"
                                 f"AllowedIPs = 10.88.0.{other + 1}/32\nEndpoint = {machines.address(other)}:{PORT}\n", encoding="utf-8")
        # Not `ip netns exec`: namespaces that are made below it are seen there alone.
        subprocess.run(["nsenter", f"--net=/run/netns/{machines.space(host)}", self.SCRIPT, "up", configuration, f"10.88.0.{host + 1}/24",
                        self.space(machines, host), f"wg{os.getpid() % 100000}n{host}"], check=True, timeout=30)
        names = pathlib.Path("/etc/netns", self.space(machines, host))
        names.mkdir(parents=True)
        (names / "hosts").write_text(f"127.0.0.1 localhost\n10.88.0.{host + 1} {socket.gethostname()}\n", encoding="utf-8")

    def down(self, machines):
        for host in range(2):
            space = self.space(machines, host)
            if pathlib.Path("/run/netns", space).exists():
                subprocess.run([self.SCRIPT, "down", space, f"wg{os.getpid() % 100000}n{host}"], check=True, timeout=30)
            shutil.rmtree(pathlib.Path("/etc/netns", space), ignore_errors=True)

    def reaches(self, machines, port):
        """Whether the third machine, which has no key, can connect to rank 0's address in the tunnel."""
        hosts.ip("route", "replace", "10.88.0.0/24", "via", machines.address(0), space=machines.space(2))
        code = f"import socket; socket.create_connection(('10.88.0.1', {port}), timeout=2)"
        return subprocess.run([*machines.prefix(2), "python3", "-c", code], capture_output=True, check=False).returncode == 0

    def test_ranks_train_through_wireguard_alone_and_nobody_else_reaches_them(self):
        with hosts.Hosts(3) as machines, Recorder(machines.switch) as recorder:
            with Ranks(2, self.flags("open"), prefix=machines.prefix, address=machines.address(0)) as ranks:
                self.assertEqual(ranks.wait(60), [0, 0], ranks.report())
            self.assertIn((TCP, 29612), recorder.ports())  # so it sees what it should
            recorder.frames.clear()
            keys = [subprocess.run(["wg", "genkey"], capture_output=True, text=True, check=True).stdout.strip() for _ in range(2)]
            try:
                for host in range(2):
                    self.up(machines, host, keys)
                with Ranks(2, self.flags("tunnel"), prefix=lambda rank: ["ip", "netns", "exec", self.space(machines, rank)],
                           address="10.88.0.1") as ranks:
                    self.assertEqual(ranks.wait(60), [0, 0], ranks.report())
                self.assertEqual(recorder.ports(), {(UDP, PORT)})
                self.assertGreater(sum(map(len, recorder.frames)), 100_000)  # the gradients
                self.check_that_strangers_stay_outside(machines)
            finally:
                self.down(machines)
        self.assertEqual(weights(self.output / "tunnel"), weights(self.output / "open"))

    def check_that_strangers_stay_outside(self, machines):
        listen = "import socket, time; s = socket.create_server(('10.88.0.1', 29613)); time.sleep(60)"
        inside = [["ip", "netns", "exec", self.space(machines, 0)], True]
        for prefix, closed in (inside, [machines.prefix(0), False]):
            # Without the namespace, but with the address: Linux answers a stranger beside the tunnel.
            if not closed:
                hosts.ip("addr", "add", "10.88.0.1/24", "dev", "lo", space=machines.space(0))
            listener = subprocess.Popen([*prefix, "python3", "-c", listen])
            try:
                time.sleep(0.5)
                self.assertEqual(self.reaches(machines, 29613), not closed)
            finally:
                listener.kill()
                listener.wait()


if __name__ == "__main__":
    unittest.main(verbosity=2)
