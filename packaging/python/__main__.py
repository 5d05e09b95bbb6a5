"""Starts the program, as `python -m handover_cli` and `handover-cli` do."""

import os
import subprocess
import sys

from handover_cli import find_program


def main():
    try:
        program = find_program()
    except FileNotFoundError as error:
        sys.exit("handover: %s" % error)
    if os.name == "nt":
        # Replacing this process would return to the shell at once.
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
