"""The Python side of Handover: finds and starts the program that the wheel installed."""

import os
import sys
import sysconfig


def find_program():
    """The path of the installed program."""
    name = "handover.exe" if os.name == "nt" else "handover"
    folders = [sysconfig.get_path("scripts")]
    user = "nt_user" if os.name == "nt" else "posix_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", scheme=user))
    # `pip install --target` and `--prefix` put it beside or above the module.
    here = os.path.dirname(os.path.abspath(__file__))
    folders.append(os.path.join(os.path.dirname(here), "bin"))
    folders.append(os.path.dirname(os.path.abspath(sys.argv[0])))
    for folder in folders:
        program = os.path.join(folder, name)
        if os.path.isfile(program):
            return program
    raise FileNotFoundError(
        "the program `%s` of the package handover-cli is in none of %s; "
        "install the package again: pip install --force-reinstall handover-cli"
        % (name, ", ".join(folders))
    )
