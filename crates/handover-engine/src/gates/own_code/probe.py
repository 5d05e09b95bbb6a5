# Says where Python finds the project's code: `probe.py CHECKOUT WORKTREE` prints folders of the checkout that
# it searches, and modules that it would still import from there.
import importlib.util
import json
import os
import sys

checkout, worktree = (os.path.realpath(path) for path in sys.argv[1:3])
installed = os.path.realpath(sys.prefix)


def within(path, folder):
    return path == folder or path.startswith(folder + os.sep)


def strays(path):
    path = os.path.realpath(path)
    return within(path, checkout) and not within(path, worktree) and not within(path, installed)


roots, names = [], set()


def search(folder):
    below = os.path.relpath(os.path.realpath(folder), checkout)
    if below not in roots:
        roots.append(below)


for folder in sys.path:
    if folder and strays(folder):
        search(folder)
for name, module in list(sys.modules.items()):
    # The import hooks of editable installs.
    if name.startswith("__editable__"):
        for package, place in dict(getattr(module, "MAPPING", {})).items():
            if strays(place):
                names.add(package.partition(".")[0])
                for _ in package.split("."):
                    place = os.path.dirname(place)
                search(place)
for below in roots:
    folder = os.path.join(worktree, below)
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        name, end = os.path.splitext(entry)
        if end == ".py" or os.path.isfile(os.path.join(folder, entry, "__init__.py")):
            names.add(name)
found = []
for name in sorted(names)[:500]:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        continue
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or [])]
    for place in places:
        if place and strays(place):
            found.append([name, os.path.realpath(place)])
            break
print(json.dumps({"roots": roots, "strays": found}))
