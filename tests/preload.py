"""Libraries that are preloaded into the program, from one C file each beside this one."""

import os
import pathlib
import subprocess


def built(name, folder):
    """The library of `name`.c, made in the folder."""
    library = pathlib.Path(folder) / f"{name}.so"
    source = pathlib.Path(__file__).with_name(f"{name}.c")
    subprocess.run([os.environ.get("CC", "cc"), "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"],
                   check=True)
    return library
