"""NOT_GIVEN, the value of an argument that was left out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# A subclass of bytes, because inspect.signature() accepts only plain constants, such as bytes, as defaults of C
# functions.
class NotGiven(bytes):
    """The type of NOT_GIVEN, for annotations."""

    __slots__ = ()

    def __new__(cls) -> NotGiven:
        return NOT_GIVEN

    def __repr__(self) -> str:
        return "NOT_GIVEN"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __reduce__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Final = bytes.__new__(NotGiven)
"""Stands for an argument that was left out, where None would mean something else."""

NotGiven.__module__ = "billcore"
