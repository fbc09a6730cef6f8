"""Rows as bytes: JSON Lines and CSV with what Python has, Parquet by pyarrow from the extra `rowen[parquet]`.

Each format is given its rows a page at a time and keeps no more than that.
"""

from __future__ import annotations

import contextlib
import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, BinaryIO

import orjson

from rowen.core.exchange.columns import Column, Format, Type, harmless
from rowen.errors import ConfigError
from rowen.ports.exports import ExportFile


class Writer(ABC):
    @abstractmethod
    def write(self, rows: Sequence[Any]) -> None: ...

    def finish(self) -> None:
        """All rows are written; the file below is kept."""
        return

    def abandon(self) -> None:
        """The file below goes away: nothing may be written to it any more."""
        return


class JsonLines(Writer):
    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, rows: Sequence[Any]) -> None:
        self._out.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


class Csv(Writer):
    def __init__(self, out: BinaryIO, columns: Sequence[Column], *, safe: bool) -> None:
        self._out = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
        self._csv = csv.writer(self._out, lineterminator="\n")
        self._safe = safe
        self._csv.writerow([column.name for column in columns])

    def write(self, rows: Sequence[Any]) -> None:
        self._csv.writerows([self._shown(cell) for cell in row] for row in rows)

    def finish(self) -> None:
        self._out.flush()
        # The `Draft` closes the file below.
        self._out.detach()

    def _shown(self, cell: Any) -> Any:
        match cell:
            case bool():
                return "true" if cell else "false"
            case datetime():
                return cell.isoformat()
        return harmless(cell) if self._safe else cell


class Parquet(Writer):
    def __init__(self, out: BinaryIO, columns: Sequence[Column]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        types = {
            # Without the usual limit of 2 GB for all the texts of a page together.
            Type.TEXT: pa.large_string(),
            Type.WHOLE: pa.int64(),
            Type.NUMBER: pa.float64(),
            Type.TRUTH: pa.bool_(),
            Type.TIME: pa.timestamp("us", tz="UTC"),
        }
        self._arrow = pa
        self._schema = pa.schema([(column.name, types[column.type]) for column in columns])
        self._writer = parquet.ParquetWriter(out, self._schema, compression="zstd")

    def write(self, rows: Sequence[Any]) -> None:
        if rows:
            columns = [
                self._arrow.array(cells, type=field.type)
                for cells, field in zip(zip(*rows, strict=True), self._schema, strict=True)
            ]
            self._writer.write_batch(self._arrow.record_batch(columns, schema=self._schema))

    def finish(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        with contextlib.suppress(Exception):
            self._writer.close()
        # Else the garbage collector would finish it later, and complain about a file that is closed.
        self._writer.is_open = False


def check(format: Format | None) -> None:  # noqa: A002
    """Raises `ConfigError` when a format needs what is not installed."""
    if format is not Format.PARQUET:
        return
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as exc:
        raise ConfigError(
            "format `parquet`: needs the package `pyarrow`", hint="pip install 'rowen[parquet]'"
        ) from exc


def writer(file: ExportFile, out: BinaryIO) -> Writer:
    match file.format:
        case Format.JSONL:
            return JsonLines(out)
        case Format.CSV:
            return Csv(out, file.columns, safe=file.safe)
        case Format.PARQUET:
            return Parquet(out, file.columns)
