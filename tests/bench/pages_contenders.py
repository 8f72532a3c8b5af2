"""The contenders of the pages tables, and the labels of their rows."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT = 8  # billcore's default number of pages in flight


@dataclass(frozen=True)
class Contender:
    """A measured program. at_once: supported numbers of requests in flight. counts_pages: the program reads no fields
    and returns the number of pages.
    """

    label: str
    at_once: tuple[int, ...] = (1, DEFAULT, 16, 64)
    kind: str = "python"
    counts_pages: bool = False

    def name(self, at_once: int) -> str:
        return self.label if self.at_once == (1,) else f"{self.label}, {at_once} in flight"


CONTENDERS = {
    "raw": Contender("raw libcurl + yyjson", kind="native"),
    "cpp": Contender("C++ for (auto& order : pager)", kind="native"),
    "c": Contender("C billcore_order_list_next", kind="native"),
    "raw_newest": Contender("raw libcurl 8 + yyjson", (1, DEFAULT), kind="newest"),
    "cpp_newest": Contender("C++, libcurl 8", (1, DEFAULT), kind="newest"),
    "c_newest": Contender("C, libcurl 8", (1, DEFAULT), kind="newest"),
    "go": Contender("Go net/http + encoding/json", kind="go"),
    "billcore": Contender("billcore for order in pager"),
    "billcore_async": Contender("billcore async for order in pager"),
    "arrow": Contender("billcore to_arrow(), pyarrow"),
    "batches": Contender("billcore to_batches(rows=8192), pyarrow"),
    "pycurl": Contender("pycurl + orjson"),
    "aiohttp": Contender("aiohttp + orjson", (8, 16)),
    "requests": Contender("requests", (1,)),
    "httpx": Contender("httpx Client", (1,)),
    "stripe": Contender("stripe auto_paging_iter()", (1,)),
}
# ITEMS measures the cost of an item: some contenders read only pages, others read items but no fields. The contenders
# in CONTENDERS read three fields of each item.
ITEMS = {
    "cpp_pages": Contender("C++ next_page(), no items", (1,), "native", counts_pages=True),
    "cpp_items": Contender("C++ for (auto& order : pager) {}", (1,), "native", counts_pages=True),
    "billcore_pages": Contender("billcore pager.pages(), no items", (1,), counts_pages=True),
    "billcore_items": Contender("billcore for order in pager: pass", (1,), counts_pages=True),
}
# Contenders that only the area ffi measures, because only the build of the area ffi makes these programs.
BORDER = {
    "go_billcore": Contender("billcore Go for order, err := range", (1, DEFAULT), "go"),
    "rust_billcore": Contender("billcore Rust for order in list", (1, DEFAULT), "rust"),
    "rust_reqwest": Contender("Rust reqwest + serde_json", (1, DEFAULT), "rust"),
    "rust_hyper": Contender("Rust hyper + serde_json", (1, DEFAULT), "rust"),
}
ALL = {**CONTENDERS, **ITEMS, **BORDER}
PACKAGES = ("pycurl", "orjson", "aiohttp", "httpx", "requests", "stripe", "pyarrow")
