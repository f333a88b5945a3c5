"""A line with latency and limited speed before a server on the loopback, for connections of TCP. (The kernel's own, tc netem, is not in
every kernel.) Each way takes half of the round trip; a connection is there after a whole one; answers of all connections share the speed.
A connection begins with a window of ten segments, which grows by what was received, as in TCP's slow start."""

import collections
import queue
import socket
import threading
import time

FIRST_WINDOW, LARGEST_WINDOW, PIECE = 14_600, 6_000_000, 65_536


def sleep_until(moment):
    time.sleep(max(0.0, moment - time.monotonic()))


class Line:
    """Used in a with block; `url` leads to the server at `upstream` (http://host:port)."""

    def __init__(self, upstream, round_trip, bytes_per_second):
        host, port = upstream.removeprefix("http://").split(":")
        self.upstream, self.round_trip, self.speed = (host, int(port)), round_trip, bytes_per_second
        self.busy_until, self.lock, self.carried = 0.0, threading.Lock(), 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = "http://%s:%d" % self.listener.getsockname()
        self.start(self.accept)

    @staticmethod
    def start(target, *arguments):
        threading.Thread(target=target, args=arguments, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.upstream)
            arrivals = queue.Queue()
            self.start(self.carry_requests, client, server, time.monotonic() + self.round_trip)
            self.start(self.carry_answers, server, arrivals)
            self.start(self.deliver, arrivals, client, server)

    def carry_requests(self, client, server, connected):
        try:
            while data := client.recv(PIECE):
                sleep_until(max(time.monotonic(), connected) + self.round_trip / 2)
                server.sendall(data)
        except OSError:
            pass
        server.close()

    def carry_answers(self, server, arrivals):
        window, under_way, receipts = FIRST_WINDOW, 0, collections.deque()
        try:
            while True:
                while receipts and (receipts[0][0] <= time.monotonic() or under_way >= window):
                    sleep_until(receipts[0][0])
                    size = receipts.popleft()[1]
                    under_way -= size
                    window = min(window + size, LARGEST_WINDOW)
                data = server.recv(min(PIECE, window - under_way))
                if not data:
                    break
                with self.lock:
                    self.busy_until = max(self.busy_until, time.monotonic()) + len(data) / self.speed
                    arrival = self.busy_until + self.round_trip / 2
                    self.carried += len(data)
                arrivals.put((arrival, data))
                receipts.append((arrival + self.round_trip / 2, len(data)))
                under_way += len(data)
        except OSError:
            pass
        arrivals.put((0, b""))

    @staticmethod
    def deliver(arrivals, client, server):
        try:
            while data := (item := arrivals.get())[1]:
                sleep_until(item[0])
                client.sendall(data)
        except OSError:
            pass
        client.close()
        server.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
