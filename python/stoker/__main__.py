"""`python -m stoker ARGUMENTS` becomes the program stoker; `python -m stoker --cmake-prefix` prints what CMake needs."""

import os
import sys


def main():
    prefix = os.path.dirname(os.path.abspath(__file__))
    if sys.argv[1:] == ["--cmake-prefix"]:
        print(prefix)
        return 0
    program = os.path.join(prefix, "bin", "stoker")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
