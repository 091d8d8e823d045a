#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints the size of every module, and checks the rules of CONTRIBUTING.md, "Size".

usage: sizes.py SOURCE_DIR [LIST]

LIST prints what a column counts instead: headers, names, tags, circles, folds, or functions of more than 45 lines.
A module is a folder of src; cli is one. Lines are counted as they stand, comments included. Needs Universal Ctags.
"""
import collections
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

# Held: no function and no file may be longer, nothing may be defined twice, and the others may only fall.
FUNCTION_LINES = 100
FILE_LINES = 1200
LIMITS = {"lines": 109132, ".c": 190, ".h": 128, "headers": 0, "names": 0, "tags": 0, "circles": 0}
FOLD_LINES = 8

root = pathlib.Path(sys.argv[1]).resolve()
wanted = sys.argv[2] if len(sys.argv) > 2 else None
ctags = next((c for c in ("universal-ctags", "ctags") if shutil.which(c)), None)
if not ctags or "Universal Ctags" not in subprocess.run([ctags, "--version"], capture_output=True, text=True).stdout:
    print("SKIPPED: Universal Ctags is not here")
    sys.exit(77)

SUFFIXES = (".c", ".h", ".comp", ".glsl")
text = {p: p.read_text() for folder in ("src", "cli", "plugins", "shaders", "samples", "tests")
        for p in sorted((root / folder).rglob("*")) if p.suffix in SUFFIXES}
house = [p for p in text if p.relative_to(root).parts[0] in ("src", "cli") and p.suffix in (".c", ".h")]
kept_short = [p for p in text if p.relative_to(root).parts[0] != "tests"]
lines_of = {p: t.count("\n") for p, t in text.items()}


def name(path):
    return str(path.relative_to(root))


def module_of(path):
    parts = path.relative_to(root).parts
    return "cli" if parts[0] == "cli" else "/".join(parts[:2])


Function = collections.namedtuple("Function", "path name first lines static")
functions, places_of_tags = [], collections.defaultdict(set)
listing = subprocess.run(
    [ctags, "--options=NONE", "--languages=C", "--langmap=C:.c.h.comp.glsl", "--kinds-C=fgsu", "--fields=+neK", "-f", "-", "-L", "-"],
    input="\n".join(map(str, kept_short)), capture_output=True, text=True, check=True).stdout
for row in listing.splitlines():
    fields = row.split("\t")
    path, extra = pathlib.Path(fields[1]), dict(f.split(":", 1) for f in fields[3:] if ":" in f)
    kind, first = next(f for f in fields[3:] if ":" not in f), int(extra["line"])
    if kind == "function":
        head = " ".join(text[path].splitlines()[max(0, first - 3):first])
        functions.append(Function(path, fields[0], first, int(extra.get("end", first)) - first + 1,
                                  bool(re.search(r"\bstatic\b[^;{}]*$", head))))
    elif path in set(house) and not fields[0].startswith("__anon"):
        places_of_tags[fields[0]].add(f"{name(path)}:{first}")

# Who includes a header, apart from the .c file of the same name.
users = collections.defaultdict(set)
for path, content in text.items():
    for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', content, re.M):
        header = next((base / included for base in (root / "src", root / "cli", path.parent) if base / included in text), None)
        if header and header.with_suffix("") != path.with_suffix(""):
            users[header].add(path)
headers = [p for p in house if p.suffix == ".h" and root / "src/include" not in p.parents]
few_users = {h: users[h] for h in headers if len(users[h]) < 2}

twice = {tag: places for tag, places in places_of_tags.items() if len(places) > 1}
files_of_names = collections.defaultdict(set)
for f in functions:
    if f.static and f.path.suffix == ".c" and f.path in set(house):
        files_of_names[module_of(f.path), f.name].add(f.path)
# A header may declare what each file that includes it defines, such as a kernel for its instruction set.
asked_for = {(module_of(p), ident) for p in headers for ident in re.findall(r"^static [^;{}]*?\b(\w+)\([^;{}]*\);", text[p], re.M)}
shared = {key: paths for key, paths in files_of_names.items() if len(paths) > 1 and key not in asked_for}
words = {p: collections.Counter(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", text[p], flags=re.S))) for p in house}
in_house = [f for f in functions if f.path in words]
folds = [f for f in in_house if f.static and f.path.suffix == ".c" and f.lines <= FOLD_LINES and words[f.path][f.name] == 2]

# Circles: files that name each other's functions, straight or by way of others. A .c file stands with its header.
calling = [f for f in in_house if f.path.suffix == ".c" or f.path in headers]  # not those of the installed headers
homes = {f.name: f.path.with_suffix("") for f in calling
         if f.name.startswith("gpume_") and (f.path.suffix == ".h" or not f.static)}
spoken = collections.defaultdict(str, {p.with_suffix(""): text[p] for p in house if p.suffix == ".c"})
for f in calling:
    if f.path.suffix == ".h":
        spoken[f.path.with_suffix("")] += "\n".join(text[f.path].splitlines()[f.first - 1:f.first + f.lines - 1])
named = {}
for file, content in spoken.items():
    code = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\b(?:struct|enum|union)\s+\w+', " ", content, flags=re.S)
    named[file] = {homes[ident] for ident in set(re.findall(r"\w+", code)) & homes.keys()} - {file}


def reached_from(file):
    """All files whose functions this one names, straight or by way of others."""
    found, waiting = set(), [file]
    while waiting:
        fresh = named[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


reached = {file: reached_from(file) for file in named}
circles = sorted({tuple(sorted(other for other in reached[file] if file in reached[other]))
                  for file in named if file in reached[file]})


def weigh(paths):
    """The columns of the table for these files."""
    paths = set(paths)
    lengths = sorted(f.lines for f in in_house if f.path in paths)
    sources = [p for p in paths if p.suffix == ".c"]
    seen = sum(not f.static for f in in_house if f.path in paths and f.path.suffix == ".c")
    return {
        "lines": sum(lines_of[p] for p in paths),
        ".c": len(sources),
        ".h": sum(p.suffix == ".h" for p in paths),
        "file": "%.0f" % statistics.median(lines_of[p] for p in sources) if sources else "-",
        "function": "%.0f/%d/%d" % (statistics.median(lengths), lengths[int(len(lengths) * 0.9)], lengths[-1]),
        "seen": "%.1f" % (1000 * seen / max(1, sum(lines_of[p] for p in sources))),
        "headers": sum(h in paths for h in few_users),
        "names": sum(module_of(next(iter(ps))) == module_of(next(iter(paths))) for ps in shared.values()),
        "tags": sum(any(place.rsplit(":", 1)[0] in {name(p) for p in paths} for place in places) for places in twice.values()),
        "circles": sum(any(p.with_suffix("") in circle for p in paths) for circle in circles),
        "folds": sum(f.path in paths for f in folds),
    }


if wanted:
    for row in {
        "headers": lambda: [(name(h), "<-", *map(name, us)) for h, us in few_users.items()],
        "names": lambda: [(module, ident, *sorted(map(name, ps))) for (module, ident), ps in sorted(shared.items())],
        "tags": lambda: [(tag, *sorted(places)) for tag, places in sorted(twice.items())],
        "circles": lambda: [(name(file), "->", *sorted(name(other) for other in named[file] if other in circle))
                            for circle in circles for file in circle],
        "folds": lambda: [(name(f.path), f.name, f.lines) for f in folds],
        "functions": lambda: [(f.lines, name(f.path), f.name) for f in sorted(functions, key=lambda f: -f.lines) if f.lines > 45],
    }[wanted]():
        print(*row)
    sys.exit(0)

modules = collections.defaultdict(list)
for path in house:
    modules[module_of(path)].append(path)
table = {module: weigh(paths) for module, paths in sorted(modules.items())}
table["all"] = weigh(house)
table["all"]["names"] = len(shared)
print("file: median of lines of .c files; function: lines, median/90 of 100/most; seen: functions that other files see, per 1,000 lines;\n"
      "headers: with fewer than two users; names: of static functions, in several files of a module; tags: defined twice;\n"
      "circles: of files that call each other in a loop; "
      f"folds: static functions with one caller and at most {FOLD_LINES} lines\n")
print("%-12s" % "" + "".join("%10s" % column for column in table["all"]))
for module, columns in table.items():
    print("%-12s" % module + "".join("%10s" % value for value in columns.values()))

wrong = [f"{name(f.path)}: {f.name} has {f.lines} lines, more than {FUNCTION_LINES}" for f in functions if f.lines > FUNCTION_LINES]
wrong += [f"{name(p)}: {lines_of[p]} lines, more than {FILE_LINES}" for p in kept_short if lines_of[p] > FILE_LINES]
wrong += [f"{column}: {table['all'][column]}, more than {most}" for column, most in LIMITS.items()
          if table["all"][column] > most]
print("", *wrong, sep="\n")
sys.exit(bool(wrong))
