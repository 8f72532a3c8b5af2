"""Tables that a spreadsheet has written: separators, encodings, quotes before formulas. Ids that are not a record's."""

from __future__ import annotations

import codecs
import gzip
import re
import shutil
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import escape, glob
from itertools import takewhile
from os.path import isfile
from pathlib import Path
from typing import Any

from ._errors import InvalidArgumentError

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TABS = {"tab": "\t", r"\t": "\t"}
_SEPARATOR = re.compile("sep=(.)\r?\n?")  # a first line that Excel writes, and obeys

# Regular expressions of DuckDB for what spreadsheets, and pandas, make of an id.
_MONTH = (
    r"(jan|feb|fév|mar|mär|mrt|apr|avr|abr|mai|maj|mei|may|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep|set|okt|oct|out|ott|"
    r"nov|dec|dez|des|déc|dic|gen|ene)\pL*\.?"
)
_CHANGED = {
    "a rounded number": r"\d+([.,]\d*)?e\+\d+|\d+[.,]\d*e\d+",
    "a number with separators": r"\d{1,3}([.,' \x{A0}\x{2019}\x{202F}]\d{2,3})+",
    "a number with a decimal point": r"\d+[.,]\d*",
    "a date": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}( \d\d?:\d\d(:\d\d)?)?|\d{1,2}(\. |[-. ])"
    rf"{_MONTH}([-. ]\d{{2,4}})?|{_MONTH}[-. ]\d{{2,4}}",
    "an error of a spreadsheet": "#.*",
    "text with blanks or quotes": r"""[\s\x{A0}].*|.*[\s\x{A0}]|["'=].*""",
}
_OPTIONS = "(?is)"
# A spreadsheet removes zeros before a number, and replaces all digits after the fifteenth by zeros.
_ROUNDED = """CASE WHEN ltrim({0}, '0123456789') <> '' THEN NULL WHEN starts_with({0}, '0') THEN ltrim({0}, '0')
    WHEN length({0}) > 15 THEN left({0}, 15) || repeat('0', length({0}) - 15) END"""
# It does so to each id: a table with an id that it would have changed has not been in a spreadsheet.
_LOST = """WITH e AS (SELECT {id} AS id, {rounded} AS rounded FROM exported),
    r AS (SELECT {id} AS id, {rounded} AS rounded, rowid + 1 AS row FROM recorded)
    SELECT r.row, r.id, e.id FROM r JOIN e ON r.id = e.rounded WHERE e.rounded <> e.id
    AND NOT EXISTS (SELECT 1 FROM r WHERE rounded <> id) AND NOT EXISTS (SELECT 1 FROM e WHERE id = r.id)
    ORDER BY 1 LIMIT 1"""


def without_guards(value: str) -> str:
    """SQL that removes the quotes that `billcore export --for-spreadsheet` writes before formulas (arrow_text.cpp)."""
    formulas = r"""(^|[;\t\r\n])''(["'']*[-=+@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"""
    inner = rf"regexp_replace({value}, '{formulas}', '\1\2', 'g')"
    return rf"""regexp_replace({inner}, '^''(["'']*[\t\r\n])', '\1')"""


@dataclass(frozen=True)
class Csv:
    """How a csv table is written. None: as its first bytes say, otherwise as DuckDB finds out."""

    delimiter: str | None = None
    encoding: str | None = None
    null: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter == "":
            raise InvalidArgumentError("the delimiter is empty: pass a character, such as ;")
        try:
            "a".encode(self.encoding or "utf-8")
        except (LookupError, ValueError):
            raise InvalidArgumentError(
                f"there is no encoding {self.encoding!r}: pass one such as windows-1252"
            ) from None

    def refuse_options(self) -> None:
        if self != Csv():
            raise InvalidArgumentError("delimiter, encoding and null are for csv: leave them out, or pass a csv table")

    def prepare(self, files: Sequence[str], folder: Path) -> tuple[list[str], str]:
        """The files in UTF-8, which may be copies in `folder`, and DuckDB's options for them."""
        each = [path for name in files for path in _found(name)]
        copies = [self._in_utf8(path, folder / f"{number}.csv") for number, path in enumerate(each)]
        first_line = _begin(copies[0]).decode("utf-8-sig", "replace").partition("\n")[0]
        delimiter, skipped = self.delimiter, ""
        if found := _SEPARATOR.fullmatch(first_line):
            delimiter, skipped = delimiter or found[1], ", skip = 1"
        nulls = ["", r"\N"] if self.null is None else [self.null]
        options = f", nullstr = [{', '.join(map(quoted, nulls))}]{skipped}"
        if delimiter:
            options += f", delim = {quoted(_TABS.get(delimiter, delimiter))}"
        return [escape(copy) if isfile(copy) else copy for copy in copies], options

    def _in_utf8(self, name: str, copy: Path) -> str:
        encoding = self.encoding or ("utf-16" if _begin(name).startswith(_UTF16) else None)
        if encoding is None or not isfile(name):
            return name
        unpacked = gzip.open if name.endswith(".gz") else open
        try:
            with (
                unpacked(name, "rt", encoding=encoding, newline="") as source,
                copy.open("w", encoding="utf-8", newline="") as target,
            ):
                shutil.copyfileobj(source, target)
        except (UnicodeError, EOFError) as error:
            raise InvalidArgumentError(f"{name} is not {encoding}: {error}: pass its encoding") from None
        return str(copy)


def quoted(text: str, mark: str = "'") -> str:
    return mark + text.replace(mark, 2 * mark) + mark


def has_bom(name: str) -> bool:
    """Whether a file, or the first one of a pattern, begins with a byte order mark, as a spreadsheet writes it."""
    return _begin(_found(name)[0]).startswith((codecs.BOM_UTF8, *_UTF16))


def _found(name: str) -> list[str]:
    """The files of a pattern; the pattern itself if this process finds none."""
    return [name] if isfile(name) else sorted(glob(name, recursive=True)) or [name]


def _begin(name: str) -> bytes:
    """The first bytes of a file, decompressed; none if this process cannot read it, but DuckDB perhaps can."""
    try:
        with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as file:
            return file.read(64)
    except (OSError, EOFError, zlib.error):
        return b""


def reason(error: Exception) -> str:
    """DuckDB's reason, without its proposals for SQL, and without the lines of the table."""
    lines = [line.strip().rstrip(".") for line in str(error).splitlines()]
    lines = [*takewhile(lambda line: line and not line.startswith(("Possible", "The search space", "LINE ")), lines)]
    shown = [*takewhile(lambda line: not line.startswith("Original Line"), lines)]
    text = ": ".join(shown if shown == lines else [*shown, lines[-1]])[:200]
    return f"{text}: pass its encoding, such as windows-1252" if "utf-8" in text else text


def changed_id(connection: Any, column: str, own: str) -> str | None:
    """The first id in the table `recorded` that a spreadsheet has changed; not one that looks like those of `exported`.

    If it were accepted, its record would be missing in each comparison, although the table has it. `own` is the name
    of the column in the user's table.
    """
    id = f"CAST({column} AS VARCHAR)"
    (count,) = connection.execute(
        f"CREATE OR REPLACE TEMP TABLE odd AS SELECT {id} AS id, rowid + 1 AS row FROM recorded"
        f" WHERE CASE WHEN ltrim({id}, '0123456789') <> '' THEN regexp_full_match({id}, ?) END",
        [_OPTIONS + "|".join(_CHANGED.values())],
    ).fetchone()
    found = [
        (row, changed, f"looks like {looks}")
        for looks, pattern in (_CHANGED.items() if count else ())
        for row, changed in connection.execute(
            "SELECT row, id FROM odd WHERE regexp_full_match(id, $1) AND NOT EXISTS (SELECT 1 FROM exported"
            f" WHERE regexp_full_match({id}, $1)) ORDER BY row LIMIT 1",
            [_OPTIONS + pattern],
        ).fetchall()
    ]
    rounded = _ROUNDED.format(id)
    if connection.execute(f"SELECT 1 FROM exported WHERE {rounded} <> {id} LIMIT 1").fetchone():  # faster than _LOST
        found += [
            (row, changed, f"is {was!r:.60} in the export")
            for row, changed, was in connection.execute(_LOST.format(id=id, rounded=rounded)).fetchall()
        ]
    connection.execute("DROP TABLE odd")
    if not found:
        return None
    row, changed, looks = min(found, key=lambda each: each[0])
    return f"the table has the id {changed!r:.60} (row {row}, column {own}), which {looks}"


def wrong_id(connection: Any, source: str, own: str, others: Iterable[str], *, is_named: bool) -> str | None:
    """Why the table's column `own` is not the record's id, such as a serial number; None if it may be.

    `others` are further columns of `source` that may be it. If the user has named the column, only another column
    that has the ids is a reason: a new table may lack each record of the export.
    """
    import duckdb

    known = "IN (SELECT CAST(id AS VARCHAR) FROM exported)"
    counted = f"SELECT count(*), count(*) FILTER (WHERE CAST(id AS VARCHAR) {known}) FROM recorded"
    rows, common = connection.execute(counted).fetchone()
    if 2 * common >= rows or not connection.execute("SELECT 1 FROM exported LIMIT 1").fetchone():
        return None
    for other in others:
        id = f"CAST({quoted(other, chr(34))} AS VARCHAR)"
        try:
            (found,) = connection.execute(f"SELECT count(*) FROM {source} WHERE {id} {known}").fetchone()
        except duckdb.InvalidInputException:  # a stream, which has been read
            break
        if 2 * found >= rows:
            return f"the record's id is not in the table's column {own} but in {other}: pass id={other}"
    if common or is_named:
        return None
    return f"the table has no id in common with the export: is {own} the record's id? name its column, such as id={own}"
