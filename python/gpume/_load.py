# SPDX-License-Identifier: BSD-2-Clause
"""What the command wrote, read back: tables and archives of vectors, and the folders of runs."""
from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import zipfile
import zlib
from pathlib import Path
from typing import Any, Iterator

import numpy as np

from ._command import command_path, exception_of
from ._field import COLUMNS, Field, columns_of
from .errors import FormatError, GpumeError

_VECTORS = ("vectors.csv", "vectors.csv.gz", "vectors.csv.zst")
_PLACES = ("frame", "x", "y", "w", "h", "dx", "dy")
_CELL = "U64"
_SIDE_MAX = 1048576


def _text_table(data: bytes, dtype_of: Any) -> np.ndarray:
    """A table with a line of names, and the type that a function gives each of them. Empty cells
    become -1."""
    head, _, body = data.partition(b"\n")
    names = [name.strip() for name in head.decode().split(",")]
    body = body.replace(b"\r\n", b"\n")
    if not body.endswith(b"\n" if body else b""):
        raise ValueError("the last line has no end")
    if not body:
        return np.empty(0, [(name, dtype_of(name)) for name in names])
    if b",," in body or b",\n" in body:
        body = body.replace(b",,", b",-1,").replace(b",,", b",-1,").replace(b",\n", b",-1\n")
    return np.atleast_1d(np.loadtxt(
        io.BytesIO(body), [(name, dtype_of(name)) for name in names], delimiter=",", comments=None,
        encoding="utf-8"))


def _frames_table(path: Path) -> np.ndarray:
    """frames.csv: whole numbers as int64, all others as float64; empty cells of these are NaN."""
    cells = _text_table(path.read_bytes(), lambda _: _CELL)
    columns = {}
    for name in cells.dtype.names:
        column = cells[name]
        try:
            columns[name] = column.astype(np.int64)
        except ValueError:
            columns[name] = np.where(column == "-1", "nan", column).astype(np.float64)
    table = np.empty(len(cells), [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table


def _read_csv(data: bytes) -> np.ndarray:
    fine = np.float32 if b"." in data else np.int32
    return _text_table(data, lambda name: _CELL if name not in COLUMNS else COLUMNS[name] or fine)


def _read_npz(archive: Any, name: str) -> tuple[np.ndarray, dict[str, Any]]:
    """The rows of an archive of the command, and what else it says."""
    if not {"vectors", "frames", "refs", "block", "size", "subpel"} <= set(archive):
        raise FormatError(f"{name}: is no archive of vectors that gpume wrote")
    vectors = archive["vectors"]
    count, rows, cols = vectors.shape[:3]
    (block_w, block_h), (width, height) = archive["block"].tolist(), archive["size"].tolist()
    x, y = np.arange(cols) * block_w, np.arange(rows)[:, None] * block_h
    columns = {
        "frame": archive["frames"][:, None, None], "ref": archive["refs"][:, None, None], "x": x,
        "y": y, "w": np.minimum(block_w, width - x), "h": np.minimum(block_h, height - y),
        "dx": vectors[..., 0], "dy": vectors[..., 1],
        **{column: archive[member] for column, member in (
            ("cost", "costs"), ("rank", "ranks"), ("bits", "bits"), ("second", "second"),
            ("ties", "ties"), ("texture", "texture"), ("return", "returns")) if member in archive}}
    table = np.empty((count, rows, cols), columns_of(columns, _vector_type(vectors.dtype)))
    for column, values in columns.items():
        table[column] = values
    times = dict(zip(archive["frames"].tolist(), archive["times"].tolist())) if (
        "times" in archive) else {}
    return table.ravel(), {
        "shape": (height, width), "subpel": int(archive["subpel"]), "times": times}


def _vector_type(dtype: np.dtype) -> Any:
    return np.float32 if dtype.kind == "f" else np.int32


def _converted(path: Path) -> np.ndarray:
    """The rows of a file in any format that the command reads."""
    done = subprocess.run(
        [command_path("reads this file of vectors"), "convert", "--format", "npy", "-q", "--",
         os.fspath(path), "-"], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise exception_of(done.returncode, done.stderr)
    return np.load(io.BytesIO(done.stdout), allow_pickle=False)


def _rows_of(path: Path) -> tuple[np.ndarray, dict[str, Any]]:
    """The rows of a file of vectors, and what else it says."""
    data = b""
    if path.is_file():
        with path.open("rb") as file:
            data = file.read(8)
        if data[:2] == b"PK":
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                return _read_npz(archive, os.fspath(path))
        if data[:2] == b"\x1f\x8b":
            with gzip.open(path) as file:
                data = file.read()
        elif data[:6] == b"frame,":
            data = path.read_bytes()
    if data[:6] == b"frame,":
        return _read_csv(data), {}
    if data[:6] == b"\x93NUMPY":
        table = np.load(path, mmap_mode="r", allow_pickle=False)
        if table.dtype.names:
            return table, {}
    return _converted(path), {}


def _as_columns(table: np.ndarray, fine: bool, name: str) -> np.ndarray:
    """The table with its known columns alone, in the types of Pair.table."""
    names = [column for column in COLUMNS if column in (table.dtype.names or ())]
    if not set(_PLACES) <= set(names):
        raise FormatError(f"{name}: has no columns {', '.join(_PLACES)}; it is not a file of vectors")
    if len(table) == 0:
        raise FormatError(f"{name}: has no vectors")
    floats = fine or table["dx"].dtype.kind == "f"
    rows = np.zeros(len(table), columns_of(names, np.float32 if floats else np.int32))
    for column in names:
        rows[column] = table[column]
    sides = [rows[side] for side in ("x", "y", "w", "h")]
    if any((side < least).any() or (side > _SIDE_MAX).any()
           for side, least in zip(sides, (0, 0, 1, 1))):
        raise FormatError(f"{name}: has blocks at places that no picture has")
    if "ref2" in names:
        rows["dx2"][rows["ref2"] < 0] = rows["dy2"][rows["ref2"] < 0] = 0
    return rows


def _begins(rows: np.ndarray) -> np.ndarray:
    """Where motion fields begin. Those of a frame differ in their references, and each begins again
    at its first place; one whose blocks have references of their own goes on."""
    names = rows.dtype.names
    before, after = rows[:-1], rows[1:]
    again = (after["y"] < before["y"]) | ((after["y"] == before["y"]) & (after["x"] <= before["x"]))
    new_frame = after["frame"] != before["frame"]
    new = again
    if "ref" in names:
        new = again & (after["ref"] != before["ref"])
    if "candidate" in names:
        new &= after["candidate"] == 0
    if "shape" in names:
        corner = (after["x"] == 0) & (after["y"] == 0)
        changes = (after["shape"] != before["shape"]) & ~new_frame
        if not (changes & ~corner).any():  # shapes one after the other, not parts in one another
            firsts = np.concatenate([[0], 1 + np.flatnonzero(new_frame)])
            first = firsts[np.cumsum(new_frame)]
            corner &= after["shape"] == rows["shape"][first]
        new &= corner
    return np.concatenate([[0], 1 + np.flatnonzero(new_frame | new)])


class Run:
    """What the command wrote: the result of :func:`gpume.load`. A sequence of fields.

    shape: (height, width) of the frames in pixels. Where no file says it, as far as blocks reach.
    subpel: Vectors are multiples of 1/subpel pixel.
    summary: summary.json as a dict; None for a file alone.
    frames: frames.csv as a structured array with its columns, int64 or float64; None likewise.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self._read(Path(path))
        except GpumeError:
            raise
        except (ValueError, TypeError, LookupError, OSError, EOFError, zipfile.BadZipFile,
                zlib.error) as error:  # of what reads JSON, text, NumPy's files, gzip and ZIP
            raise FormatError(
                f"{os.fspath(path)}: is damaged or no file of gpume: {error}") from error

    def _read(self, given: Path) -> None:
        self.summary: dict[str, Any] | None = None
        self.frames: np.ndarray | None = None
        vectors = given
        said: dict[str, Any] = {}
        if given.is_dir():
            vectors = self._read_folder(given)
        table, said = _rows_of(vectors)
        if self.summary and "subpel" in self.summary["parameters"]:
            said["subpel"] = int(self.summary["parameters"]["subpel"])
        self._rows = _as_columns(table, said.get("subpel", 1) > 1, os.fspath(vectors))
        rows = self._rows
        self.subpel: int = said.get("subpel") or self._units()
        reach = int((rows["y"] + rows["h"]).max()), int((rows["x"] + rows["w"]).max())
        self.shape: tuple[int, int] = said.get("shape", reach)
        begins = _begins(rows)
        times = said.get("times", {})
        if self.frames is not None and "time" in self.frames.dtype.names:
            times = dict(zip(self.frames["frame"].tolist(), self.frames["time"].tolist()))
        self._fields = [
            Field(frame := int(part["frame"][0]), int(part["ref"][0]) if "ref" in
                  rows.dtype.names else -1, times.get(frame), self.shape, self.subpel, part)
            for part in np.split(rows, begins[1:])]

    def _read_folder(self, folder: Path) -> Path:
        """Reads what stands beside the vectors, whose path it returns."""
        found = [folder / name for name in _VECTORS if (folder / name).is_file()]
        if not found:
            partial = (folder / "vectors.csv.partial").exists()
            raise FormatError(
                f"{folder}: has no vectors.csv" +
                ("; the run was interrupted, resume it with --resume" if partial else ""))
        if (folder / "summary.json").is_file():
            self.summary = json.loads((folder / "summary.json").read_text("utf-8"))
        if (folder / "frames.csv").is_file():
            self.frames = _frames_table(folder / "frames.csv")
        return found[0]

    def _units(self) -> int:
        """The fewest units per pixel that hold all vectors."""
        rows = self._rows
        parts = np.concatenate([
            rows[name] for name in ("dx", "dy", "dx2", "dy2") if name in rows.dtype.names])
        return next((units for units in (1, 2) if not (parts * units % 1).any()), 4)

    def __repr__(self) -> str:
        height, width = self.shape
        return (f"<Run: {len(self)} motion fields of {width}x{height} pixels; "
                f"{len(self._rows)} rows>")

    def table(self) -> np.ndarray:
        """The rows of all motion fields, in the order of the file, with the columns and types of
        :meth:`Pair.table`, as far as the file has them."""
        return self._rows

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, number: int) -> Field:
        return self._fields[number]

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields)


def load(path: str | os.PathLike[str]) -> Run:
    """Reads what the command wrote::

        run = gpume.load("clip.gpume")           # the folder of a run, or a file of vectors
        run.table()                              # the rows of vectors.csv, as a structured array
        run.frames["psnr_after"]                 # frames.csv
        run.summary["means"]                     # summary.json
        for field in run:
            field.frame, field.vectors, field.costs, field.flow()

    path: the output folder of a run, or a file of vectors in any format that gpume-formats(5)
    describes, except hash; a name with %d stands for the files of a format that has one file per
    frame. .csv, .csv.gz, .npy and .npz are read here; all others, such as .mvf and .csv.zst, by the
    command `gpume convert`. A file of text does not say which fractions were searched, only the
    vectors found: dx is int32 where all are whole. All rows are held in memory. A file that cannot
    be used, or is absent, raises FormatError.
    """
    return Run(path)
