"""Reading a list as Arrow columns: pages, errors in the middle of a list, threads, signals, and cleanup."""

from __future__ import annotations

import ctypes
import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

import polars
import pyarrow
import pytest

import billcore
from conformance.server import Reply, ScriptedServer, json_reply
from support.children import child_environment
from support.waiting import until

from .arrow_support import READERS, read_pyarrow
from .conftest import Serve
from .list_support import PER_PAGE, Book, reading
from .support import ACCOUNT, API_KEY, ORDER, page


def test_one_page_at_a_time_is_all_that_is_read() -> None:
    book = Book(20)
    with reading(book, concurrency=4) as (_, client):
        pager = client.subscriptions.orders("s")
        reader = pyarrow.RecordBatchReader.from_stream(pager.to_arrow())
        assert book.asked == []
        assert reader.read_next_batch().num_rows == PER_PAGE
        assert book.asked == [1] and pager.fetched_pages == 1
        reader.read_next_batch()
        assert len(book.asked) <= 6
        assert next(iter(pager)).id == 2 * PER_PAGE, "the pager is at the position of the stream"
        assert reader.read_next_batch().num_rows == 2 * PER_PAGE - 1, "as many pages as were read before it"


@pytest.mark.parametrize("reader", READERS)
def test_an_error_on_page_57(reader: str) -> None:
    book = Book(60)
    book.instead[57] = [json_reply({"error": {"code": "down", "message": f"no, {API_KEY}"}}, 500)]
    with reading(book, concurrency=8) as (_, client):
        pager = client.subscriptions.orders("s")
        stream = pager.to_arrow(["id"])
        assert stream.error is None
        with pytest.raises(Exception) as caught:
            READERS[reader](stream)
        assert "500" in str(caught.value) and API_KEY not in str(caught.value)
        assert isinstance(stream.error, billcore.ServerError)
        assert (stream.error.status, stream.error.code) == (500, "down")
        assert API_KEY not in str(stream.error) + repr(stream.error.__dict__)
        assert pager.fetched_pages == 56 and str(pager.verdict) == "possibly_missed"
        rest = read_pyarrow(pager.to_arrow(["id"]))
        assert [row["id"] for row in rest] == [str(number) for number in range(56 * PER_PAGE, 60 * PER_PAGE)]
        assert str(pager.verdict) == "complete"


def test_a_stream_is_read_once() -> None:
    with reading(Book(4), concurrency=2) as (_, client):
        stream = client.subscriptions.orders("s").to_arrow(["id"])
        first, second = (pyarrow.RecordBatchReader.from_stream(stream) for _ in range(2))
        assert first.read_next_batch().num_rows == PER_PAGE
        with pytest.raises(pyarrow.ArrowInvalid, match="read once"):
            second.read_next_batch()
        del second
        gc.collect()
        assert len(first.read_all()) == 3 * PER_PAGE
        for again in (pyarrow.table, polars.DataFrame):
            with pytest.raises(billcore.InvalidArgumentError, match="read once"):
                again(stream)


def test_dropped_early_the_reading_is_stopped() -> None:
    book = Book(50, delay=0.05)
    with reading(book, concurrency=8) as (_, client):
        pager = client.subscriptions.orders("s")
        reader = pyarrow.RecordBatchReader.from_stream(pager.to_arrow())
        for _ in range(2):
            reader.read_next_batch()
        assert pager.verdict is None
        del reader
        gc.collect()
        assert pager.verdict is not None and pager.verdict.reason == "stopped"
        time.sleep(0.2)
        assert len(book.asked) < 20, "no more than the requests in flight"
        unread = client.subscriptions.orders("s")
        unread.to_arrow().__arrow_c_stream__()
        assert unread.verdict is None, "an unread stream does not stop the pager"


def test_a_closed_client_gives_no_more() -> None:
    book = Book(4)
    with reading(book) as (_, client):
        stream = client.subscriptions.orders("s").to_arrow()
        batches = client.subscriptions.orders("s").to_batches()
        next(batches)
        client.close()
        with pytest.raises(OSError, match="closed"):
            pyarrow.table(stream)
        assert isinstance(stream.error, billcore.ConfigError)
        with pytest.raises(billcore.ConfigError):
            next(batches)


class CArray(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("others", ctypes.c_int64 * 7),
        ("release", ctypes.c_void_p),
        ("own", ctypes.c_void_p),
    )


# A function of type PYFUNCTYPE is called with the GIL held; polars, duckdb and pyarrow release the GIL for the call.
GetNext = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(CArray))
Release = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class CStream(ctypes.Structure):
    _fields_ = (
        ("get_schema", ctypes.c_void_p),
        ("get_next", GetNext),
        ("get_last_error", ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.c_void_p),
        ("own", ctypes.c_void_p),
    )


def next_length(stream: CStream) -> int:
    array = CArray()
    status = stream.get_next(ctypes.addressof(stream), ctypes.byref(array))
    if status != 0:
        raise OSError(status, stream.get_last_error(ctypes.addressof(stream)))
    if not array.release:
        return -1
    Release(array.release)(ctypes.addressof(array))
    return int(array.length)


def test_other_threads_run_while_a_reader_with_the_gil_waits() -> None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    book = Book(2)
    book.instead[2] = [Reply(status=500)]
    book.go_on.clear()

    def turn() -> None:
        until(lambda: book.asked)
        for _ in range(5):
            time.sleep(0.01)
        book.go_on.set()  # the answer comes only after this thread has run

    with reading(book, timeout=120) as (_, client):
        capsule = client.subscriptions.orders("s").to_arrow().__arrow_c_stream__()
        stream = CStream.from_address(pointer(capsule, b"arrow_array_stream"))
        other = threading.Thread(target=turn, daemon=True)
        other.start()
        assert next_length(stream) == PER_PAGE
        other.join()
        with pytest.raises(OSError, match="500"):
            next_length(stream)
        assert [next_length(stream) for _ in range(3)] == [PER_PAGE, -1, -1]


def test_a_released_stream_does_not_wait_for_the_gil() -> None:
    """Releasing a stream does not wait for the GIL, whose holder may itself wait for a lock of the releasing thread."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    pause = ctypes.PyDLL(None).usleep  # PyDLL keeps the GIL during the call
    counts = {"begun": 0, "ended": 0}

    class Hooks(billcore.Hooks):
        def on_request(self, attempt: billcore.Attempt, /) -> None:
            counts["begun"] += 1

        def on_response(self, attempt: billcore.Attempt, /) -> None:
            counts["ended"] += 1

    book = Book(9)
    with reading(book, hooks=Hooks()) as (_, client):
        pager = client.subscriptions.orders("s")
        capsule = pager.to_arrow().__arrow_c_stream__()
        stream = CStream.from_address(pointer(capsule, b"arrow_array_stream"))
        book.delay = 0.2
        assert [next_length(stream) for _ in range(2)] == [PER_PAGE] * 2 and counts["begun"] > 2
        release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)  # CFUNCTYPE releases the GIL
        releaser = threading.Thread(target=release, args=(ctypes.addressof(stream),))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # this thread keeps the GIL
        try:
            releaser.start()
            for _ in range(20_000):
                if not stream.release:
                    break
                pause(1000)
            assert not stream.release
        finally:
            sys.setswitchinterval(interval)
        releaser.join()
        until(lambda: pager.verdict is not None)
        until(lambda: counts["begun"] == counts["ended"])


def test_a_pager_in_use_says_so() -> None:
    book = Book(3)
    book.go_on.clear()
    with reading(book, timeout=120) as (_, client):
        pager = client.subscriptions.orders("s")
        stream = pager.to_arrow()
        reader = threading.Thread(target=pyarrow.table, args=(stream,))
        reader.start()
        until(lambda: book.asked)
        with pytest.raises(billcore.InvalidArgumentError, match="in use"):
            next(pager.to_batches())
        book.go_on.set()
        reader.join()
        assert stream.error is None


class AlarmError(Exception):
    pass


def ring(_number: int, _frame: FrameType | None) -> None:
    raise AlarmError


# duckdb is left out: it reads in its own threads, and Python does not run signal handlers there.
@pytest.mark.parametrize("reader", ["polars", "pyarrow"])
def test_what_a_signal_handler_raises_arrives(reader: str) -> None:
    before = signal.signal(signal.SIGALRM, ring)
    began = time.monotonic()
    try:
        with ScriptedServer([Reply(ending="hang", send_only=0)]) as server:
            client = billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=0, timeout=60)
            stream = client.subscriptions.orders("s").to_arrow()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            try:
                # The reader may raise its own error first; then the handler's exception must follow.
                try:
                    READERS[reader](stream)
                except AlarmError:
                    raise
                except Exception:
                    for _ in range(1000):
                        time.sleep(0)
                pytest.fail("the handler's exception was lost")
            except AlarmError:
                pass
            client.close()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 20


def test_neither_a_stream_nor_a_batch_is_pickled_or_shows_anything(serve: Serve) -> None:
    _, client = serve([page([ORDER], 1, 1)])
    pager = client.subscriptions.orders("s")
    stream, batch = pager.to_arrow(), next(pager.to_batches())
    assert repr(stream) == "<ArrowStream>"
    for thing in (stream, batch):
        with pytest.raises(TypeError):
            pickle.dumps(thing)


AFTER_THE_END = """
import sys, threading, billcore, pyarrow
client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], concurrency=2)
reader = pyarrow.RecordBatchReader.from_stream(client.subscriptions.orders("s").to_arrow())
print(reader.read_next_batch().num_rows)
import builtins
builtins.kept = reader
"""


def test_a_stream_may_outlive_the_interpreter() -> None:
    with ScriptedServer(Book(5)) as server:
        command = [sys.executable, "-c", AFTER_THE_END, server.url + ACCOUNT, API_KEY]
        done = subprocess.run(command, capture_output=True, text=True, env=child_environment(), timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{PER_PAGE}\n", "")
