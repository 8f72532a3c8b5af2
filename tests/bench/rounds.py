"""Measures contenders in rounds: starts their processes, checks what they read, and lets them take turns."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .turns import Contestant, started


@dataclass(frozen=True)
class Place:
    """What a row of a table measures. count, warm: the numbers of the protocol's command `run`. shows, reads: what the
    contender must answer to `show`, and the total length that one run must read. repeat: runs in each round. cold:
    measures with the command `cold`, which has no `warm`."""

    contender: str
    url: str
    at_once: int
    count: int
    warm: int
    shows: str
    reads: int
    repeat: int = 1
    cold: bool = False


Key = TypeVar("Key")
Sample = tuple[float, float]  # nanoseconds of a run: wall time, and processor time of the client


def measure(
    folder: Path, commands: dict[str, list[str]], places: Mapping[Key, Place], starts: int, rounds: int
) -> dict[Key, list[Sample]]:
    """Starts each program several times, because processes of the same program differ in speed by some percent."""
    samples: dict[Key, list[Sample]] = {key: [] for key in places}
    for _ in range(starts):
        with ExitStack() as stack:
            contestants = started(stack, folder, commands)
            for place in places.values():
                shown = contestants[place.contender].show(place.url, place.at_once)
                if shown != place.shows:
                    raise RuntimeError(f"{place.contender} reads {shown!r} from {place.url}")
            for _ in range(rounds):
                for key in random.sample(list(places), len(places)):
                    samples[key] += [_run(contestants, places[key]) for _ in range(places[key].repeat)]
    return samples


def _run(contestants: Mapping[str, Contestant], place: Place) -> Sample:
    contestant = contestants[place.contender]
    if place.cold:
        turn = contestant.cold(place.url, place.at_once, place.count)
    else:
        turn = contestant.run(place.url, place.at_once, place.count, place.warm)
    if turn.read != place.reads:
        raise RuntimeError(f"{place.contender} has read {turn.read} instead of {place.reads}")
    return turn.wall, turn.cpu
