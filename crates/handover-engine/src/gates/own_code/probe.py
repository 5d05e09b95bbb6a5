# Says where Python finds the project's code: `probe.py CHECKOUT WORKTREE FOLDER...` prints, for each folder of the
# project, the folders of the worktree that must come first, and the modules that are imported from elsewhere.
import sys

# Gates need not run where the probe does, and a module of the project must not stand for one of Python's.
sys.path[:] = [folder for folder in sys.path if folder]

import importlib.metadata
import importlib.util
import json
import os
import re
import sysconfig

checkout, worktree = (os.path.realpath(path) for path in sys.argv[1:3])
installed = os.path.realpath(sys.prefix)
library = [os.path.realpath(sysconfig.get_paths()[it]) for it in ("stdlib", "platstdlib")]
MOST = 500


def within(path, folder):
    return path == folder or path.startswith(folder + os.sep)


def in_checkout(path):
    return within(path, checkout) and not within(path, worktree) and not within(path, installed)


def place_of(name):
    # Where a module would be imported from; none if it would not be found, or is part of Python.
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        return None
    if spec is None or spec.origin in ("built-in", "frozen"):
        return None
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
    place = os.path.realpath(places[0]) if places else None
    is_library = place and any(within(place, it) for it in library) and "-packages" + os.sep not in place
    return None if is_library else place


def modules(folder, prefix="", depth=0):
    # The modules of a source folder. Without an `__init__.py`, a folder below it may still hold packages.
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        name, end = os.path.splitext(entry)
        path = os.path.join(folder, entry)
        if end == ".py" and name.isidentifier() and name != "__init__":
            yield prefix + name
        elif not end and entry.isidentifier() and os.path.isdir(path):
            if os.path.isfile(os.path.join(path, "__init__.py")):
                yield prefix + entry
            elif depth < 2 and (prefix or os.path.basename(folder) == "src"):
                yield from modules(path, prefix + entry + ".", depth + 1)


def find(folder, name, depth=0):
    # The source folder that holds a top-level module.
    if os.path.isfile(os.path.join(folder, name, "__init__.py")) or os.path.isfile(os.path.join(folder, name + ".py")):
        return folder
    for entry in sorted(os.listdir(folder)) if depth < 3 and os.path.isdir(folder) else []:
        path = os.path.join(folder, entry)
        if entry[0] != "." and entry not in ("node_modules", "target", "build", "tests", "test") and os.path.isdir(path):
            found = find(path, name, depth + 1)
            if found:
                return found
    return None


def normal(name):
    return re.sub(r"[-_.]+", "-", name or "").lower()


def project_name(folder):
    try:
        with open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    for table in re.split(r"(?m)^(?=\[)", text):
        if re.match(r"\[(project|tool\.poetry)\]", table):
            name = re.search(r"(?m)^name\s*=\s*[\"']([^\"']+)[\"']", table)
            if name:
                return name.group(1)
    return None


def installs():
    # Distributions that were installed from the checkout, or have a name: (name, folder in the checkout, modules).
    for dist in importlib.metadata.distributions():
        try:
            url = json.loads(dist.read_text("direct_url.json") or "{}").get("url", "")
            source = os.path.realpath(url[len("file://"):]) if url.startswith("file://") else None
            if source is not None and not in_checkout(source):
                source = None
            yield normal(dist.metadata["Name"]), source, dist
        except Exception:
            continue


def modules_of(dist):
    names = set((dist.read_text("top_level.txt") or "").split())
    for file in dist.files or []:
        name, end = os.path.splitext(file.parts[0])
        if len(file.parts) > 1 and not end or len(file.parts) == 1 and end in (".py", ".so"):
            names.add(name.partition(".")[0])
    return sorted(name for name in names if name.isidentifier() and not name.startswith("__") and not name.endswith("_editable"))


def hooked():
    # What the import hooks of editable installs map to the checkout: (module, source folder).
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            for package, place in dict(getattr(module, "MAPPING", {})).items():
                if in_checkout(os.path.realpath(place)):
                    for _ in package.split("."):
                        place = os.path.dirname(place)
                    yield package.partition(".")[0], place


def here(place):
    return os.path.join(worktree, os.path.relpath(os.path.realpath(place), checkout))


# What the interpreter knows of the checkout, whatever the folder.
shared = [here(folder) for folder in sys.path if in_checkout(os.path.realpath(folder))]
shared_names = set()
for name, place in hooked():
    shared.append(here(place))
    shared_names.add(name)
known = list(installs())


def answer(below):
    folder = os.path.normpath(os.path.join(worktree, below))
    roots, strays, seen, ours = list(dict.fromkeys(shared)), {}, {}, set(shared_names)
    sources = [os.path.join(folder, "src"), folder]
    for root in [*roots, *sources, *(it for it in sys.path if within(os.path.realpath(it), worktree))]:
        for name in modules(root):
            seen.setdefault(name, root)
    for name in shared_names:
        seen.setdefault(name, find(folder, name))
    own = normal(project_name(folder))
    for name, source, dist in known:
        if source or name == own:
            for module in modules_of(dist):
                root = find(here(source) if source else folder, module)
                # Another distribution of that name may have modules that this project does not.
                if root or source:
                    seen.setdefault(module, root)
                    ours.add(module)
    if own:
        seen.setdefault(own.replace("-", "_"), find(folder, own.replace("-", "_")))
    for name, root in list(seen.items())[:MOST]:
        place = place_of(name)
        if place is None or within(place, worktree):
            continue
        if root is None and name not in ours and not in_checkout(place):
            continue
        strays[name] = place
        if root is not None and root not in roots:
            roots.append(root)
    return {"roots": [os.path.relpath(root, worktree) for root in roots], "strays": sorted(strays.items())}


print(json.dumps([answer(below) for below in sys.argv[3:]]))
