"""Runs PTX, what nvcc makes of a kernel before a GPU's own assembler, on the CPU with numpy.

Warps of 32 lanes run in random order, some instructions each at a time; within a warp those lanes go on that are
furthest back, so that they meet again behind branches. What it does not know it refuses with PtxError: an instruction,
a type, an operand. It also refuses accesses outside of buffers and off their alignment, shared memory read before it is
written, two threads at one value of shared memory between barriers with one of them writing, barriers that part
of a block does not reach. Only what integer and float kernels of this project need is there: no calls, no atomics,
no warp operations.
"""

import math
import random
import re
import struct

import numpy as np

import arithmetic
from arithmetic import PtxError, dtype_of

LANES = 32
SPECIAL = re.compile(r"%(tid|ntid|ctaid|nctaid)\.([xyz])$")


class Kernel:
    """One .entry: its parameters and shared arrays with their places, its instructions, where labels point."""

    def __init__(self, name):
        self.name = name
        self.parameters = {}  # name: (place, bytes)
        self.parameter_bytes = 0
        self.shared = {}
        self.shared_bytes = 0
        self.registers = {}  # prefix: dtype
        self.instructions = []  # (predicate or None, wanted value, opcode, operands, text)
        self.labels = {}

    def place(self, table, used, name, align, size):
        start = -(-used // align) * align
        table[name] = (start, size)
        return start + size


def split_operands(text):
    return [part.strip() for part in re.split(r",(?![^{]*\})", text) if part.strip()]


def parse(text):
    """All kernels of a PTX file, by name."""
    text = re.sub(r"//[^\n]*", "", text)
    kernels = {}
    entry = re.compile(r"\.entry\s+(\S+?)\s*\((.*?)\)\s*((?:\.\w+[^{]*)?)\{(.*?)\n\}", re.S)
    for name, parameters, _, body in entry.findall(text):
        kernel = Kernel(name)
        for declared in split_operands(parameters):
            found = re.fullmatch(r"\.param(?:\s+\.align\s+(\d+))?\s+\.(\w+)\s+(\w+)(?:\[(\d+)\])?", declared)
            if not found:
                raise PtxError(f"unknown parameter: {declared}")
            align, kind, symbol, count = found.groups()
            size = dtype_of(kind).itemsize
            kernel.parameter_bytes = kernel.place(kernel.parameters, kernel.parameter_bytes, symbol,
                                                  int(align or size), size * int(count or 1))
        parse_body(kernel, body)
        kernels[name] = kernel
    if not kernels:
        raise PtxError("no kernel in this text")
    return kernels


def parse_body(kernel, body):
    for line in re.split(r"[;\n]", re.sub(r"(\$?\w+):", r"\1:;", body)):
        line = line.strip()
        if not line or line.startswith(".pragma") or line in "{}":
            continue
        if line.endswith(":"):
            kernel.labels[line[:-1]] = len(kernel.instructions)
            continue
        found = re.fullmatch(r"\.reg\s+\.(\w+)\s+%(\w+)<\d+>", line)
        if found:
            kind = found[1]
            kernel.registers[found[2]] = np.dtype(bool) if kind == "pred" else dtype_of(kind)
            continue
        found = re.fullmatch(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+(\w+)\[(\d+)\]", line)
        if found:
            kernel.shared_bytes = kernel.place(kernel.shared, kernel.shared_bytes, found[2], int(found[1]), int(found[3]))
            continue
        found = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.]*)(?:\s+(.*))?", line, re.S)
        if not found:
            raise PtxError(f"not understood: {line}")
        negated, predicate, opcode, operands = found.groups()
        kernel.instructions.append((predicate, not negated, opcode, split_operands(operands or ""), line))


class Memory:
    """Bytes of one address space, of which only some may be touched."""

    def __init__(self, name, size, valid):
        self.name = name
        self.bytes = np.zeros(size, np.uint8)
        self.valid = np.full(size, valid)

    def places(self, addresses, size, text):
        addresses = addresses.astype(np.int64)
        if (addresses % size).any():
            raise PtxError(f"{text}: an address is not a multiple of {size}")
        if (addresses < 0).any() or (addresses + size > self.bytes.size).any():
            raise PtxError(f"{text}: out of bounds of {self.name} memory")
        places = addresses[:, None] + np.arange(size)
        if not self.valid[places].all():
            raise PtxError(f"{text}: out of bounds of {self.name} memory")
        return places


class SharedMemory(Memory):
    """Knows which thread wrote or read each byte since the last barrier."""

    def __init__(self, size, check_races, rng):
        super().__init__("shared", size, True)
        self.bytes[:] = np.frombuffer(rng.randbytes(size), np.uint8)
        self.check_races = check_races
        self.interval = 1
        self.written = np.zeros(size, np.int32)  # interval of the last write
        self.writer = np.zeros(size, np.int32)
        self.read = np.zeros(size, np.int32)
        self.reader = np.zeros(size, np.int32)

    def note(self, places, threads, writes, text):
        if not self.check_races:
            return
        threads = np.broadcast_to(threads[:, None], places.shape)
        if not writes and (self.written[places] == 0).any():
            raise PtxError(f"{text}: shared memory that nobody has written")
        race = (self.written[places] == self.interval) & (self.writer[places] != threads)
        if writes:
            race |= (self.read[places] == self.interval) & (self.reader[places] != threads)
        if race.any():
            raise PtxError(f"{text}: a race for shared memory")
        if writes:
            self.written[places], self.writer[places] = self.interval, threads
            if (self.writer[places] != threads).any():
                raise PtxError(f"{text}: a race for shared memory")
        else:
            # -1: several. Lanes that read the same byte at once overwrite each other here, which shows.
            others = (self.read[places] == self.interval) & (self.reader[places] != threads)
            self.reader[places] = np.where(others, -1, threads)
            self.reader[places] = np.where((self.reader[places] != threads), -1, self.reader[places])
            self.read[places] = self.interval


class Warp:
    def __init__(self, block, first, count):
        index = np.arange(first, first + LANES)
        self.threads = index.astype(np.int32)
        x, y, _ = block
        self.tid = {"x": index % x, "y": index // x % y, "z": index // x // y}
        self.done = np.arange(LANES) >= count  # lanes that are not there count as done ...
        self.absent = self.done.copy()  # ... but may miss barriers
        self.pc = np.zeros(LANES, np.int32)
        self.registers = {}
        self.waits = False


class Device:
    """Global memory, and the launches on it. `steps` counts the instructions of all warps."""

    def __init__(self, size=1 << 24):
        self.memory = Memory("global", size, False)
        self.used = 4096
        self.steps = 0

    def upload(self, values, skipped=0):
        """Copies an array; returns its address, `skipped` bytes behind one with 256 bytes of alignment."""
        values = np.ascontiguousarray(values)
        address = -(-self.used // 256) * 256 + skipped
        self.used = address + values.nbytes + 512  # a gap that belongs to nobody
        self.memory.bytes[address : address + values.nbytes] = values.view(np.uint8).reshape(-1)
        self.memory.valid[address : address + values.nbytes] = True
        return address

    def download(self, address, shape, dtype):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.memory.bytes[address : address + size].view(dtype).reshape(shape).copy()

    def launch(self, kernel, grid, block, arguments, seed=0, check_races=True):
        """`arguments`: one bytes object for every parameter. Sizes are (x, y, z)."""
        rng = random.Random(seed)
        parameters = Memory("parameter", max(kernel.parameter_bytes, 1), True)
        if len(arguments) != len(kernel.parameters):
            raise PtxError(f"{kernel.name} has {len(kernel.parameters)} parameters, {len(arguments)} were given")
        for (place, size), value in zip(kernel.parameters.values(), arguments):
            if len(value) != size:
                raise PtxError(f"{kernel.name}: a parameter of {size} bytes got {len(value)}")
            parameters.bytes[place : place + size] = np.frombuffer(value, np.uint8)
        blocks = [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]
        rng.shuffle(blocks)
        for place in blocks:
            Block(self, kernel, parameters, grid, block, place, rng, check_races).run()


class Block:
    def __init__(self, device, kernel, parameters, grid, block, place, rng, check_races):
        self.device, self.kernel, self.rng = device, kernel, rng
        self.shared = SharedMemory(kernel.shared_bytes, check_races, rng)
        self.spaces = {"global": device.memory, "shared": self.shared, "param": parameters}
        axes = "xyz"
        self.special = {"ntid": dict(zip(axes, block)), "nctaid": dict(zip(axes, grid)), "ctaid": dict(zip(axes, place))}
        threads = math.prod(block)
        self.warps = [Warp(block, first, min(LANES, threads - first)) for first in range(0, threads, LANES)]

    def run(self):
        with np.errstate(all="ignore"):
            while True:
                ready = [warp for warp in self.warps if not warp.waits and not warp.done.all()]
                if ready:
                    self.run_some(self.rng.choice(ready))
                elif any(warp.waits for warp in self.warps):
                    self.release()
                else:
                    return

    def run_some(self, warp):
        # From one instruction to whole intervals: what is missing a barrier must not get through by keeping step.
        for _ in range(2 ** self.rng.randint(0, 12)):
            if warp.waits or warp.done.all():
                return
            self.step(warp)

    def release(self):
        if not all(warp.waits for warp in self.warps):
            raise PtxError("divergent barrier: some warps wait, others have returned")
        self.shared.interval += 1
        for warp in self.warps:
            warp.waits = False

    def step(self, warp):
        self.device.steps += 1
        alive = ~warp.done
        pc = int(warp.pc[alive].min())
        here = alive & (warp.pc == pc)
        if pc >= len(self.kernel.instructions):
            raise PtxError("ran past the end")
        predicate, wanted, opcode, operands, text = self.kernel.instructions[pc]
        warp.pc[here] = pc + 1
        if predicate:
            here = here & (self.read(warp, predicate, np.dtype(bool)) == wanted)
        if opcode.startswith("bra"):
            if operands[0] not in self.kernel.labels:
                raise PtxError(f"unknown label: {text}")
            warp.pc[here] = self.kernel.labels[operands[0]]
        elif opcode == "ret":
            warp.done |= here
        elif opcode == "bar.sync":
            if (here != ~warp.absent).any() or operands != ["0"]:
                raise PtxError(f"divergent barrier within a warp: {text}")
            warp.waits = True
        elif here.any():
            self.execute(warp, here, opcode, operands, text)

    def execute(self, warp, here, opcode, operands, text):
        parts = opcode.split(".")
        if parts[0] in ("ld", "st"):
            return self.access(warp, here, parts, operands, text)
        if parts[0] == "cvta":
            if parts[1:] not in (["to", "global", "u64"], ["param", "u64"]):
                raise PtxError(f"unknown instruction: {text}")
            # All spaces have their own addresses here, and no kernel has a pointer that could be into several.
            return self.write(warp, here, operands[0], self.read(warp, operands[1], np.dtype("u8")))
        if parts[0] == "mov" and (operands[0][0] == "{" or operands[1][0] == "{"):
            return self.move_parts(warp, here, parts, operands, text)
        result = arithmetic.compute(parts, operands[1:], lambda o, t: self.read(warp, o, t), text)
        self.write(warp, here, operands[0], result)

    def move_parts(self, warp, here, parts, operands, text):
        """mov.b32 {low, high}, wide and mov.b32 wide, {low, high}; also of more parts."""
        whole = dtype_of(parts[1])
        narrow, wide = operands if operands[0][0] == "{" else reversed(operands)
        names = split_operands(narrow.strip("{}"))
        part = np.dtype(f"u{whole.itemsize // len(names)}")
        if len(parts) != 2 or parts[1][0] != "b" or part.itemsize * len(names) != whole.itemsize:
            raise PtxError(f"unknown instruction: {text}")
        if operands[0][0] == "{":
            values = np.ascontiguousarray(self.read(warp, wide, whole)).view(part).reshape(LANES, len(names))
            for i, name in enumerate(names):
                self.write(warp, here, name, np.ascontiguousarray(values[:, i]))
        else:
            values = np.stack([self.read(warp, name, part) for name in names], axis=1)
            self.write(warp, here, wide, np.ascontiguousarray(values).view(whole).reshape(LANES))

    def register_type(self, name):
        prefix = re.fullmatch(r"%([a-z]+)\d+", name)
        if not prefix or prefix[1] not in self.kernel.registers:
            raise PtxError(f"unknown register: {name}")
        return self.kernel.registers[prefix[1]]

    def read(self, warp, operand, dtype):
        """All lanes' values of an operand, as that type; from a wider register the low part."""
        special = SPECIAL.match(operand)
        if special:
            name, axis = special.groups()
            values = warp.tid[axis] if name == "tid" else np.full(LANES, self.special[name][axis])
            return values.astype(np.uint32).view(np.dtype("u4")).view(dtype) if dtype.itemsize == 4 else values.astype(dtype)
        if operand.startswith("%"):
            stored = self.register_type(operand)
            if operand not in warp.registers:
                raise PtxError(f"register {operand} is read before it is written")
            values = warp.registers[operand]
            if dtype == stored:
                return values
            if dtype.itemsize == stored.itemsize:
                return values.view(dtype)
            if dtype.itemsize < stored.itemsize:
                return values.view(f"u{stored.itemsize}").astype(f"u{dtype.itemsize}").view(dtype)
            raise PtxError(f"{operand} is too narrow for {dtype}")
        return np.full(LANES, self.constant(operand, dtype), dtype)

    def constant(self, operand, dtype):
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", operand):
            return np.frombuffer(struct.pack("<I", int(operand[2:], 16)), np.float32)[0]
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", operand):
            return np.frombuffer(struct.pack("<Q", int(operand[2:], 16)), np.float64)[0]
        if re.fullmatch(r"-?\d+", operand) and dtype.kind in "iu":
            bits = int(operand) & ((1 << 8 * dtype.itemsize) - 1)
            return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)[0]
        if re.fullmatch(r"-?\d+", operand) and dtype.kind == "b":
            return int(operand) != 0
        for table in (self.kernel.shared, self.kernel.parameters):
            if operand in table:
                return table[operand][0]
        raise PtxError(f"unknown operand: {operand}")

    def write(self, warp, here, operand, values):
        stored = self.register_type(operand)
        if values.dtype != stored:
            if values.dtype.itemsize > stored.itemsize or (values.dtype.kind == "b") != (stored.kind == "b"):
                raise PtxError(f"{values.dtype} does not fit into {operand}")
            if values.dtype.itemsize < stored.itemsize:  # extended by its sign, if it has one
                values = values.astype(f"{'i' if values.dtype.kind == 'i' else 'u'}{stored.itemsize}")
            values = values.view(stored)
        if operand not in warp.registers:
            warp.registers[operand] = np.zeros(LANES, stored)
        warp.registers[operand] = np.where(here, values, warp.registers[operand])

    def access(self, warp, here, parts, operands, text):
        known = re.fullmatch(r"(ld|st)\.(global|shared|param)(\.nc)?(\.v[24])?\.([usbf]\d+)", ".".join(parts))
        if not known:
            raise PtxError(f"unknown instruction: {text}")
        kind, space, _, vector, type_name = known.groups()
        count, dtype = int(vector[2]) if vector else 1, dtype_of(type_name)
        inner, target = (operands[1], operands[0]) if kind == "ld" else (operands[0], operands[1])
        addresses = self.addresses(warp, inner, text)[here]
        memory = self.spaces[space]
        places = memory.places(addresses, dtype.itemsize * count, text)
        if space == "shared":
            memory.note(places, warp.threads[here], kind == "st", text)
        names = split_operands(target.strip("{}"))
        if len(names) != count:
            raise PtxError(f"{len(names)} operands for {count} values: {text}")
        for i, name in enumerate(names):
            part = places[:, i * dtype.itemsize : (i + 1) * dtype.itemsize]
            if kind == "st":
                memory.bytes[part] = self.read(warp, name, dtype)[here].copy().view(np.uint8).reshape(part.shape)
                continue
            values = np.zeros(LANES, dtype)
            values[here] = np.ascontiguousarray(memory.bytes[part]).view(dtype).reshape(-1)
            self.write(warp, here, name, values)

    def addresses(self, warp, operand, text):
        found = re.fullmatch(r"\[([^\]+]+)(?:\+(-?\d+))?\]", operand)
        if not found:
            raise PtxError(f"unknown address: {text}")
        base = found[1]
        width = self.register_type(base).itemsize if base.startswith("%") else 8
        return self.read(warp, base, np.dtype(f"i{width}")).astype(np.int64) + int(found[2] or 0)
