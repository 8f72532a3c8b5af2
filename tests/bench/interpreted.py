"""Measures the Python contenders: all in this process, in rounds of random order."""

from __future__ import annotations

import gc
import random
import time
import timeit

from .bodies import OTHER_SECRET, SIZES, Delivery, deliveries
from .contenders import CONTENDERS
from .native import size_name
from .tables import Row, Table
from .targets import WEBHOOK


def _timer(key: str, one: Delivery) -> timeit.Timer:
    """Returns a timer of processor time. The garbage collector is on, as in any program."""
    contender = CONTENDERS[key]
    names = {"gc": gc, **contender.names(one)}
    return timeit.Timer(contender.statement, "gc.enable()", time.process_time, names)


def _require_refusal(key: str) -> None:
    """Raises if the contender accepts a wrong signature, because the contender's time would be meaningless."""
    for one in deliveries(OTHER_SECRET):
        try:
            _timer(key, one).timeit(1)
        except Exception:
            continue
        raise RuntimeError(f"{key} accepts a signature made with another secret")


def tables(rounds: int, seconds: float) -> list[Table]:
    """Measures all contenders. seconds: how long each contender runs in each round."""
    for key in CONTENDERS:
        _require_refusal(key)
    pairs = [(key, one) for key in CONTENDERS for one in deliveries()]
    times: dict[tuple[str, int], int] = {}
    for key, one in pairs:
        timer = _timer(key, one)
        timer.timeit(3)
        times[key, one.size] = max(1, int(seconds * 5 / timer.timeit(5)))

    samples: dict[tuple[str, int], list[float]] = {(key, one.size): [] for key, one in pairs}
    # Exclude the objects that imports have created from garbage collection.
    gc.collect()
    gc.freeze()
    shuffle = random.Random(1).shuffle
    for _ in range(rounds):
        shuffle(pairs)
        for key, one in pairs:
            timer = _timer(key, one)
            timer.timeit(3)
            number = times[key, one.size]
            samples[key, one.size].append(timer.timeit(number) / number * 1e6)

    found = []
    for size in SIZES:
        rows = [Row(key, contender.label, samples[key, size]) for key, contender in CONTENDERS.items()]
        title = f"Python: verify, parse, read id, name and status, {size_name(size)}"
        found.append(Table(f"python/{size}", title, "µs", "msgspec", rows, WEBHOOK))
    two = [Row(key, CONTENDERS[key].label, samples[key, 900]) for key in ("unwrap", "one_shot")]
    found.append(
        Table("python-one-shot/900", "Python: what keeping a Verifier saves, 900 B", "µs", "unwrap", two, WEBHOOK)
    )
    return found
