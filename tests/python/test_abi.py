# SPDX-License-Identifier: BSD-2-Clause
"""The structs, constants and functions of the package against the C headers."""
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from gpume import _abi
from gpume._library import library, table
from gpume._options import Options

HEADERS = pathlib.Path(os.environ["GPUME_HEADERS"])
FILES = ["gpume/prefilter.h", "gpume/params.h", "gpume/gpume.h", "gpume/filter.h", "gpume/compute.h"]
COMPILER = shlex.split(os.environ.get("CC", "")) or ["cc"]
# What the package does not use: what stays on a device, and these.
ON_DEVICE = re.compile(r"(gpume|GPUME)_(array|program|batch|PROGRAM|BATCH)_")
WITHOUT = {
    "gpume_compute_times", "gpume_compute_times_fill", "gpume_send_plane", "gpume_field_ref",
    "gpume_stats_ns", "gpume_lane_info", "gpume_lanes_fill", "gpume_expect", "gpume_open_devices"}


def used(names):
    return {name for name in names if not ON_DEVICE.match(name) and name not in WITHOUT}


def source():
    """The headers without comments."""
    text = "".join((HEADERS / name).read_text() for name in FILES)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


class Abi(unittest.TestCase):
    def measure(self, expressions):
        """The values of C expressions."""
        if not shutil.which(COMPILER[0]):
            self.skipTest(f"{COMPILER[0]}: no C compiler is here")
        lines = "".join(f'    printf("%lld\\n", (long long)({e}));\n' for e in expressions)
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "measure")
            program.with_suffix(".c").write_text(
                "#include <gpume/compute.h>\n#include <gpume/filter.h>\n#include <stddef.h>\n#include <stdio.h>\n"
                f"int main(void)\n{{\n{lines}    return 0;\n}}\n")
            subprocess.run(
                [*COMPILER, "-std=c11", "-I", HEADERS, "-o", program, program.with_suffix(".c")],
                check=True)
            text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        return [int(line) for line in text.split()]

    def test_layout(self):
        """Sizes of all structs; places and sizes of all members."""
        expected = {}
        for name, struct in _abi.STRUCTS.items():
            expected[f"sizeof(struct {name})"] = ctypes.sizeof(struct)
            for member, *_ in struct._fields_:
                place = getattr(struct, member)
                expected[f"offsetof(struct {name}, {member})"] = place.offset
                expected[f"sizeof(((struct {name} *)0)->{member})"] = place.size
        found = dict(zip(expected, self.measure(expected)))
        self.assertEqual(found, expected)

    def test_members(self):
        """Every member of every struct is there, in its order."""
        structs = re.findall(r"struct (gpume_\w+) \{(.*?)\n?\};", source(), re.S)
        self.assertEqual(used(name for name, _ in structs), set(_abi.STRUCTS))
        for name, body in structs:
            if name not in _abi.STRUCTS:
                continue
            members = [
                re.search(r"(\w+)\s*(\[[^\]]*\])?\s*$", part).group(1)
                for line in body.split(";") if line.strip() for part in line.split(",")]
            self.assertEqual(members, [m[0] for m in _abi.STRUCTS[name]._fields_], name)

    def test_enums(self):
        enums = re.findall(r"enum (gpume_\w+) \{(.*?)\}", source(), re.S)
        self.assertEqual({name for name, _ in enums}, set(_abi.ENUMS))
        for name, body in enums:
            names = re.findall(r"\bGPUME_(\w+)", body)
            self.assertEqual(names, list(_abi.ENUMS[name]), name)
            values = self.measure(f"GPUME_{value}" for value in names)
            self.assertEqual(values, list(_abi.ENUMS[name].values()), name)

    def test_constants(self):
        names = used(re.findall(r"^#define (GPUME_\w+) +\S", source(), re.M))
        names = sorted(names - {"GPUME_API"})
        self.assertIn("GPUME_API_VERSION", names)
        values = self.measure(names)
        self.assertEqual(values, [getattr(_abi, name[6:], None) for name in names], names)

    def test_functions(self):
        """Every function is there, with arguments of the right kinds, or is left out on purpose."""
        declared = re.findall(r"GPUME_API\s+([^;(]*?)(\w+)\(([^;]*)\);", source())
        self.assertEqual(used(name for _, name, _ in declared), set(_abi.FUNCTIONS))
        kinds = {
            "int": ctypes.c_int, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
            "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t, "double": ctypes.c_double}
        for result, name, arguments in declared:
            if name not in _abi.FUNCTIONS:
                continue
            wanted = [] if arguments.strip() == "void" else arguments.split(",")
            have_result, *have = _abi.FUNCTIONS[name]
            self.assertEqual(len(have), len(wanted), name)
            for c_type, python in zip([result, *wanted], [have_result, *have]):
                words = c_type.replace("*", " * ").split()
                if "*" in words:
                    self.assertTrue(
                        python in (ctypes.c_char_p, ctypes.c_void_p) or
                        hasattr(python, "contents"), f"{name}: {c_type}")
                elif words[0] == "void":
                    self.assertIsNone(python, name)
                else:
                    kind = ctypes.c_int if words[0] == "enum" else kinds[words[0]]
                    self.assertIs(python, kind, f"{name}: {c_type}")

    def test_table(self):
        """The library's table has a row for each member of gpume_params, and its options exist."""
        rows, row = [], library().gpume_param_at(0)
        while row:
            rows.append((row.contents.name.decode(), row.contents.offset, row.contents.bytes))
            row = library().gpume_param_at(len(rows))
        wanted = [
            (name, getattr(_abi.Params, name).offset, getattr(_abi.Params, name).size)
            for name, *_ in _abi.Params._fields_]
        self.assertEqual(sorted(rows), sorted(wanted))
        by_hand = {"predict", "predict_opaque", "log", "log_opaque", "size", "width", "height",
                   "bits", "block", "ref_distance"}
        options = {param.keyword for name, param in table().items() if name not in by_hand}
        self.assertEqual(options - set(Options.__annotations__), set())
        self.assertEqual(
            set(Options.__annotations__) - options, {"qp", "block", "ref_distance"} - options)

    def test_other_libraries(self):
        """One clear line for a library of another version, for one that is none, and for none."""
        with tempfile.TemporaryDirectory() as folder:
            def made(name, text):
                path = os.path.join(folder, name)
                subprocess.run([*COMPILER, "-shared", "-fPIC", "-xc", "-", "-o", path],
                               input=text, text=True, check=True)
                return path

            version = "unsigned gpume_api_version(void) { return %d; }"
            no_library = os.path.join(folder, "absent.so")
            for path, words in (
                    (made("old.so", version % (_abi.API_VERSION - 1)),
                     f"has API version {_abi.API_VERSION - 1}, and this package needs {_abi.API_VERSION} or later;"),
                    (made("new.so", version % (_abi.API_VERSION + 1)), "is not the libgpume of this package: "),
                    (made("part.so", version % _abi.API_VERSION), "is not the libgpume of this package: "),
                    (made("other.so", "int other;"), "is not the libgpume of this package: "),
                    (no_library, "cannot be loaded: ")):
                for call in ("version()", "devices()", "Context(16, 16)", "__version__"):
                    done = subprocess.run(
                        [sys.executable, "-c", f"import gpume; gpume.{call}"], capture_output=True, text=True,
                        env={**os.environ, "GPUME_LIBRARY": path})
                    last = done.stderr.splitlines()[-1]
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(last, "^ImportError: .*" + words)
                    self.assertIn(path, last)

    def test_library(self):
        """The library that was found is of this version."""
        self.assertEqual(library().gpume_api_version(), _abi.API_VERSION)


if __name__ == "__main__":
    unittest.main()
