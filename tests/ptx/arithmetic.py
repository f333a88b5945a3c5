"""What single PTX instructions compute, on arrays with one value a lane. Refuses what it does not know."""

import numpy as np


class PtxError(Exception):
    pass


def dtype_of(name):
    kind = {"u": "u", "b": "u", "s": "i", "f": "f"}.get(name[0])
    if kind is None or name[1:] not in ("8", "16", "32", "64") or (kind == "f" and name[1:] not in ("32", "64")):
        raise PtxError(f"unknown type: {name}")
    return np.dtype(f"{kind}{int(name[1:]) // 8}")


def exact_sum(a, b):
    """a + b and what rounding took away (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def exact_product(a, b):
    """a * b and what rounding took away (Dekker)."""

    def halves(x):
        scaled = x * 134217729.0
        high = scaled - (scaled - x)
        return high, x - high

    product = a * b
    (ah, al), (bh, bl) = halves(a), halves(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def fused_f32(a, b, c):
    """Rounded once. The product is exact in double; the sum is rounded to odd, which a second rounding survives."""
    product = a.astype(np.float64) * b.astype(np.float64)
    total, error = exact_sum(product, c.astype(np.float64))
    even = (total.view(np.uint64) & np.uint64(1)) == 0
    odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & even & np.isfinite(total), odd, total).astype(np.float32)


def fused_f64(a, b, c):
    """Right but for the last bit in rare cases."""
    product, lost = exact_product(a, b)
    total, error = exact_sum(product, c)
    return np.where(np.isfinite(total), total + (error + lost), a * b + c)


def divided(a, b):
    """Towards zero; a GPU gives no promise for b = 0, so no kernel may do that."""
    result = np.zeros_like(a)
    for lane, (x, y) in enumerate(zip(a.tolist(), b.tolist())):
        quotient = abs(x) // abs(y) if y else 0
        result[lane] = np.array([(-quotient if (x < 0) != (y < 0) else quotient)]).astype(a.dtype)[0]
    return result


def product_bits(a, b, dtype):
    """The whole product, twice as wide."""
    wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}")
    return a.astype(wide) * b.astype(wide)


def high_part(a, b, dtype):
    if dtype.itemsize == 8:
        mask = (1 << 64) - 1
        bits = [(x * y >> 64) & mask for x, y in zip(a.tolist(), b.tolist())]
        return np.array(bits, np.uint64).view(dtype)
    return (product_bits(a, b, dtype) >> (8 * dtype.itemsize)).astype(dtype)


def shifted(parts, value, amount, dtype):
    bits = 8 * dtype.itemsize
    amount = np.minimum(amount, bits).astype(np.uint64)
    if parts[0] == "shl":
        moved = value.astype(np.uint64) << np.minimum(amount, 63)
        return np.where(amount >= bits, 0, moved).astype(dtype)
    if dtype.kind == "i":
        return (value.astype(np.int64) >> np.minimum(amount, bits - 1).astype(np.int64)).astype(dtype)
    return np.where(amount >= bits, 0, value.astype(np.uint64) >> np.minimum(amount, 63)).astype(dtype)


COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
               "ge": np.greater_equal}
LOGIC = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
PLAIN = {"add": np.add, "sub": np.subtract}


def compute(parts, operands, read, text):
    """The result of an instruction. `read(operand, dtype)` gives an operand's values."""
    name, kind = parts[0], parts[1:-1]
    if parts[-1] == "pred":
        return on_predicates(name, kind, operands, read, text)
    dtype = dtype_of(parts[-1])
    if name == "cvt":
        return converted(kind, dtype, operands, read, text)
    if name in ("shl", "shr") and not kind:
        return shifted(parts, read(operands[0], dtype), read(operands[1], np.dtype("u4")), dtype)
    if name == "mov" and not kind:
        return read(operands[0], dtype)
    if name == "selp" and not kind:
        return np.where(read(operands[2], np.dtype(bool)), read(operands[0], dtype), read(operands[1], dtype))
    if name == "setp":
        if len(kind) != 1 or kind[0] not in COMPARISONS or len(operands) != 2:
            raise PtxError(f"unknown instruction: {text}")
        return COMPARISONS[kind[0]](read(operands[0], dtype), read(operands[1], dtype))
    values = [read(operand, dtype) for operand in operands] if name != "mad" else operands
    if dtype.kind == "f":
        return on_floats(name, kind, dtype, values, text)
    return on_integers(name, kind, dtype, values, read, text)


def on_predicates(name, kind, operands, read, text):
    values = [read(operand, np.dtype(bool)) for operand in operands]
    if not kind and name in LOGIC:
        return LOGIC[name](*values)
    if not kind and name == "not":
        return ~values[0]
    if not kind and name == "mov":
        return values[0]
    raise PtxError(f"unknown instruction: {text}")


def on_floats(name, kind, dtype, values, text):
    if name == "fma" and kind == ["rn"]:
        return (fused_f32 if dtype.itemsize == 4 else fused_f64)(*values)
    if name == "mul" and kind in ([], ["rn"]):
        return values[0] * values[1]
    if name in PLAIN and kind in ([], ["rn"]):
        return PLAIN[name](*values)
    if name == "sqrt" and kind == ["rn"]:
        return np.sqrt(values[0])
    raise PtxError(f"unknown instruction: {text}")


def on_integers(name, kind, dtype, values, read, text):
    if name == "mad" and kind in (["lo"], ["wide"]):
        wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}") if kind == ["wide"] else dtype
        a, b, c = read(values[0], dtype), read(values[1], dtype), read(values[2], wide)
        return a.astype(wide) * b.astype(wide) + c
    if name == "mul" and kind == ["lo"]:
        return values[0] * values[1]
    if name == "mul" and kind == ["wide"] and dtype.itemsize < 8:
        return product_bits(*values, dtype)
    if name == "mul" and kind == ["hi"]:
        return high_part(*values, dtype)
    if kind or len(values) not in (1, 2):
        raise PtxError(f"unknown instruction: {text}")
    if name in PLAIN:
        return PLAIN[name](*values)
    if name in LOGIC:
        return LOGIC[name](*values)
    if name == "not":
        return ~values[0]
    if name == "neg":
        return -values[0]
    if name in ("max", "min"):
        return np.maximum(*values) if name == "max" else np.minimum(*values)
    if name in ("div", "rem"):
        quotient = divided(*values)
        return quotient if name == "div" else values[0] - quotient * values[1]
    raise PtxError(f"unknown instruction: {text}")


def converted(kind, source, operands, read, text):
    """cvt{.rn}.to.from"""
    rounding, target = kind[:-1], dtype_of(kind[-1])
    values = read(operands[0], source)
    if source.kind in "iu" and target.kind in "iu" and not rounding:
        return values.astype(target)
    if source.kind in "iu" and target.kind == "f" and rounding == ["rn"]:
        return values.astype(target)
    if source.kind == "f" and target.kind == "f":
        if (target.itemsize < source.itemsize) == (rounding == ["rn"]):
            return values.astype(target)
    raise PtxError(f"unknown instruction: {text}")
