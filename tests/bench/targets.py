"""The targets of each row: (table, row) -> targets. A ratio is relative to the table's reference or to another row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    quantity: str  # the quantity that the target limits: a key of Table.quantities()
    bound: float
    at_least: bool = False
    against: str = ""  # the row to compare with; empty: the table's reference

    def met(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


WEBHOOK: dict[tuple[str, str], list[Target]] = {
    ("verify/900", "check"): [Target("ratio", 1.10)],
    ("verify/900", "c"): [Target("ratio", 1.10)],
    ("openssl/65536", "check"): [Target("ratio", 0.95, at_least=True)],
    ("openssl/65536", "c"): [Target("ratio", 0.95, at_least=True)],
    ("unwrap/900", "shared"): [Target("ratio", 1.15)],
    ("unwrap/900", "copy"): [Target("ratio", 1.15)],
    ("python/900", "unwrap"): [Target("ratio", 0.45), Target("ratio", 1.15, against="cpp")],
    ("python/900", "one_shot"): [Target("ratio", 1.25, against="unwrap")],
    ("start", "billcore"): [Target("ms over bare", 2, against="json"), Target("MB over bare", 4, against="json")],
    ("first", "billcore"): [Target("min", 1.2, against="json")],
}

_TRANSPORTS = ("plain", "tls", "http2")
REST: dict[tuple[str, str], list[Target]] = {
    **{
        (f"rest/{name}/1", row): [Target("ratio", 1.1, against="raw_yyjson")]
        for name in _TRANSPORTS
        for row in ("cpp", "c")
    },
    **{
        (f"rest/{name}/1", f"{row}_newest"): [Target("ratio", 1.05, against="raw_yyjson_newest")]
        for name in _TRANSPORTS
        for row in ("cpp", "c")
    },
    **{(f"rest/{name}/1", "billcore"): [Target("ratio", 1.5)] for name in _TRANSPORTS},
    **{
        (f"rest/{name}/16", f"{row}{libcurl}"): [
            Target("ratio", 1.15, against=f"raw_yyjson{libcurl}"),
            Target("ratio", 1.1, against=f"raw_threads{libcurl}"),  # the same threads, without billcore
        ]
        for name in _TRANSPORTS
        for row in ("cpp", "c")
        for libcurl in ("", "_newest")
    },
    **{
        (f"rest/{name}/16", f"cpp_many{libcurl}"): [Target("ratio", 1.05, against=f"raw_yyjson{libcurl}")]
        for name in _TRANSPORTS
        for libcurl in ("", "_newest")
    },
    **{(f"rest/{name}/16", "billcore_many"): [Target("ratio", 1, against="pycurl")] for name in _TRANSPORTS},
    **{(f"rest/{name}/1", "billcore_async"): [Target("ratio", 1.75, against="billcore")] for name in _TRANSPORTS},
    **{(f"rest/{name}/16", "billcore"): [Target("ratio", 1, against="pycurl")] for name in ("plain", "tls")},
    ("rest/http2/16", "billcore"): [Target("ratio", 1, against=row) for row in ("pycurl", "go")],
    **{
        (f"rest/{name}/{at_once}", "go_billcore"): [Target("ratio", 1.0 if name == "http2" else 0.9, against="go")]
        for name in _TRANSPORTS
        for at_once in (16, 256)
    },
    **{
        (f"rest/{name}/16", row): [Target("ratio", 1.2, against="pycurl")]
        for name in _TRANSPORTS
        for row in ("billcore_async", "billcore_uvloop")
    },
    **{
        (f"rest/plain/{at_once}", "rust_billcore"): [Target("ratio", 1, against="rust_reqwest")]
        for at_once in (16, 256)
    },
    **{
        ("rest/late", f"{row}/{server}"): [Target("max ms", 50, against=f"raw/{server}")]
        for row in ("cpp", "c", "billcore", "billcore_async")
        for server in ("silent", "drip", "handshake")
    },
}

# Rows with 8 pages in flight use billcore's default concurrency. Targets that are not ratios are in milliseconds.
PAGES: dict[tuple[str, str], list[Target]] = {
    **{
        ("pages/0", f"{row}/{at_once}"): [Target("ratio", bound)]
        for row, bound in (
            *(("cpp", 1.2), ("c", 1.3), ("billcore", 1.35), ("billcore_async", 1.9)),
            *(("arrow", 1.3), ("batches", 1.45)),
        )
        for at_once in (1, 8)
    },
    **{
        ("pages/0", f"{row}/{at_once}"): [Target("ratio", bound, against="raw_newest/1")]
        for row, bound in (("cpp_newest", 1.2), ("c_newest", 1.3))
        for at_once in (1, 8)
    },
    **{
        ("pages/20", f"{row}/{at_once}"): [
            Target(name, most, against=f"raw/{at_once}") for name, most in (("min", bound), ("cpu ms", 20))
        ]
        for row in ("cpp", "billcore")
        for at_once, bound in ((8, 350), (16, 190))
    },
}

BULK: dict[tuple[str, str], list[Target]] = {("bulk/0", name): [Target("ratio", 0.33)] for name in ("parquet", "bare")}

COLD: dict[tuple[str, str], list[Target]] = {
    (key, row): [Target("ratio", 1.25)]
    for row, keys in (("cpp", ("verify", "parse", "get", "charge", "page")), ("c", ("verify", "get", "page")))
    for key in keys
}

# A ratio is relative to the C++ row, unless `against` is set.
FFI: dict[tuple[str, str], list[Target]] = {
    ("ffi/verify", "c"): [Target("ratio", 1.05)],
    ("ffi/unwrap", "c"): [Target("ratio", 1.15)],
    ("ffi/verify", "go"): [Target("ratio", 1.1, against="least_go")],
    ("ffi/unwrap", "go"): [Target("ratio", 0.25, against="go_std")],
    ("ffi/verify", "rust"): [Target("ratio", 1.1, against="c")],
    ("ffi/unwrap", "rust"): [Target("ratio", 0.5, against="rust_crypto")],
    **{("ffi/list", f"rust_billcore/{at_once}"): [Target("ratio", 1.1, against=f"c/{at_once}")] for at_once in (1, 8)},
    **{("ffi/list", f"go_billcore/{at_once}"): [Target("ratio", 0.33, against=f"go/{at_once}")] for at_once in (1, 8)},
    **{("ffi/list", f"c/{at_once}"): [Target("ratio", 1.1, against=f"cpp/{at_once}")] for at_once in (1, 8)},
}
