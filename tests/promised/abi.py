#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The installed headers still hold what abi.txt promises of them, on 64-bit systems.

abi.txt lists what programs that are compiled with these headers depend on: constants, values of enums, the size of every struct, the
place and size of every member, and the functions. Each line must still be true. Structs that begin with `size`, and those that the
library makes, may grow: by members that begin where the struct ended. All others never do. What was added since is reported, and
joins abi.txt with --write when a version is released. The first line of a struct says which kind it is.
Usage: abi.py SOURCE_DIR [--write]
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PROMISED = pathlib.Path(__file__).with_name("abi.txt")
HEADERS = ("prefilter.h", "params.h", "gpume.h", "filter.h", "compute.h", "vulkan.h")
# Made by the library and reached through pointers, or filled in with a stride.
GROWING = {
    "gpume_field", "gpume_layer", "gpume_param", "gpume_message", "gpume_device", "gpume_search_info", "gpume_lane_info"}
NOT_PROMISED = {"GPUME_API", "GPUME_API_VERSION", "GPUME_METRIC_LAST"} # the last two grow
HEAD = """# What programs depend on that are compiled with the headers of gpume 1.0: see abi.py. Lines are added, never changed.
"""


def stripped(folder):
    text = "".join((folder / name).read_text() for name in HEADERS)
    return re.sub(r"\\\n", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def members_of(body):
    """The names of members: the last word of each declarator, without pointers to functions."""
    for line in body.split(";"):
        for part in line.split(",") if "(" not in line else [line]:
            found = re.search(r"\(\*(\w+)\)|(\w+)\s*(\[[^\]]*\]\s*)*$", part.strip())
            if found:
                yield found.group(1) or found.group(2)


def expressions(text):
    """Pairs (line of abi.txt without its value, C expression), in the order of the headers."""
    for name in re.findall(r"^#define (GPUME_\w+) +\S", text, re.M):
        if name not in NOT_PROMISED:
            yield name, name
    for body in re.findall(r"enum gpume_\w+ \{(.*?)\}", text, re.S):
        for name in re.findall(r"\b(GPUME_\w+)\b\s*(?:=[^,]*)?(?:,|$)", body.strip()):
            yield name, name
    for struct, body in re.findall(r"struct (gpume_\w+) \{(.*?)\n?\};", text, re.S):
        names = list(members_of(body))
        grows = names[0] == "size" or struct in GROWING
        yield f"struct {struct} {'grows' if grows else 'fixed'}", f"sizeof(struct {struct})"
        for name in names:
            yield f"    {struct}.{name} at", f"offsetof(struct {struct}, {name})"
            yield f"    {struct}.{name} bytes", f"sizeof(((struct {struct} *)0)->{name})"


def measure(headers, pairs):
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if not shutil.which(compiler[0]):
        print(f"SKIPPED: {compiler[0]}: no C compiler is here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "measure")
        lines = "".join(f'    printf("%.17g\\n", (double)({e}));\n' for _, e in pairs)
        program.with_suffix(".c").write_text(
            "".join(f"#include <gpume/{name}>\n" for name in HEADERS) +
            f"#include <stdio.h>\nint main(void)\n{{\n    printf(\"%d\\n\", (int)sizeof(void *));\n{lines}    return 0;\n}}\n")
        subprocess.run([*compiler, "-std=c11", "-I", headers.parent, "-o", program, program.with_suffix(".c")], check=True)
        bits, *values = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    if bits != "8":
        print("SKIPPED: the table is of 64-bit systems")
        sys.exit(77)
    return values


def functions(text):
    for declaration in re.findall(r"GPUME_API\s+([^;]*?\));", text, re.S):
        yield re.sub(r"\s+", " ", declaration).replace("( ", "(")


def check(promised, found, declared):
    """The broken promises, and what is new."""
    broken, ends = [], {}
    for line in promised:
        if "(" in line:
            if line not in declared:
                broken.append(f"a function is gone, or has other arguments: {line}")
            continue
        name, value = line.rsplit(" ", 1)
        now = found.get(name)
        if name.endswith(" grows"):
            ends[name.split()[1]] = float(value)
            if now is None or float(now) < float(value):
                broken.append(f"{name}: {now} bytes, promised {value} or more")
        elif now != value:
            broken.append(f"{name}: {'gone' if now is None else now}, promised {value}")
    kept = {line.rsplit(" ", 1)[0] for line in promised if "(" not in line}
    new = [name for name in found if name not in kept] + sorted(declared - set(promised))
    for name in new:
        struct = name.strip().split(".")[0]
        if name.endswith(" at") and struct in ends and float(found[name]) < ends[struct]:
            broken.append(f"{name.strip()} {found[name]}: new members begin where the struct ended, at {ends[struct]:.0f}")
    return broken, new


def main():
    headers = pathlib.Path(sys.argv[1], "src/include/gpume").resolve()
    text = stripped(headers)
    pairs = list(expressions(text))
    found = dict(zip((name for name, _ in pairs), measure(headers, pairs)))
    declared = set(functions(text))
    if len(found) < 400 or len(declared) < 60:
        sys.exit(f"only {len(found)} lines and {len(declared)} functions: the headers are not understood")
    if "--write" in sys.argv:
        PROMISED.write_text(HEAD + "".join(f"{name} {value}\n" for name, value in found.items()) + "\n".join(sorted(declared)) + "\n")
        return
    promised = [line for line in PROMISED.read_text().splitlines() if line and not line.startswith("#")]
    broken, new = check(promised, found, declared)
    print(f"{len(promised)} promises; new since: {', '.join(name.strip() for name in new) or 'nothing'}")
    # The test of the test: each kind of damage is seen.
    damaged = dict(found)
    damaged.pop("GPUME_WAIT")
    damaged["struct gpume_vector fixed"] = "8"
    damaged["    gpume_params.bits at"] = "12"
    damaged["struct gpume_info grows"] = "8"
    damaged["    gpume_stats.new at"] = "8"
    seen, _ = check(promised, damaged, declared - {next(line for line in promised if "gpume_open(" in line)})
    if len(seen) - len(broken) < 6:
        broken.append(f"damage is not seen: {seen}")
    if broken:
        sys.exit("\n".join(broken))


main()
