"""The Rust crates of a release, in a root that has only Rust, a C++ compiler and the libraries that C++ needs."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import pytest

from release.roots import Root

TREE = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("ccache", "cargo-web", "rustc-web", "g++", "libcurl4-openssl-dev", "libssl-dev", "pkg-config")
CARGO = "cd shop && cargo --config /dist/cargo/config.toml"
SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def shop(minimal_root: Callable[..., Root], dist: Path) -> Root:
    """A root with a program in the folder shop, which has no dependencies yet."""
    if not (dist / "cargo").exists():
        pytest.skip("this release has no crates: only Rust 1.90 or newer packs them")
    root = minimal_root(*PACKAGES)
    root.cache_compilations()
    root.write("shop/Cargo.toml", '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2024"\n')
    write_program(root, "find")
    return root


def write_program(root: Root, name: str) -> None:
    root.write("shop/src/main.rs", (TREE / f"examples/rust/{name}.rs").read_text())


def add(root: Root, *options: str) -> None:
    root.run(f"{CARGO} add --quiet billcore --registry billcore {' '.join(options)}")


def error_of(root: Root, command: str, env: dict[str, str] | None = None) -> str:
    """Runs cargo, which must fail, and returns its first error, which must be one line."""
    output = root.run(f"{CARGO} {command}", env=env, fails=True).stdout
    return next(line for line in output.splitlines() if line.startswith("error: "))


def test_a_receiver_needs_no_libcurl(shop: Root) -> None:
    add(shop, "--features", "vendored", "--no-default-features")
    write_program(shop, "verify_webhook")
    body = '{"name":"test.hook"}'
    signature = hmac.new(SECRET.encode(), body.encode(), hashlib.sha256).hexdigest()
    verify = f"printf %s '{body}' | cargo --config /dist/cargo/config.toml run --quiet"
    env = {"WEBHOOK_SECRET": SECRET}
    assert shop.run(f"cd shop && {verify} {signature}", env=env).stdout == "test.hook\n"
    assert "refused" in shop.run(f"cd shop && {verify} {'0' * 64}", env=env, fails=True).stdout
    assert "curl" not in shop.run("ldd shop/target/debug/shop").stdout
    assert "curl" not in shop.run(f"{CARGO} tree").stdout


def test_pkg_config_finds_any_patch_release_of_the_same_minor_release(shop: Root) -> None:
    add(shop)
    for version, fits in (("0.1.7", True), ("0.2.0", False), ("0.0.9", False)):
        env = {"PKG_CONFIG_PATH": f"/fake/{version}"}
        fake = f"Name: billcore\nDescription: a fake\nVersion: {version}\nLibs: -lbillcore\n"
        shop.write(f"/fake/{version}/billcore.pc", fake)
        if fits:
            shop.run(f"{CARGO} check --quiet", env=env)
            continue
        error = error_of(shop, "check", env)
        assert "did not find billcore 0.1" in error
        assert "`vendored`" in error
        assert "PKG_CONFIG_PATH" in error


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"CXX": "/usr/bin/no-such-compiler"}, "there is no C++ compiler '/usr/bin/no-such-compiler': install one"),
        ({"CPATH": "/old"}, "needs libcurl 7.88 or newer with its headers, and found 7.74: install"),
    ],
)
def test_what_is_missing_is_named(shop: Root, env: dict[str, str], words: str) -> None:
    add(shop, "--features", "vendored")
    shop.write("/old/curl/curlver.h", "#define LIBCURL_VERSION_MAJOR 7\n#define LIBCURL_VERSION_MINOR 74\n")
    assert words in error_of(shop, "check", env)


def test_two_versions_in_one_program_are_refused(shop: Root) -> None:
    add(shop)
    shop.run("tar -xf /dist/cargo/billcore-sys-0.1.0.crate && mv billcore-sys-0.1.0 other")
    shop.run("cd other && sed -i '0,/^version = /s/^version = .*/version = \"0.2.0\"/' Cargo.toml")
    shop.run('echo \'other = { package = "billcore-sys", path = "../other" }\' >>shop/Cargo.toml')
    output = shop.run(f"{CARGO} check", fails=True).stdout
    assert "package `billcore-sys` links to the native library `billcore`, but it conflicts" in output
