"""Explains a comparison in which many rows differ: ids that are not the record's, and times in another form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ._table import quoted

# Whether all differing values of a column of times differ in one way.
_FORMS = """SELECT
    bool_and(regexp_full_match(recorded, '\\d{9,19}([.]\\d*)?')),
    bool_and(CAST(moment AS TIME) = TIME '00:00:00' AND abs(seconds) < 38 * 3600),
    bool_and(abs(seconds) <= 14.1 * 3600 AND abs(seconds - shift) < 1),
    count(DISTINCT shift), min(shift), max(shift), count(*), any_value(recorded)
    FROM (SELECT *, round(seconds / 900) * 900 AS shift FROM (
        SELECT recorded, TRY_CAST(recorded AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS moment,
            epoch(moment) - epoch(CAST(exported AS TIMESTAMP)) AS seconds
        FROM differing WHERE field = ? AND exported IS NOT NULL AND recorded IS NOT NULL))"""
_UNITS = ((11, "seconds"), (14, "milliseconds"), (17, "microseconds"), (19, "nanoseconds"))


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


def times(connection: Any, columns: Iterable[str]) -> Iterator[str]:
    """A sentence for each of these columns of times whose differing rows all differ in one way."""
    for name in columns:
        epochs, dates, shifted, shifts, least, most, rows, example = connection.execute(_FORMS, [name]).fetchone()
        if epochs:
            digits = len(example.partition(".")[0])
            unit = next(unit for longest, unit in _UNITS if digits <= longest)
            yield f"{name} is {example} in the table, {unit} since 1970: write times such as 2025-04-25T12:00:00Z"
        elif dates:
            yield f"{name} is a date without the time of day in the table: leave the column out, or write its times"
        elif shifted and least == most == 0:
            yield f"{name} differs by less than a second in {rows:,} rows: the table's times have fewer digits"
        elif shifted and shifts <= 2:
            hours = " or ".join(f"{abs(each) / 3600:g}" for each in sorted({least, most}))
            moved = f"{name} is {hours} h {'later' if most > 0 else 'earlier'} in {rows:,} rows of the table"
            yield f"{moved}: a time without an offset is taken for UTC, so write local times with their offset"
