"""`python -m stoker ARGUMENTS` becomes the program stoker.

`python -m stoker convert IN.parquet... OUT` writes tables with a column of encoded images as shards;
`python -m stoker --cmake-prefix` prints what CMake needs.
"""

import argparse
import os
import sys


def convert(words):
    parser = argparse.ArgumentParser(prog="python -m stoker convert", description="Write Parquet files with a column of encoded "
                                     "images as tar shards, which stoker and WebDataset read")
    parser.add_argument("files", nargs="+", metavar="IN.parquet", help="tables with the same columns, read into memory")
    parser.add_argument("out", metavar="OUT", help="a folder, or s3://bucket/prefix")
    parser.add_argument("--image", help="column of the images (not given: the only binary one, else by its name)")
    parser.add_argument("--label", help="column of the classes (not given: by its name)")
    parser.add_argument("--shard-bytes", type=int, default=256 << 20, help="of one shard, about")
    parser.add_argument("--seed", type=int, default=0, help="the samples are shuffled once by it")
    options = parser.parse_args(words)
    from . import _feed, _own_data, _tables
    columns = {role: name for role, name in (("image", options.image), ("label", options.label)) if name}
    try:
        source = _tables.read_parquet(options.files, _own_data.ImageOptions(columns=columns))
        samples, shards, size = _feed.write_shards(source, options.out, options.shard_bytes, options.seed)
    except ImportError as error:
        sys.exit(f"python -m stoker convert: {error}. Install pyarrow, which reads Parquet")
    except (_feed.Error, OSError, TypeError, ValueError) as error:
        sys.exit(f"python -m stoker convert: {error}")
    print(f"{options.out}: {samples} samples in {shards} shards, {size / 1e6:.1f} MB")
    return 0


def main():
    prefix = os.path.dirname(os.path.abspath(__file__))
    if sys.argv[1:] == ["--cmake-prefix"]:
        print(prefix)
        return 0
    if sys.argv[1:2] == ["convert"]:
        return convert(sys.argv[2:])
    program = os.path.join(prefix, "bin", "stoker")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
