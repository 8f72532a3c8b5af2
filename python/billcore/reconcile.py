"""Compares an export with your own table: records that the table lacks, has with other values, or has twice.

    with reconcile.compare("export", "orders.csv") as found:
        found.each_missing(engine.begin, record)

DuckDB does the work (the extra `reconcile`); sql() returns the same queries for Spark. python/docs/reconcile.md says
what each result means, and has a recipe for every night. Service interface: Endpoints, Subscriptions; Pagination.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from glob import escape
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, Self

from . import inbox
from ._columns import COLUMNS, SECRETS
from ._errors import BillcoreError, ConfigError, InvalidArgumentError
from ._export import open_folder, open_joined
from ._table import Csv, changed_id, has_bom, quoted, reason, without_guards, wrong_id

__all__ = ["Comparison", "compare", "sql"]

Result = Literal["missing", "differing", "duplicates", "unverifiable", "unknown", "changed"]
_KINDS = {name: kind for columns in COLUMNS.values() for name, kind in columns.items()}
_KINDS |= {"id": "id", "subscription_id": "id", "pages": "integer", "as_of": "time"}
_NUMBER = "COALESCE(CAST(TRY_CAST(CAST({0} AS STRING) AS DECIMAL(38, 18)) AS STRING), CAST({0} AS STRING))"
# SQL that gives equal values the same text, whatever their types. What cannot be converted keeps its own text.
_ALIKE = {
    "integer": _NUMBER,
    "decimal": _NUMBER,
    "time": "COALESCE(CAST(TRY_CAST({0} AS TIMESTAMP) AS STRING), CAST({0} AS STRING))",
    "boolean": "COALESCE(CAST(TRY_CAST({0} AS BOOLEAN) AS STRING), CAST({0} AS STRING))",
}
_WHOLE = r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|VARCHAR"
_TEXT = rf"{_WHOLE}|DECIMAL\(\d+,0\)|UUID|ENUM.*"  # not FLOAT or DOUBLE: such an id may have lost digits
# The types that a column of the user's table may have.
_FITTING = {"time": "VARCHAR|TIMESTAMP.*", "boolean": f"{_WHOLE}|BOOLEAN"}
_FITTING |= dict.fromkeys(("integer", "decimal"), rf"{_WHOLE}|DECIMAL.*|FLOAT|DOUBLE")
# The types of the columns of `exported` and `reads`; VARCHAR for the others.
_EXPORTED = {
    "integer": "CAST({} AS BIGINT)",
    "decimal": "CAST({} AS DECIMAL(38, 18))",
    "boolean": "CAST({} AS BOOLEAN)",
}
_EXPORTED["time"] = "CAST(CAST({} AS TIMESTAMPTZ) AS TIMESTAMP)"  # in UTC
# A time in UTC, or a text that is no time. The conversion of a text to TIMESTAMP would ignore its offset.
_INSTANT = "COALESCE(CAST(TRY_CAST({0} AS TIMESTAMPTZ) AS VARCHAR), CAST({0} AS VARCHAR))"
# Without `quote`, DuckDB would take quotes after many rows without quotes for a part of the value.
_CSV = """header = true, all_varchar = true, allow_quoted_nulls = false, quote = '"'"""
_ESCAPE = """, escape = '"'"""
_FOLDERS = ", hive_partitioning = false"  # a folder of the export named total=7 is not the value of a column


def sql(columns: Sequence[str], *, changed_since: datetime | None = None) -> dict[Result, str]:
    """The query of each result, over the tables `exported`, `reads` and `recorded`, for DuckDB, Spark and Sail.

    Args:
        columns: The columns of `recorded`, with the names that they have in the export. `id` must be one of them.
        changed_since: When the export began (aware), if `recorded` has the further column `changed_at`: when the row
            was changed, a timestamp in UTC. Rows that were changed since and differ are in the result `changed`, and
            not in `differing`.

    Raises:
        InvalidArgumentError: A column does not exist, or has nested values, or the time is naive.
    """
    for name in columns:
        if _KINDS.get(name, "json") == "json":
            raise InvalidArgumentError(f"{name} cannot be compared: name columns of the export without nested values")
    if "id" not in columns:
        raise InvalidArgumentError("no column is named id: name the columns to compare, such as id=order_id")
    same_id = "CAST(r.id AS STRING) = CAST(e.id AS STRING)"
    alike = {name: _ALIKE.get(_KINDS[name], "CAST({0} AS STRING)") for name in columns if name != "id"}
    tests = {n: f"{form.format(f'j.e_{n}')} IS DISTINCT FROM {form.format(f'j.r_{n}')}" for n, form in alike.items()}
    both = "".join(f", e.{name} AS e_{name}, r.{name} AS r_{name}" for name in tests)
    is_changed = "1 = 0"
    if changed_since is not None:
        if changed_since.tzinfo is None:
            raise InvalidArgumentError("changed_since is a naive datetime: pass an aware one")
        both += ", r.changed_at AS changed_at"
        is_changed = f"COALESCE(j.changed_at >= TIMESTAMP '{changed_since.astimezone(UTC):%Y-%m-%d %H:%M:%S}', 1 = 0)"
    fields = " UNION ALL ".join(
        f"SELECT j.id, '{name}' AS field, CAST(j.e_{name} AS STRING) AS exported,"
        f" CAST(j.r_{name} AS STRING) AS recorded FROM pairs j WHERE {test}"
        for name, test in tests.items()
    )
    differing = (
        f"WITH joined AS (SELECT CAST(e.id AS STRING) AS id{both} FROM exported e JOIN recorded r ON {same_id}),"
        f" pairs AS (SELECT j.* FROM joined j WHERE ({' OR '.join(tests.values()) or '1 = 0'}) AND {{}}) "
        + (fields or "SELECT j.id, '' AS field, '' AS exported, '' AS recorded FROM pairs j")
    )
    judged = "WHERE NOT EXISTS (SELECT 1 FROM reads l WHERE l.verdict <> 'complete') AND"
    if "subscription_id" in columns:
        judged = "JOIN reads l ON l.id = CAST(r.subscription_id AS STRING) WHERE l.verdict = 'complete' AND"
    queries: dict[Result, str] = {
        "missing": f"SELECT e.* FROM exported e WHERE NOT EXISTS (SELECT 1 FROM recorded r WHERE {same_id})",
        "differing": differing.format(f"NOT {is_changed}"),
        "duplicates": "SELECT CAST(r.id AS STRING) AS id, COUNT(*) AS records FROM recorded r"
        " GROUP BY CAST(r.id AS STRING) HAVING COUNT(*) > 1 OR CAST(r.id AS STRING) IS NULL",
        "unverifiable": "SELECT l.* FROM reads l WHERE l.verdict <> 'complete'",
        "unknown": f"SELECT r.* FROM recorded r {judged} NOT EXISTS (SELECT 1 FROM exported e WHERE {same_id})",
    }
    return queries if changed_since is None else {**queries, "changed": differing.format(is_changed)}


class Comparison:
    """What compare() found: a context manager that closes `connection`. Threads: one at a time.

    Attributes:
        connection: A DuckDB connection, in which each result is a table, for example `missing`; times are in UTC.
        counts: Number of rows of each result.
        agrees: Whether no result has a row, except `unknown` and `changed`.
    """

    def __init__(self, connection: Any, queries: Mapping[Result, str]) -> None:
        self.connection = connection
        self.counts: dict[Result, int] = {
            name: connection.execute(f"CREATE TABLE {name} AS {query}").fetchone()[0] for name, query in queries.items()
        }
        self.agrees = not any(count for name, count in self.counts.items() if name not in ("unknown", "changed"))

    def rows(self, result: Result) -> Iterator[dict[str, Any]]:
        """The rows of a result, one by one; the times of the export are aware."""
        cursor = self.connection.cursor().execute(f"SELECT * FROM {result}")
        names = [column[0] for column in cursor.description]
        while found := cursor.fetchmany(1000):
            for row in found:
                aware = (each.replace(tzinfo=UTC) if isinstance(each, datetime) else each for each in row)
                yield dict(zip(names, aware, strict=True))

    def each_missing(
        self,
        begin: Callable[[], AbstractContextManager[Any]],
        on_missing: Callable[[Any, dict[str, Any]], object],
        *,
        lock: str = "order:{}",
    ) -> int:
        """Call a function for each missing record, in its own transaction and under inbox.lock(); returns how many.

        The record's webhook may still arrive, so the function must have its effect once for each id, also if the
        receiver has recorded the order in the meantime. If it raises, the call ends, and that transaction is rolled
        back.

        Args:
            begin: Begins a transaction on your database, which commits at the end, such as SQLAlchemy's `engine.begin`.
            on_missing: Is called with the connection and the record of the export.
            lock: Name of the lock, with {} for the id. The receiver of your webhooks must hold the same lock.
        """
        count = 0
        for row in self.rows("missing"):
            with begin() as connection:
                inbox.lock(connection, lock.format(row["id"]))
                on_missing(connection, row)
            count += 1
        return count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def compare(
    export: str | Path,
    table: Any,
    *,
    columns: Mapping[str, str] | Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    null: str | None = None,
    changed_since: str | None = None,
) -> Comparison:
    """Compare an export of `billcore export` with your table.

    Ids and other text are compared as text, amounts as numbers (in cents), times as points in time (without an offset:
    in UTC).

    Args:
        export: The folder of the export; or its FILE, if FILE's `reads` and `manifest.json` are in the same folder.
        table: The path of a Parquet, CSV or JSON Lines file, or a list of paths, also with `*`; or what DuckDB can
            scan: a DataFrame, an Arrow table, a DuckDB relation.
        columns: What to compare: names of columns; or the names in the export, each with the name in the table, such
            as {"id": "order_id", "total": "amount"}. None: all columns that both have, except nested values and signed
            URLs.
        delimiter: What separates the columns of a csv table. None: as DuckDB finds out.
        encoding: Encoding of a csv table, such as "windows-1252". None: UTF-8, or UTF-16 if the file begins with its
            byte order mark.
        null: How a csv table writes null, without quotes. None: as an empty field or as \\N.
        changed_since: The table's column with the time when the row was changed. Rows that were changed after the
            export began are in the result `changed` if they differ, and not in `differing`. None: as if none was.

    Raises:
        InvalidArgumentError: The export is not finished or was changed (also while it was compared), or the table
            cannot be read or compared, or a spreadsheet has changed its ids, or its column `id` is not the record's id.
        ConfigError: DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError:
        raise ConfigError("reconcile needs DuckDB: pip install duckdb") from None
    connection = duckdb.connect()
    try:
        connection.execute("SET TimeZone = 'UTC'")
        opened = _opened(Path(export))
        for name, files in opened.files.items():
            _view(connection, name, files)
        if isinstance(table, duckdb.DuckDBPyRelation):  # belongs to another connection, which must run it
            table = SimpleNamespace(__arrow_c_stream__=table.__arrow_c_stream__)
        with ExitStack() as stack:
            source, guarded = _source(connection, table, Csv(delimiter, encoding, null), stack)
            chosen = _record(connection, source, columns, changed_since, guarded=guarded)
        comparison = Comparison(connection, sql(chosen, changed_since=opened.begun if changed_since else None))
        if _opened(Path(export)) != opened:  # `billcore export` may have read lists again in the meantime
            raise InvalidArgumentError(f"{export} was changed while it was compared: compare again")
        return comparison
    except BaseException as error:
        connection.close()
        if isinstance(error, duckdb.Error):
            raise InvalidArgumentError(f"the export or the table cannot be read: {reason(error)}") from error
        raise


class _Export(NamedTuple):
    begun: datetime
    files: dict[str, list[Path]]  # of the tables `exported` and `reads`
    manifests: list[dict[str, Any]]  # the content of those that have the hashes of these files


def _opened(export: Path) -> _Export:
    """Checks each file of an export. Refuses one that is not finished or was changed."""
    manifests: Any
    try:
        if export.is_dir():
            folder = open_folder(export)
            plan, files, manifests = folder.plan, folder.files(), [*folder.finished.values()]
        else:
            names = [export, export.with_suffix(f".reads{export.suffix}")]
            plan = open_joined(names)
            files, manifests = [[name] for name in names], [plan]
        begun = datetime.fromisoformat(plan["planned_at"])
        return _Export(begun, dict(zip(("exported", "reads"), files, strict=True)), manifests)
    except BillcoreError as error:
        raise InvalidArgumentError(str(error)) from None
    except (LookupError, TypeError, ValueError, AttributeError):  # a manifest with its own hash and other content
        raise InvalidArgumentError(f"{export} is of another version of billcore: export again") from None


def _kind(files: Sequence[str]) -> str:
    kind = re.search(r"\.(parquet|csv|tsv|txt|jsonl|ndjson)(\.gz|\.zst)?$", files[0] if files else "")
    if kind is None:
        raise InvalidArgumentError(f"{', '.join(files)} is not a table: pass a file .parquet, .csv or .jsonl")
    return "csv" if kind[1] in ("tsv", "txt") else kind[1]


def _scan(connection: Any, files: Sequence[str], csv: str = "", more: str = "") -> str:
    """SQL that reads files. Values of csv and jsonl are texts, because DuckDB would read a long integer as a float."""
    kind, listed = _kind(files), f"[{', '.join(map(quoted, files))}]"
    if kind == "parquet":
        return f"read_parquet({listed}{more})"
    if kind == "csv":
        return f"read_csv({listed}, {_CSV}{csv}{more})"
    guessed = _types(connection, f"read_json({listed}, format = 'nd'{more})")
    names = _KINDS if [*guessed] == ["json"] else guessed  # no names: no rows
    texts = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    return f"read_json({listed}, format = 'nd', columns = {{{texts}}}{more})"


def _types(connection: Any, source: str) -> dict[str, str]:
    """The type of each column."""
    return {name: str(kind) for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}


def _view(connection: Any, name: str, files: Sequence[Path]) -> None:
    names = [escape(str(file)) for file in files]
    source, guarded = _scan(connection, names, f", delim = ','{_ESCAPE}", _FOLDERS), has_bom(str(files[0]))
    selected = []
    for each in _types(connection, source):
        value, form = quoted(each, '"'), _EXPORTED.get(_KINDS.get(each, "text"))
        typed = form.format(value) if form else without_guards(value) if guarded else value
        selected.append(f"{typed} AS {value}")
    connection.execute(f"CREATE VIEW {name} AS SELECT {', '.join(selected)} FROM {source}")


def _source(connection: Any, table: Any, csv: Csv, stack: ExitStack) -> tuple[str, bool]:
    """SQL that reads the user's table, until `stack` ends; and whether its texts may have quotes before formulas."""
    if not isinstance(table, (str, PathLike, list, tuple)):
        csv.refuse_options()
        connection.register("given", table)
        return "given", False
    files = [fspath(path) for path in (table if isinstance(table, (list, tuple)) else [table])]
    if _kind(files) != "csv":
        csv.refuse_options()
        return _scan(connection, files), False
    copies, options = csv.prepare(files, Path(stack.enter_context(TemporaryDirectory(prefix="billcore-"))))
    sniffed = f"SELECT Escape FROM sniff_csv({quoted(copies[0])}, quote = '\"'{options})"
    if connection.execute(sniffed).fetchone() == ("'",):  # a quoted value begins with it: it belongs to the value
        options += _ESCAPE
    return _scan(connection, copies, options), has_bom(files[0])


def _record(
    connection: Any,
    source: str,
    columns: Mapping[str, str] | Sequence[str] | None,
    changed_since: str | None,
    *,
    guarded: bool,
) -> list[str]:
    """Makes the table `recorded` of the user's table; returns its columns, which have the names of the export."""
    is_named = columns is not None
    exported = _types(connection, "exported")
    types = {name.lower(): kind for name, kind in _types(connection, source).items()}
    if columns is None:  # signed URLs differ in each reading
        columns = [n for n in exported if n in types and _KINDS.get(n, "json") != "json" and n not in SECRETS]
        if "id" not in types:
            raise InvalidArgumentError(
                f"no column is named id: the table has {', '.join(types):.150}: name the columns to compare, such as "
                "id=order_id, and the delimiter if these are several columns"
            )
    chosen = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    sql([*chosen])  # refuses what cannot be compared
    selected = []
    for name, own in chosen.items():
        kind = types.get(own.lower())
        if name not in exported or kind is None:
            where, has, of = ("export", exported, name) if name not in exported else ("table", types, own)
            raise InvalidArgumentError(f"the {where} has no column {of}: it has {', '.join(has)}")
        _refuse_type(own, kind, name, _KINDS[name])
        if name == "id" and f"{own.lower()}_1" in types:  # DuckDB's name for the second
            raise InvalidArgumentError(f"the table has two columns {own}: rename the one that is not the record's id")
        value = quoted(own, '"')
        if _KINDS[name] == "time":
            value = _INSTANT.format(value)
        elif guarded and _KINDS[name] in ("id", "text"):
            value = without_guards(value)
        selected.append(f"{value} AS {name}")
    if changed_since is not None:
        kind = types.get(changed_since.lower())
        if kind is None:
            raise InvalidArgumentError(f"the table has no column {changed_since}: it has {', '.join(types)}")
        _refuse_type(changed_since, kind, "changed_since", "time")
        value = quoted(changed_since, '"')
        selected.append(f"{_INSTANT.format(value)} AS changed_at")
    connection.execute(f"CREATE TABLE recorded AS SELECT {', '.join(selected)} FROM {source}")
    if changed_since is not None:
        _read_changes(connection, changed_since)
    if connection.execute("SELECT 1 FROM exported WHERE COALESCE(CAST(id AS VARCHAR), '') = '' LIMIT 1").fetchone():
        raise InvalidArgumentError("the export has a record without an id: ask the service, then export again")
    for name in ("id", "subscription_id"):
        if name in chosen and (found := changed_id(connection, name, chosen[name])):
            raise InvalidArgumentError(f"{found}: write ids as the service does, as text, and without a spreadsheet")
    named = {each.lower() for each in chosen.values()}
    others = [name for name, kind in types.items() if name not in named and re.fullmatch(_TEXT, kind)]
    if found := wrong_id(connection, source, chosen["id"], others, is_named=is_named):
        raise InvalidArgumentError(found)
    return [*chosen]


def _refuse_type(own: str, kind: str, name: str, what: str) -> None:
    if not re.fullmatch(f'{_FITTING.get(what, _TEXT)}|"NULL"', kind):
        why = ""
        if what == "time":
            why = " (without the time of day)" if kind == "DATE" else " (perhaps seconds or milliseconds since 1970)"
        raise InvalidArgumentError(f"the table's column {own} is {kind}{why}, which {name} is not: convert the column")


def _read_changes(connection: Any, own: str) -> None:
    time = "TRY_CAST(changed_at AS TIMESTAMPTZ)"
    odd = f"SELECT changed_at FROM recorded WHERE {time} IS NULL AND changed_at IS NOT NULL LIMIT 1"
    if found := connection.execute(odd).fetchone():
        raise InvalidArgumentError(
            f"the table's column {own} has {found[0]!r:.60}, which changed_since is not: convert it"
        )
    connection.execute(f"ALTER TABLE recorded ALTER changed_at TYPE TIMESTAMP USING {time} AT TIME ZONE 'UTC'")
