"""The Go modules of a release, in a minimal root that has only Go, a C compiler and the folder of the release."""

from __future__ import annotations

import re
import shlex
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from release.roots import Root

ROOT = Path(__file__).resolve().parents[2]
MODULE = (ROOT / "capi/go/go.mod").read_text("utf-8").split()[1]
PROXY = {"GOPROXY": "file:///dist/go", "GONOSUMDB": MODULE, "GOTOOLCHAIN": "local"}
SECRET = "0123456789abcdef0123456789abcdef"


def with_go(root: Root, example: str) -> None:
    """Gives the root this machine's Go, and the program `example` of examples/go in the folder of the shell."""
    root.use_go()
    root.cache_compilations()
    root.copy(ROOT / f"examples/go/{example}/main.go", "main.go")


def go(
    root: Root, command: str, env: Mapping[str, str] = MappingProxyType({}), *, fails: bool = False, **more: str
) -> str:
    settings = "".join(f"export {name}={shlex.quote(value)}; " for name, value in {**PROXY, **env, **more}.items())
    return root.run(f"PATH=/usr/local/go/bin:$PATH; {settings}{command}", fails=fails).stdout


def got(root: Root, example: str) -> None:
    with_go(root, example)
    go(root, f"go mod init shop && go get {MODULE}@v0.1.0")


def needed(root: Root, program: str) -> set[str]:
    return set(go(root, f"objdump -p {program} | sed -n 's/^ *NEEDED *//p'").split())


def test_two_commands_to_a_first_call(minimal_root: Callable[..., Root], service: dict[str, str]) -> None:
    root = minimal_root("gcc", "libc6-dev")
    got(root, "find")
    assert go(root, "go run . demo-active", service).splitlines()[-1] == "480001 active"
    go(root, "go vet . && go mod tidy && go mod verify")
    # The program needs only the C library of the system, and offers none of our functions to other libraries.
    go(root, "go build -o find .")
    assert needed(root, "find") <= {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "ld-linux-x86-64.so.2"}
    offered = go(root, "nm -D --defined-only find").split()[2::3]
    assert offered and not [name for name in offered if re.match("billcore_|curl_|SSL_|_Z", name)]
    # From vendored sources, without the proxy and the module cache.
    go(root, "go mod vendor && go clean -modcache")
    assert "480001 active" in go(
        root, "go build -o vendored . && ./vendored demo-active", {"GOPROXY": "off", **service}
    )


def test_the_race_detector_and_a_receiver(minimal_root: Callable[..., Root]) -> None:
    root = minimal_root("gcc", "libc6-dev")
    got(root, "verify_webhook")
    body = '{"id":8,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}'
    hashed = f"openssl dgst -sha256 -hmac {SECRET} -r"
    signature = subprocess.run(hashed.split(), input=body, capture_output=True, text=True, check=True).stdout.split()[0]
    check = f"printf %s '{body}' | ./verify {signature}"
    for flags in ("", "-race"):
        go(root, f"go build {flags} -o verify .")
        assert go(root, check, WEBHOOK_SECRET=SECRET).strip() == "event 8: order ord_1 is paid, 19900 cents"
    refused = go(root, check.replace("./verify ", "./verify 0"), fails=True, WEBHOOK_SECRET=SECRET)
    assert refused.startswith("refused, answer 400")
    # A receiver contains nothing of libcurl and TLS.
    symbols = go(root, "go build -o verify . && nm verify").split()
    assert "billcore_private_SHA256_Update" in symbols
    assert not [name for name in symbols if re.match("billcore_private_(curl|SSL)_", name)]


def test_beside_another_libcurl(minimal_root: Callable[..., Root], service: dict[str, str]) -> None:
    root = minimal_root("gcc", "libc6-dev", "libcurl4-openssl-dev", "libssl-dev")
    got(root, "find")
    root.write(
        "other.go",
        """package main

/*
#cgo LDFLAGS: -lcurl -lssl -lcrypto
#include <curl/curl.h>
#include <openssl/ssl.h>
static const char *both(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_method());
  const char *made = context == NULL ? NULL : curl_easy_init() == NULL ? NULL : curl_version();
  SSL_CTX_free(context);
  return made;
}
*/
import "C"
import "fmt"

func init() { fmt.Println(C.GoString(C.both())) }
""",
    )
    lines = go(root, "go run . demo-active", service).splitlines()
    assert lines[-2].startswith("libcurl/7.88.1 OpenSSL/3.0") and lines[-1] == "480001 active"


def test_what_is_missing(minimal_root: Callable[..., Root]) -> None:
    root = minimal_root("gcc", "libc6-dev")
    got(root, "verify_webhook")
    needs = "billcore needs cgo: build with CGO_ENABLED=1 and a C compiler for the target"
    assert needs in go(root, "go build .", fails=True, CGO_ENABLED="0")
    assert needs in go(root, "go build .", fails=True, GOARCH="arm64")
    assert needs in go(root, "go build .", fails=True, PATH="/usr/local/go/bin")
    assert "build without the tag musl" in go(root, "go build -tags musl .", fails=True)
    system = go(root, f"go build {MODULE}/internal/native", fails=True, CGO_ENABLED="1", GOARCH="riscv64")
    assert "-tags billcore_system" in system


def test_musl(minimal_root: Callable[..., Root], service: dict[str, str], dist: Path) -> None:
    with zipfile.ZipFile(dist / f"go/{MODULE}/lib/linux-amd64-musl/@v/v0.1.0.zip") as module:
        if not any(name.endswith(".a") for name in module.namelist()):
            pytest.skip("this release has no library for musl: it was made with --quick")
    root = minimal_root("musl-tools", "gcc", "libc6-dev")
    got(root, "find")
    assert "build with -tags musl" in go(root, "CC=musl-gcc go build .", fails=True)
    # musl-gcc leaves out the index that C++ exceptions need.
    go(root, "CC=musl-gcc go build -tags musl -o find .")
    assert "add -Wl,--eh-frame-hdr to -extldflags" in go(root, "./find demo-active", service, fails=True)
    for flag in ("", "-static"):
        go(root, f"CC=musl-gcc go build -tags musl -ldflags '-extldflags \"{flag} -Wl,--eh-frame-hdr\"' -o find .")
        assert go(root, "./find demo-active", service).strip() == "480001 active"
    assert needed(root, "find") == set()
