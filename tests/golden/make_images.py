#!/usr/bin/env python3
"""Makes images.tsv: small TIFF, BMP and PNM files of every kind that is decoded, and some that are refused.

    python tests/golden/make_images.py > tests/golden/images.tsv

Needs tifffile 2026.3.3, imagecodecs 2026.3.6, Pillow 13.0.0 and numpy. Columns: name, format, page, what is
expected ("ok", or words of the error), width and height upright, the orientation, CRC-32s of the pixels, and the
file in base64. The CRCs are those of 8-bit RGB, grey and RGBA, then of 16-bit RGB, grey and RGBA (little-endian),
with white under transparent pixels of RGB and grey. stoker/image/golden_test.cc compares them with our decoders;
scripts/fuzz starts from the files.

Expected values come from the arrays that were written. Where tifffile or Pillow read a file, they must agree.
"""

import base64
import io
import struct
import sys
import zlib

import numpy as np
import tifffile
from PIL import Image, ImageOps

W, H = 13, 7
RNG = np.random.default_rng(7)


def grey_of(rgb):
    value = rgb.astype(np.uint64)
    return ((19595 * value[..., 0] + 38470 * value[..., 1] + 7471 * value[..., 2] + 32768) >> 16).astype(rgb.dtype)


def flat(rgba):
    """Over white."""
    most = np.iinfo(rgba.dtype).max
    v, a = rgba[..., :3].astype(np.uint64), rgba[..., 3:].astype(np.uint64)
    return ((v * a + most * (most - a) + most // 2) // most).astype(rgba.dtype)


def wide(values):
    return values.astype(np.uint16) * 257 if values.dtype == np.uint8 else values


def narrow(values):
    return (values >> 8).astype(np.uint8) if values.dtype == np.uint16 else values


def as_rgba(values):
    """Any of grey, grey and alpha, RGB, RGBA as RGBA."""
    if values.ndim == 2:
        values = values[..., None]
    most = np.iinfo(values.dtype).max
    alpha = values[..., -1:] if values.shape[2] in (2, 4) else np.full_like(values[..., :1], most)
    colour = values[..., :3] if values.shape[2] >= 3 else np.repeat(values[..., :1], 3, axis=2)
    return np.concatenate([colour, alpha], axis=2)


def three(values):
    """As RGB over white, as grey, as RGBA."""
    rgba = as_rgba(values)
    rgb = flat(rgba)
    return rgb, grey_of(rgb), rgba


def sums(values, small):
    """The six CRCs. Of files with fewer than 16 bits, values of 16 are 257 times those of 8."""
    of_8 = three(small)
    of_16 = [wide(pixels) for pixels in of_8] if values.dtype == np.uint8 else three(values)
    found = []
    for pixels in (*of_8, *of_16):
        little = np.ascontiguousarray(pixels).astype(pixels.dtype.newbyteorder("<"))
        found.append(f"{zlib.crc32(little.tobytes()):08x}")
    return found


def undivided(rgba):
    """Colours before they were multiplied by alpha, as Pillow divides."""
    most = np.iinfo(rgba.dtype).max
    v, a = rgba[..., :3].astype(np.uint64), rgba[..., 3:].astype(np.uint64)
    divided = np.minimum(most, v * most // np.maximum(a, 1))
    return np.concatenate([np.where(a == 0, v, divided), a], axis=2).astype(rgba.dtype)


def from_cmyk(ink):
    most = np.iinfo(ink.dtype).max
    ink = ink.astype(np.uint64)
    light = most - ink[..., 3:]
    return (light - (ink[..., :3] * light + most // 2) // most).astype(np.uint8 if most == 255 else np.uint16)


def turned(values, orientation):
    turns = {1: lambda v: v, 2: np.fliplr, 3: lambda v: np.rot90(v, 2), 4: np.flipud, 5: lambda v: v.swapaxes(0, 1),
             6: lambda v: np.rot90(v, -1), 7: lambda v: np.rot90(v, 2).swapaxes(0, 1), 8: np.rot90}
    return np.ascontiguousarray(turns[orientation](values))


def pillow_rgb(data, page=0):
    with Image.open(io.BytesIO(data)) as image:
        if page:
            image.seek(page)
        image.load()
        image = ImageOps.exif_transpose(image)
        if image.mode.startswith("I"):
            return None  # 16-bit grey is cut off at 255
        if image.has_transparency_data:
            rgba = image.convert("RGBA")
            below = Image.new("RGB", image.size, (255, 255, 255))
            below.paste(rgba, mask=rgba.getchannel("A"))
            return np.asarray(below)
        return np.asarray(image.convert("RGB"))


def emit(name, kind, data, values, page=0, orientation=1, pillow=True, small=None):
    """Writes a line for a file that is decoded; `values` is upright. `small`: its 8-bit values, if other than the high bytes."""
    small = narrow(values) if small is None else small
    rgb = flat(as_rgba(small))
    if pillow:
        found = pillow_rgb(data, page)
        if found is not None and not np.array_equal(found, rgb):
            sys.exit(f"{name}: Pillow reads other values, {np.abs(found.astype(int) - rgb).max()} apart")
    text = base64.b64encode(data).decode()
    print("\t".join([name, kind, str(page), "ok", f"{rgb.shape[1]}x{rgb.shape[0]}", str(orientation), *sums(values, small), text]))


def refuse(name, kind, data, words, page=0):
    print("\t".join([name, kind, str(page), words, "", "", *[""] * 6, base64.b64encode(data).decode()]))


def noise(channels, dtype, width=W, height=H):
    """Smooth with noise: predictors and run lengths have something to do, and every value differs."""
    most = np.iinfo(dtype).max
    y, x, c = np.mgrid[:height, :width, :channels]
    values = (x * most // width + y * most // height + c * 17) // 2 + RNG.integers(0, most // 9, (height, width, channels))
    values = np.clip(values, 0, most).astype(dtype)
    return values[..., 0] if channels == 1 else values


# ---------------------------------------------------------------- TIFF, by tifffile


def tiff(values, **options):
    out = io.BytesIO()
    options.setdefault("metadata", None)
    options.setdefault("software", False)
    options.setdefault("photometric", "rgb" if values.ndim == 3 and values.shape[-1] >= 3 else "minisblack")
    tifffile.imwrite(out, values, **options)
    return out.getvalue()


def tiff_case(name, values, upright=None, pillow=True, small=None, **options):
    data = tiff(values, **options)
    read = tifffile.imread(io.BytesIO(data))
    if not np.array_equal(read, values):
        sys.exit(f"{name}: tifffile reads other values")
    if options.get("planarconfig") == "separate":
        values = np.moveaxis(values, 0, -1)
    emit(f"tiff {name}", "tiff", data, values if upright is None else upright, pillow=pillow, small=small)


def tiff_by_tifffile():
    u8, u16 = np.uint8, np.uint16
    for order, endian in (("<", "little"), (">", "big")):
        for compression in (None, "lzw", "adobe_deflate", "deflate", "packbits"):
            for channels, dtype in ((1, u8), (3, u8), (1, u16), (3, u16)):
                tiff_case(f"{endian} {compression} {channels}x{np.dtype(dtype).name} strips", noise(channels, dtype), byteorder=order,
                          compression=compression, rowsperstrip=4)
        for compression in ("lzw", "adobe_deflate"):
            for channels, dtype in ((1, u16), (3, u8), (3, u16)):
                tiff_case(f"{endian} {compression} predictor {channels}x{np.dtype(dtype).name}", noise(channels, dtype), byteorder=order,
                          compression=compression, predictor=True, rowsperstrip=5)
        for channels, dtype, compression in ((1, u8, None), (3, u16, "lzw"), (3, u8, "adobe_deflate"), (1, u16, "packbits")):
            tiff_case(f"{endian} {compression} {channels}x{np.dtype(dtype).name} tiles", noise(channels, dtype, 21, 35), byteorder=order,
                      compression=compression, tile=(16, 16))
        for dtype in (u8, u16):
            planes = np.ascontiguousarray(np.moveaxis(noise(3, dtype), -1, 0))
            tiff_case(f"{endian} planes {np.dtype(dtype).name} strips", planes, byteorder=order, planarconfig="separate", rowsperstrip=4,
                      pillow=dtype == u8)
            planes = np.ascontiguousarray(np.moveaxis(noise(3, dtype, 21, 20), -1, 0))
            tiff_case(f"{endian} planes {np.dtype(dtype).name} tiles", planes, byteorder=order, planarconfig="separate", tile=(16, 16),
                      compression="lzw", predictor=True, pillow=dtype == u8)
        tiff_case(f"{endian} bigtiff", noise(3, u8), byteorder=order, bigtiff=True, compression="lzw",
                  pillow=order == "<")  # Pillow cannot read the other order
        bilevel = noise(1, u8) > 127
        tiff_case(f"{endian} bilevel", bilevel, upright=bilevel * np.uint8(255), byteorder=order)
    tiff_case("one strip", noise(3, u8), compression="lzw")
    tiff_case("one strip of 16 bits", noise(3, u16), compression="adobe_deflate", predictor=True)


def tiff_channels():
    u8, u16 = np.uint8, np.uint16
    for dtype in (u8, u16):
        name, most = np.dtype(dtype).name, np.iinfo(dtype).max
        white = noise(1, dtype)
        tiff_case(f"white is zero {name}", white, upright=most - white, photometric="miniswhite", pillow=dtype == u8)
        rgba = noise(4, dtype)
        tiff_case(f"alpha {name}", rgba, extrasamples=["unassalpha"])
        tiff_case(f"unspecified {name}", rgba, upright=rgba[..., :3], extrasamples=["unspecified"])
        alpha = rgba[..., 3:].astype(np.uint64)
        alpha[0, 0], alpha[0, 1] = 0, most
        multiplied = np.concatenate([rgba[..., :3] * alpha // most, alpha], axis=2).astype(dtype)
        tiff_case(f"associated alpha {name}", multiplied, upright=undivided(multiplied), small=undivided(narrow(multiplied)),
                  extrasamples=["assocalpha"])
        tiff_case(f"CMYK {name}", rgba, upright=from_cmyk(rgba), small=from_cmyk(narrow(rgba)), photometric="separated")
        grey_alpha = noise(2, dtype)
        tiff_case(f"grey and alpha {name}", grey_alpha, photometric="minisblack", planarconfig="contig", extrasamples=["unassalpha"],
                  pillow=dtype == u8)
    five = noise(5, u8)
    tiff_case("five values, alpha first", five, upright=five[..., :4], extrasamples=["unassalpha", "unspecified"])
    palette = RNG.integers(0, 65536, (3, 256)).astype(u16)
    places = RNG.integers(0, 256, (H, W)).astype(u8)
    tiff_case("palette", places, upright=np.moveaxis(palette[:, places] >> 8, 0, -1).astype(u8), photometric="palette", colormap=palette)
    out = io.BytesIO()
    first, second = noise(3, u8), noise(1, u16, 9, 8)
    with tifffile.TiffWriter(out) as writer:
        writer.write(first, photometric="rgb", compression="lzw", metadata=None)
        writer.write(second, photometric="minisblack", metadata=None)
    emit("tiff two pages, first", "tiff", out.getvalue(), first)
    emit("tiff two pages, second", "tiff", out.getvalue(), second, page=1)
    refuse("tiff two pages, third", "tiff", out.getvalue(), "no page 2: it has 2", page=2)


# ---------------------------------------------------------------- TIFF, by hand


def raw_tiff(tags, data, order="<", extra=b""):
    """One strip. Tags: number -> (type, values)."""
    sizes = {1: "B", 3: "H", 4: "I"}
    entries, after = [], b""
    tags = dict(tags)
    first = 8 + 2 + 12 * (len(tags) + 2) + 4
    tags[273], tags[279] = (4, [0]), (4, [len(data)])
    bodies = {}
    for tag, (kind, values) in sorted(tags.items()):
        body = struct.pack(order + str(len(values)) + sizes[kind], *values)
        if len(body) > 4:
            bodies[tag] = first + len(after)
            after += body + b"\0" * (len(body) % 2)
    tags[273] = (4, [first + len(after)])
    for tag, (kind, values) in sorted(tags.items()):
        body = struct.pack(order + str(len(values)) + sizes[kind], *values)
        place = body.ljust(4, b"\0") if len(body) <= 4 else struct.pack(order + "I", bodies[tag])
        entries.append(struct.pack(order + "HHI", tag, kind, len(values)) + place)
    magic = b"II*\0" if order == "<" else b"MM\0*"
    return magic + struct.pack(order + "IH", 8, len(entries)) + b"".join(entries) + struct.pack(order + "I", 0) + after + data + extra


def packed(values, bits):
    """Rows of values of 1, 2 or 4 bits, each filled up to a byte."""
    rows = []
    for row in values:
        text = "".join(f"{v:0{bits}b}" for v in row)
        text += "0" * (-len(text) % 8)
        rows.append(bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8)))
    return b"".join(rows)


def base_tags(width, height, bits, samples, photometric, compression=1):
    return {256: (3, [width]), 257: (3, [height]), 258: (3, [bits] * samples), 259: (3, [compression]), 262: (3, [photometric]),
            277: (3, [samples]), 278: (3, [height])}


def tiff_by_hand():
    for bits in (1, 2, 4):
        most = (1 << bits) - 1
        values = RNG.integers(0, most + 1, (H, W)).astype(np.uint8)
        scaled = values * np.uint8(255 // most)
        emit(f"tiff grey of {bits} bits", "tiff", raw_tiff(base_tags(W, H, bits, 1, 1), packed(values, bits)), scaled)
        emit(f"tiff white is zero of {bits} bits", "tiff", raw_tiff(base_tags(W, H, bits, 1, 0), packed(values, bits)), 255 - scaled)
        reverse = bytes(int(f"{b:08b}"[::-1], 2) for b in packed(values, bits))
        tags = base_tags(W, H, bits, 1, 1) | {266: (3, [2])}
        emit(f"tiff low bits first, {bits} bits", "tiff", raw_tiff(tags, reverse), scaled)
        colours = RNG.integers(0, 65536, (3, most + 1))
        tags = base_tags(W, H, bits, 1, 3) | {320: (3, [int(v) for v in colours.ravel()])}
        emit(f"tiff palette of {bits} bits", "tiff", raw_tiff(tags, packed(values, bits), ">"),
             np.moveaxis(colours[:, values] >> 8, 0, -1).astype(np.uint8))
        tags = base_tags(W, H, bits, 1, 3) | {320: (3, [int(v) for v in (colours >> 8).ravel()])}
        emit(f"tiff palette of {bits} bits with entries of 8", "tiff", raw_tiff(tags, packed(values, bits)),
             np.moveaxis(colours[:, values] >> 8, 0, -1).astype(np.uint8), pillow=False)
    rgb = noise(3, np.uint8)
    for orientation in range(1, 9):
        tags = base_tags(W, H, 8, 3, 2) | {274: (3, [orientation])}
        emit(f"tiff orientation {orientation}", "tiff", raw_tiff(tags, rgb.tobytes()), turned(rgb, orientation), orientation=orientation)
    wide_rgb = noise(3, np.uint16)
    tags = base_tags(W, H, 16, 3, 2) | {274: (3, [6])}
    emit("tiff orientation 6 of 16 bits", "tiff", raw_tiff(tags, wide_rgb.astype(">u2").tobytes(), ">"), turned(wide_rgb, 6), orientation=6)
    rgba = noise(4, np.uint8)
    emit("tiff four values without a word", "tiff", raw_tiff(base_tags(W, H, 8, 4, 2), rgba.tobytes()), rgba)


def tiff_jpeg():
    photo = Image.fromarray(noise(3, np.uint8, 40, 33))
    for mode, more in (("RGB", {}), ("L", {}), ("RGB", {"strip_size": 16 * 40 * 3})):
        out = io.BytesIO()
        photo.convert(mode).save(out, "TIFF", compression="jpeg", quality=85, **more)
        emit(f"tiff JPEG {mode} {'strips' if more else 'one strip'}", "tiff", out.getvalue(), pillow_rgb(out.getvalue()))
    tiles = tiff(noise(3, np.uint8, 40, 33), compression="jpeg", compressionargs={"level": 90}, tile=(16, 32))
    emit("tiff JPEG tiles", "tiff", tiles, pillow_rgb(tiles))


def tiff_refused():
    values = noise(1, np.uint8)
    refuse("tiff float", "tiff", tiff(values.astype(np.float32)), "floating-point values of 32 bits")
    refuse("tiff signed", "tiff", tiff(values.astype(np.int16)), "signed values of 16 bits")
    refuse("tiff 32 bits", "tiff", tiff(values.astype(np.uint32)), "values of 32 bits")
    refuse("tiff zstd", "tiff", tiff(values, compression="zstd"), "Zstandard compression")
    refuse("tiff lzma", "tiff", tiff(values, compression="lzma"), "LZMA compression")
    refuse("tiff eight values", "tiff", tiff(noise(8, np.uint8), photometric="minisblack", planarconfig="contig"), "8 values a pixel")
    out = io.BytesIO()
    Image.fromarray(values > 127).save(out, "TIFF", compression="group4")
    refuse("tiff group 4", "tiff", out.getvalue(), "CCITT group 4 compression")
    refuse("tiff Lab", "tiff", raw_tiff(base_tags(W, H, 8, 3, 8), noise(3, np.uint8).tobytes()), "CIE Lab")
    refuse("tiff YCbCr", "tiff", raw_tiff(base_tags(W, H, 8, 3, 6), noise(3, np.uint8).tobytes()), "YCbCr")
    refuse("tiff palette missing", "tiff", raw_tiff(base_tags(W, H, 4, 1, 3), values.tobytes()), "")
    refuse("tiff width 0", "tiff", raw_tiff(base_tags(0, H, 8, 1, 1), values.tobytes()), "")
    refuse("tiff height 0", "tiff", raw_tiff(base_tags(W, 0, 8, 1, 1), values.tobytes()), "")
    tags = base_tags(W, H, 8, 1, 1)
    refuse("tiff huge sides", "tiff", raw_tiff(tags | {256: (4, [2**32 - 1]), 257: (4, [2**32 - 1])}, values.tobytes()), "")
    refuse("tiff huge samples", "tiff", raw_tiff(tags | {277: (3, [65535])}, values.tobytes()), "")
    refuse("tiff zero rows a strip", "tiff", raw_tiff(tags | {278: (3, [0])}, values.tobytes()), "")
    refuse("tiff missing strip", "tiff", raw_tiff(tags | {257: (3, [5 * H])}, values.tobytes()), "")
    tile = base_tags(W, H, 8, 1, 1)
    del tile[278]
    huge = tile | {322: (4, [65536]), 323: (4, [65536]), 324: (4, [8]), 325: (4, [64])}
    refuse("tiff huge tiles", "tiff", raw_tiff(huge, values.tobytes()), "tiles of 65536x65536")
    many = tile | {256: (4, [60000]), 257: (4, [2900]), 322: (4, [1]), 323: (4, [1]), 324: (4, [8]), 325: (4, [64])}
    refuse("tiff very many tiles", "tiff", raw_tiff(many, values.tobytes()), "")
    loop = bytearray(raw_tiff(tags, values.tobytes()))
    after = 8 + 2 + 12 * struct.unpack_from("<H", loop, 8)[0]
    struct.pack_into("<I", loop, after, 8)
    refuse("tiff loop of directories", "tiff", bytes(loop), "", page=3)
    emit("tiff loop of directories, first page", "tiff", bytes(loop), values, pillow=False)


# ---------------------------------------------------------------- BMP


def bmp(width, height, bits, data, header=40, compression=0, masks=(), palette=b"", colours=0, file_offset=None):
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(data), 2835, 2835, colours, 0)
        inside = header - 40
        body = struct.pack("<" + "I" * len(masks), *masks)
        info += body[:inside].ljust(inside, b"\0") if inside else body
    offset = 14 + len(info) + len(palette)
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset if file_offset is None else file_offset) + info + palette + data


def padded(rows):
    return b"".join(bytes(row) + b"\0" * (-len(row) % 4) for row in rows)


def bmp_palettes():
    for bits in (1, 4, 8):
        count = 1 << bits
        places = RNG.integers(0, count, (H, W)).astype(np.uint8)
        colours = RNG.integers(0, 256, (count, 3)).astype(np.uint8)
        rows = [packed([row], bits) if bits < 8 else row.tobytes() for row in places]
        bgr = colours[:, ::-1]
        quads = b"".join(bytes(c) + b"\0" for c in bgr)
        emit(f"bmp core {bits}", "bmp", bmp(W, H, bits, padded(rows[::-1]), header=12, palette=bgr.tobytes()), colours[places])
        emit(f"bmp info {bits}", "bmp", bmp(W, H, bits, padded(rows[::-1]), palette=quads), colours[places])
        emit(f"bmp top down {bits}", "bmp", bmp(W, -H, bits, padded(rows), palette=quads), colours[places])
        emit(f"bmp without its offset {bits}", "bmp", bmp(W, H, bits, padded(rows[::-1]), palette=quads, file_offset=0), colours[places])
        for header in (64, 108, 124):
            emit(f"bmp header {header}, {bits}", "bmp", bmp(W, H, bits, padded(rows[::-1]), header=header, palette=quads), colours[places])
    grey = noise(1, np.uint8)
    ramp = b"".join(bytes([i, i, i, 0]) for i in range(256))
    emit("bmp grey", "bmp", bmp(W, H, 8, padded(row.tobytes() for row in grey[::-1]), palette=ramp), grey)
    few = RNG.integers(0, 256, (200, 3)).astype(np.uint8)
    places = RNG.integers(0, 256, (H, W)).astype(np.uint8)
    table = np.array([few[i] if i < 200 else [0] * 3 for i in range(256)], np.uint8)
    quads = b"".join(bytes(c) + b"\0" for c in few[:, ::-1])
    emit("bmp places beyond the palette", "bmp", bmp(W, H, 8, padded(row.tobytes() for row in places[::-1]), palette=quads, colours=200),
         table[places])


def bmp_colours():
    rgb, rgba = noise(3, np.uint8), noise(4, np.uint8)
    bgr = [row[:, ::-1].tobytes() for row in rgb]
    for header in (12, 40, 64, 108, 124):
        emit(f"bmp header {header}, 24", "bmp", bmp(W, H, 24, padded(bgr[::-1]), header=header), rgb)
    emit("bmp top down 24", "bmp", bmp(W, -H, 24, padded(bgr)), rgb)
    bgra = [row[:, [2, 1, 0, 3]].tobytes() for row in rgba]
    emit("bmp 32", "bmp", bmp(W, H, 32, padded(bgra[::-1])), rgba[..., :3])
    alpha = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    for header in (56, 108, 124):
        emit(f"bmp alpha, header {header}", "bmp", bmp(W, H, 32, padded(bgra[::-1]), header=header, compression=3, masks=alpha), rgba)
    for header in (40, 52):
        emit(f"bmp 32 with masks, header {header}", "bmp",
             bmp(W, H, 32, padded(bgra[::-1]), header=header, compression=3, masks=alpha[:3]), rgba[..., :3])
    straight = [row.tobytes() for row in rgba]
    emit("bmp red lowest", "bmp", bmp(W, H, 32, padded(straight[::-1]), header=108, compression=3,
                                      masks=(0xFF, 0xFF00, 0xFF0000, 0xFF000000)), rgba)
    emit("bmp 32 with empty masks", "bmp", bmp(W, H, 32, padded(bgra[::-1]), header=108, compression=3, masks=(0, 0, 0, 0)), rgba)
    values = RNG.integers(0, 65536, (H, W)).astype("<u2")
    rows = padded(row.tobytes() for row in values[::-1])
    five = lambda shift: ((values >> shift & 31).astype(int) * 255 // 31).astype(np.uint8)  # noqa: E731
    green = ((values >> 5 & 63).astype(int) * 255 // 63).astype(np.uint8)
    emit("bmp 15", "bmp", bmp(W, H, 16, rows), np.dstack([five(10), five(5), five(0)]))
    emit("bmp 16", "bmp", bmp(W, H, 16, rows, compression=3, masks=(0xF800, 0x7E0, 0x1F)), np.dstack([five(11), green, five(0)]))
    four = lambda shift: ((values >> shift & 15).astype(int) * 17).astype(np.uint8)  # noqa: E731
    emit("bmp fields of 4 bits", "bmp", bmp(W, H, 16, rows, header=56, compression=3, masks=(0xF00, 0xF0, 0xF, 0xF000)),
         np.dstack([four(8), four(4), four(0), four(12)]), pillow=False)
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, "BMP")
    emit("bmp by Pillow", "bmp", out.getvalue(), rgb)


def bmp_runs():
    colours = RNG.integers(0, 256, (256, 3)).astype(np.uint8)
    quads = b"".join(bytes(c) + b"\0" for c in colours[:, ::-1])
    expected = np.zeros((H, W), np.uint8)
    data = b""
    for y in range(H):  # from the bottom up: a run, single values (padded to an even place), the rest by a run
        low, high = int(RNG.integers(1, 5)), int(RNG.integers(3, 7))
        single = RNG.integers(0, 256, high).astype(np.uint8)
        rest = W - low - high
        expected[H - 1 - y] = [y] * low + list(single) + [200 + y] * rest
        data += bytes([low, y, 0, high]) + single.tobytes() + b"\0" * (high % 2) + bytes([rest, 200 + y, 0, 0])
    emit("bmp run lengths of 8", "bmp", bmp(W, H, 8, data + b"\0\1", compression=1, palette=quads), colours[expected])
    jump = bytes([0, 2, 5, 2]) + bytes([4, 9, 0, 0]) * 1 + bytes([W, 3, 0, 0]) * (H - 3) + b"\0\1"
    skipped = np.full((H, W), 3, np.uint8)
    skipped[H - 3:] = 0
    skipped[H - 3, 5:9] = 9
    emit("bmp run lengths with a jump", "bmp", bmp(W, H, 8, jump, compression=1, palette=quads), colours[skipped])
    expected = np.zeros((H, W), np.uint8)
    data = b""
    for y in range(H):
        run, high = 6, 5
        single = RNG.integers(0, 16, high + 1)
        expected[H - 1 - y] = [y, 15 - y] * 3 + list(single[:high]) + [2, 7] * ((W - run - high) // 2)
        pairs = bytes(int(single[i]) << 4 | int(single[i + 1]) for i in (0, 2, 4))
        data += bytes([run, y << 4 | (15 - y), 0, high]) + pairs + b"\0" + bytes([W - run - high, 2 << 4 | 7, 0, 0])
    emit("bmp run lengths of 4", "bmp", bmp(W, H, 4, data + b"\0\1", compression=2, palette=quads[:64]), colours[expected])
    refuse("bmp run lengths that end early", "bmp", bmp(W, H, 8, bytes([W, 3, 0, 0, 0, 1]), compression=1, palette=quads), "cut short")


def bmp_refused():
    rows = padded([b"\0" * 4 * W] * H)
    refuse("bmp JPEG inside", "bmp", bmp(W, H, 32, rows, compression=4), "a JPEG file inside")
    refuse("bmp PNG inside", "bmp", bmp(W, H, 32, rows, compression=5), "a PNG file inside")
    refuse("bmp 2 bits", "bmp", bmp(W, H, 2, rows), "2 bits a pixel")
    refuse("bmp run lengths of 24 bits", "bmp", bmp(W, H, 24, rows, compression=1), "run lengths")
    refuse("bmp fields with gaps", "bmp", bmp(W, H, 32, rows, header=108, compression=3, masks=(0xF0F, 0xFF00, 0xFF0000, 0)), "bit fields")
    refuse("bmp header 66", "bmp", bmp(W, H, 24, rows, header=66), "a header of 66 bytes")
    refuse("bmp width 0", "bmp", bmp(0, H, 24, rows), "a width of 0")
    refuse("bmp height 0", "bmp", bmp(W, 0, 24, rows), "a height of 0")
    refuse("bmp huge", "bmp", bmp(2**31 - 1, -2**31, 24, rows), "a height of -2147483648")
    refuse("bmp large", "bmp", bmp(2**31 - 1, 2**31 - 1, 1, rows), "cut short")
    refuse("bmp huge palette", "bmp", bmp(W, H, 8, rows, colours=2**31), "a palette of")


# ---------------------------------------------------------------- PNM


def scaled(values, most, top):
    exact = values.astype(np.float64) / most * top
    return np.minimum(top, np.rint(exact)).astype(np.uint8 if top == 255 else np.uint16)


def plain(values):
    return "\n".join(" ".join(map(str, row)) for row in values.reshape(values.shape[0], -1)).encode()


def pnm():
    bits = RNG.integers(0, 2, (H, W)).astype(np.uint8)
    black = (1 - bits) * np.uint8(255)
    emit("pnm P1", "pnm", f"P1\n# bits\n{W} {H}\n".encode() + plain(bits) + b"\n", black)
    tight = b"\n".join("".join(map(str, row)).encode() + b" # row" for row in bits)
    emit("pnm P1 without spaces", "pnm", f"P1 {W}\t{H}\r".encode() + tight + b"\n", black)
    emit("pnm P4", "pnm", f"P4\n{W} {H}\n".encode() + packed(bits, 1), black)
    for most in (255, 15, 100, 6, 1):
        grey, rgb = RNG.integers(0, most + 1, (H, W)), RNG.integers(0, most + 1, (H, W, 3))
        head = f"{W} {H}\n{most}\n".encode()
        emit(f"pnm P2 of {most}", "pnm", b"P2\n#\n" + head + plain(grey) + b"\n", scaled(grey, most, 255))
        emit(f"pnm P3 of {most}", "pnm", b"P3 # a comment\r" + head + plain(rgb), scaled(rgb, most, 255))
        emit(f"pnm P5 of {most}", "pnm", b"P5\n" + head + grey.astype(np.uint8).tobytes(), scaled(grey, most, 255))
        emit(f"pnm P6 of {most}", "pnm", b"P6\n# one\n# two\n" + head + rgb.astype(np.uint8).tobytes(), scaled(rgb, most, 255))
    for most in (65535, 1000, 4095, 256):
        grey, rgb = RNG.integers(0, most + 1, (H, W)), RNG.integers(0, most + 1, (H, W, 3))
        head = f"{W} {H}\n{most}\n".encode()
        emit(f"pnm P2 of {most}", "pnm", b"P2\n" + head + plain(grey) + b"\n", scaled(grey, most, 65535))
        emit(f"pnm P3 of {most}", "pnm", b"P3\n" + head + plain(rgb) + b"\n", scaled(rgb, most, 65535), pillow=False)
        emit(f"pnm P5 of {most}", "pnm", b"P5\n" + head + grey.astype(">u2").tobytes(), scaled(grey, most, 65535))
        emit(f"pnm P6 of {most}", "pnm", b"P6\n" + head + rgb.astype(">u2").tobytes(), scaled(rgb, most, 65535), pillow=False)
    over = RNG.integers(0, 256, (H, W))
    emit("pnm values above the largest", "pnm", f"P5 {W} {H} 200 ".encode() + over.astype(np.uint8).tobytes(),
         scaled(np.minimum(over, 200), 200, 255))
    refuse("pnm plain value above the largest", "pnm", b"P2 2 1 9 10 3\n", "no value of this image")
    refuse("pnm letters", "pnm", b"P2 2 1 9 1 x\n", "no value of this image")
    refuse("pnm bit 2", "pnm", b"P1 2 1 1 2\n", "no value of this image")
    refuse("pnm width 0", "pnm", b"P5 0 4 255 abcd", "a width of 0")
    refuse("pnm largest value 0", "pnm", b"P5 2 2 0 abcd", "0 as the largest value")
    refuse("pnm largest value 65536", "pnm", b"P5 2 2 65536 abcd", "65536 as the largest value")
    refuse("pnm huge", "pnm", b"P6 999999999 999999999 255 abcd", "cut short")
    refuse("pnm long number", "pnm", b"P6 12345678901 2 255 abcd", "a header without its numbers")
    refuse("pnm no numbers", "pnm", b"P6 # only a comment", "a header without its numbers")


def main():
    tiff_by_tifffile()
    tiff_channels()
    tiff_by_hand()
    tiff_jpeg()
    tiff_refused()
    bmp_palettes()
    bmp_colours()
    bmp_runs()
    bmp_refused()
    pnm()


if __name__ == "__main__":
    main()
