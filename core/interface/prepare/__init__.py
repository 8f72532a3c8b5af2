"""Turns the data of the interface into the variables of the templates."""

from __future__ import annotations

from .c_faces import prepare_c_faces
from .c_operations import prepare_c_operations
from .c_options import prepare_c_options
from .calls import prepare_calls
from .cpp_operations import prepare_cpp_operations
from .errors import prepare_errors, prepare_events
from .go_faces import prepare_go
from .operations import prepare_operations
from .options import prepare_options
from .package import homes
from .resources import prepare_resources
from .rust_faces import prepare_rust
from .words import Row


def prepared(data: dict[str, Row]) -> Row:
    """Returns the variables of the templates. `data` maps the stem of each TOML file to the file's content."""
    out: Row = {}
    out |= prepare_resources(data["resources"])
    out |= prepare_c_faces(out["resources"])
    out |= prepare_events(data["events"], out["c_faces"])
    out |= prepare_errors(data["errors"])
    out |= prepare_options(data["options"])
    out |= prepare_c_options(out["options"])
    out |= prepare_operations(data["operations"], out["writes"])
    out["interface_version"] = data["operations"]["interface"]["version"]
    out |= prepare_calls(out)
    prepare_cpp_operations(out)
    prepare_c_operations(out)
    out |= prepare_go(out)
    out |= prepare_rust(out)
    return out | homes(out)
