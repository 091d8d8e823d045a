#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Builds the Python package, with the standard library alone.

As the build backend that pyproject.toml names (PEP 517), it lets `pip install ./python` work without a
network and without setuptools. Run as a program, it builds libgpume and puts it into a wheel, which pip
installs anywhere with a C library that is no older:

    python3 python/make_wheel.py [-o FOLDER] [CMAKE_OPTION...]

It needs what building libgpume needs: a C compiler, CMake, Ninja or make, glslc and Vulkan's headers.
"""
import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
_OLDEST = (1980, 1, 1, 0, 0, 0)  # that a ZIP file can say: wheels do not depend on when they are made


def _project():
    """The table [project] of pyproject.toml, whose values are all JSON, too."""
    text = (HERE / "pyproject.toml").read_text("utf-8").partition("[project]\n")[2]
    return {key: json.loads(value) for key, value in re.findall(r"^([a-z-]+) = (.+)$", text, re.M)}


def _stem():
    project = _project()
    return f"{project['name']}-{project['version']}"


def _metadata():
    project = _project()
    lines = [
        "Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
        f"Summary: {project['description']}", f"License: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {other}" for other in project["dependencies"]),
        "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (HERE / project["readme"]).read_text("utf-8")


def _package():
    """The files of the package, by their names in the wheel."""
    paths = sorted((HERE / "gpume").glob("*.py")) + [HERE / "gpume" / "py.typed"]
    return {f"gpume/{path.name}": path.read_bytes() for path in paths}


def _licence():
    """Where pip copied this folder alone, there is none."""
    path = HERE.parent / "LICENSE"
    return path.read_bytes() if path.is_file() else None


def _write_wheel(folder, files, tag="py3-none-any"):
    info = f"{_stem()}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = _metadata().encode()
    if _licence():
        files[f"{info}/LICENSE"] = _licence()
    pure = "true" if tag.endswith("-any") else "false"
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: gpume\nRoot-Is-Purelib: {pure}\nTag: {tag}\n").encode()
    rows = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    name = f"{_stem()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, _OLDEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            wheel.writestr(entry, data)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


# --- what pip calls

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, _package())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {"gpume.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    names = ["pyproject.toml", "README.md", "make_wheel.py"]
    files = {**{name: (HERE / name).read_bytes() for name in names}, **_package(),
             "PKG-INFO": _metadata().encode()}
    name = f"{_stem()}.tar.gz"
    with open(pathlib.Path(sdist_directory, name), "wb") as file, gzip.GzipFile(
            "", "wb", fileobj=file, mtime=0) as packed, tarfile.open(
            fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"{_stem()}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return name


# --- the wheel with libgpume

def _tag(library):
    """The platform on which the library runs: the newest version of glibc that it asks for."""
    minors = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", library)]
    if not minors:
        sys.exit("make_wheel.py: libgpume was not built for glibc, whose wheels these are")
    return f"py3-none-manylinux_2_{max(17, *minors)}_{platform.machine()}"


def main():
    parser = argparse.ArgumentParser(
        description="Builds libgpume, and a wheel of the Python package with it inside. Arguments that are none "
                    "of these options are passed to cmake.")
    parser.add_argument("-o", "--output", default="dist", metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--library", metavar="FILE", help="take this libgpume.so rather than build one")
    given, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch:
        library = given.library and pathlib.Path(given.library)
        if not library:
            build = f"{scratch}/build"
            ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
            for command in (
                    ["-S", HERE.parent, "-B", build, *ninja, "-DGPUME_TOOL=OFF", "-DGPUME_TESTS=OFF",
                     "-DCMAKE_INSTALL_LIBDIR=lib", *options],
                    ["--build", build, "--parallel", str(os.cpu_count())],
                    ["--install", build, "--component", "library", "--prefix", f"{scratch}/prefix", "--strip"]):
                subprocess.run(["cmake", *command], check=True, stdout=sys.stderr)
            library = pathlib.Path(scratch, "prefix/lib/libgpume.so.1").resolve()
        data = library.read_bytes()
    pathlib.Path(given.output).mkdir(parents=True, exist_ok=True)
    files = {**_package(), "gpume/libgpume.so": data}
    print(pathlib.Path(given.output, _write_wheel(given.output, files, _tag(data))))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    except OSError as error:
        sys.exit(f"make_wheel.py: {error}")
