#!python
# The command `stoker` of the wheel, which becomes the program. pip's own kind of script would import more first.
import sys

from stoker.__main__ import main

sys.exit(main())
