"""Which account a command uses, and the profiles: a file for each, that only its owner can read.

The key is that of the options, else of the environment, else of the profile in use. A key is only sent to the URL that
was given with it: a profile's key never goes to the URL of --base-url or BILLCORE_BASE_URL.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ._command import EXIT_FAILED, EXIT_USAGE, Failure

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class Account(NamedTuple):
    """Where a command sends its requests.

    Args:
        base_url: The account's URL; None: the client reads BILLCORE_BASE_URL.
        api_key: The key; None: the client reads BILLCORE_API_KEY.
        journal: The profile's journal, a path or a URL.
        profile: The name of the profile; None if no profile is used.
    """

    base_url: str | None
    api_key: str | None
    journal: str | None = None
    profile: str | None = None


def account_of(options: argparse.Namespace) -> Account:
    """The account that the options of add_account(), the environment or the profile in use name."""
    if options.base_url == "":  # the client would take BILLCORE_BASE_URL, which may be that of another account
        raise Failure(EXIT_USAGE, "--base-url is empty: pass a URL, or leave the option out for BILLCORE_BASE_URL")
    key = None if options.api_key_file is None else _key_in(options.api_key_file)
    if options.profile is not None:
        if options.base_url is not None or key is not None:
            raise Failure(EXIT_USAGE, "--profile names the URL and the key: leave out --base-url and --api-key-file")
        return _account(options.profile)
    environment = (os.environ.get(name) for name in ("BILLCORE_BASE_URL", "BILLCORE_API_KEY"))
    if options.base_url is None and key is None and not any(environment):
        if (name := in_use()) is not None:
            options.profile = name  # for of_account(): another profile may be in use when its command runs
            return _account(name)
        hint = "set BILLCORE_BASE_URL and BILLCORE_API_KEY, or run billcore profile add"
        raise Failure(EXIT_USAGE, f"no account is named: {hint}")
    return Account(options.base_url, key)


def _account(name: str) -> Account:
    kept = read(name)
    key = kept.get("api_key")
    if key is None:
        key = keyring("get_password", name)
        if key is None:
            raise Failure(EXIT_USAGE, f"the keyring has no key for the profile {name}: run billcore profile add again")
    return Account(kept["base_url"], key, kept.get("journal"), name)


def _key_in(file: str) -> str:
    try:
        key = Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Failure(EXIT_USAGE, f"--api-key-file: {file} cannot be read: {reason}") from None
    if not key:
        raise Failure(EXIT_USAGE, f"--api-key-file: {file} is empty: write the key into it")
    return key


def folder() -> Path:
    """The folder of the profiles."""
    base = os.environ.get("XDG_CONFIG_HOME", "")  # a relative one is to be ignored, says its specification
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "billcore" / "profiles"


def path_of(name: str) -> Path:
    """The file of a profile, which may not exist."""
    if not _NAME.fullmatch(name):
        raise Failure(EXIT_USAGE, f"a profile cannot be named {name!r}: use letters, digits, and . _ - inside")
    return folder() / f"{name}.json"


def names() -> list[str]:
    """The names of all profiles."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(each[:-5] for each in os.listdir(folder()) if each.endswith(".json"))
    return []


def read(name: str) -> dict[str, Any]:
    """The members of a profile. Refuses a file that others can read, as its key is no longer a secret."""
    path = path_of(name)
    try:
        with path.open(encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise Failure(EXIT_USAGE, f"others can read {path}, which has an API key: run chmod 600 {path}")
            kept = json.load(file)
    except FileNotFoundError:
        known = ", ".join(names()) or "none yet: run billcore profile add"
        raise Failure(EXIT_USAGE, f"there is no profile {name} (profiles: {known})") from None
    except ValueError:  # not UTF-8, or not JSON
        kept = None
    texts = [*kept.values()] if isinstance(kept, dict) and "base_url" in kept else [None]
    if not all(isinstance(each, str) for each in texts):
        raise Failure(EXIT_FAILED, f"{path} is not a profile: remove it, and run billcore profile add {name} again")
    found: dict[str, Any] = kept
    return found


def forget(name: str) -> None:
    """Remove a profile and its key. Refuses what is not a profile, as its key may be in the keyring."""
    if "api_key" not in read(name):
        keyring("delete_password", name)
    path_of(name).unlink()
    if in_use() == name:
        _in_use().unlink()


def in_use() -> str | None:
    """The name of the profile that `billcore profile use` chose."""
    try:
        return _in_use().read_text("utf-8", "replace").strip() or None
    except FileNotFoundError:
        return None


def _in_use() -> Path:
    return folder().parent / "profile"


def keyring(call: str, *arguments: str) -> Any:
    """Call a function of the module keyring, such as get_password, for the keys of billcore."""
    try:
        import keyring
    except ImportError:
        raise Failure(EXIT_USAGE, "the desktop's keyring needs: pip install keyring") from None
    try:
        return getattr(keyring, call)("billcore", *arguments)
    except keyring.errors.KeyringError as error:
        raise Failure(EXIT_FAILED, f"the desktop's keyring: {error or type(error).__name__}") from None


def write(path: Path, text: str, *, replace: bool) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        FileExistsError: The file exists, and `replace` is false.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)  # with mode 0600
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.rename(temporary, path)
        else:
            os.link(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def use(name: str) -> None:
    """Make this profile the one in use."""
    write(_in_use(), f"{name}\n", replace=True)
