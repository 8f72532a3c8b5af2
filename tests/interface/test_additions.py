"""The recipes: in a copy of the tree a field, an option, an error, an operation and a parameter of another are added to
the data, and nothing else is edited. It is generated, built, and used from C++, C and Python, and from Go and Rust
where BILLCORE_GO and BILLCORE_RUST name the folders of their programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from .copies import copy_of_the_tree, generate

# Targets whose sources the compiler may take several at a time, which halves the time of this test.
TOGETHER = ("billcore_webhook", "billcore_client", "billcore_c_client_shims", "_client", "billcore_python_shared")
ORDER = '{"id": "o", "colour": "red"}'

CPP = r"""
#include <billcore/client.hpp>
#include <iostream>

int main(int, char** argv) {
  billcore::ClientOptions options;
  options.base_url = argv[1];
  options.api_key = "key";
  const auto default_limit = options.patience;
  options.patience = 0;
  try {
    const billcore::Client refused(options);
  } catch (const billcore::Error& error) {
    std::cout << error.what() << '\n';
  }
  options.patience = 7;
  const billcore::Client client(options);
  const billcore::Client changed = client.with_options({.patience = 9});
  const auto order = client.orders().get("o");
  std::cout << default_limit << ' ' << order.colour().value_or("none") << '\n';
  std::cout << client.subscriptions().pause("s").reference_name().value() << '\n';
  const billcore::Charge charge{.product_id = 1, .amount = 2, .note = "n"};
  std::cout << client.subscriptions().charge("s", charge).reference_name().value() << '\n';
  try {
    static_cast<void>(changed.orders().get("teapot"));
  } catch (const billcore::Error& error) {
    std::cout << (error.code() == billcore::ErrorCode::teapot) << ' ' << error.what() << '\n';
  }
}
"""

C = r"""
#include <billcore.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  billcore_event* event = NULL;
  billcore_order* order = NULL;
  billcore_str colour;
  bool present = false;
  const billcore_str body = BILLCORE_STR("{\"name\": \"order.paid\", \"data\": {\"colour\": \"red\"}}");
  if (billcore_webhook_parse_unverified(body, &event, NULL) != BILLCORE_OK) return 1;
  if (billcore_event_order(event, &order, NULL) != BILLCORE_OK) return 2;
  if (billcore_order_colour(order, &colour, &present, NULL) != BILLCORE_OK || !present) return 3;
  puts(colour.data);
  billcore_order_free(order);
  billcore_event_free(event);
  billcore_client_options* options = NULL;
  billcore_client_changes* changes = NULL;
  billcore_client* client = NULL;
  billcore_error* err = NULL;
  if (billcore_client_options_new(&options, NULL) != BILLCORE_OK) return 4;
  const billcore_str url = BILLCORE_STR("http://127.0.0.1:1/account");
  if (billcore_client_options_set_base_url(options, url, NULL) != BILLCORE_OK) return 5;
  if (billcore_client_options_set_api_key(options, BILLCORE_STR("key"), NULL) != BILLCORE_OK) return 5;
  if (billcore_client_options_set_patience(options, 0, NULL) != BILLCORE_OK) return 5;
  if (billcore_client_changes_new(&changes, NULL) != BILLCORE_OK) return 6;
  if (billcore_client_changes_set_patience(changes, 9, NULL) != BILLCORE_OK) return 7;
  if (billcore_client_new(options, &client, &err) != BILLCORE_ERROR_CONFIG) return 8;
  puts(billcore_error_message(err).data);
  billcore_error_free(err);
  billcore_client_changes_free(changes);
  const billcore_str server = {argv[argc - 1], strlen(argv[argc - 1])};
  billcore_subscription* paused = NULL;
  billcore_charge_options* charge = NULL;
  if (billcore_client_options_set_base_url(options, server, NULL) != BILLCORE_OK) return 9;
  if (billcore_client_options_set_patience(options, 1, NULL) != BILLCORE_OK) return 10;
  if (billcore_client_new(options, &client, NULL) != BILLCORE_OK) return 11;
  if (billcore_subscription_pause(client, BILLCORE_STR("s"), NULL, &paused, NULL) != BILLCORE_OK) return 12;
  if (billcore_subscription_reference_name(paused, &colour, &present, NULL) != BILLCORE_OK) return 13;
  puts(colour.data);
  if (billcore_charge_options_new(&charge, NULL) != BILLCORE_OK) return 14;
  if (billcore_charge_options_set_note(charge, BILLCORE_STR("n"), NULL) != BILLCORE_OK) return 15;
  const billcore_str id = BILLCORE_STR("s");
  if (billcore_subscription_charge(client, id, 1, 2, charge, NULL, &order, NULL) != BILLCORE_OK) return 16;
  if (billcore_order_reference_name(order, &colour, &present, NULL) != BILLCORE_OK) return 17;
  puts(colour.data);
  billcore_order_free(order);
  billcore_charge_options_free(charge);
  billcore_subscription_free(paused);
  billcore_client_free(client);
  billcore_client_options_free(options);
  return 0;
}
"""

PYTHON = """
import inspect, sys
import billcore
try:
    billcore.Client(base_url=sys.argv[1], api_key="key", patience=0)
except billcore.ConfigError as error:
    print(error)
client = billcore.Client(base_url=sys.argv[1], api_key="key", patience=7).with_options(patience=9)
print(inspect.signature(billcore.Client).parameters["patience"].default, client.orders.get("o").colour)
print(billcore.Order.colour.__doc__)
print(client.subscriptions.pause("s").reference_name)
print(client.subscriptions.charge("s", product_id=1, amount=2, note="n").reference_name)
try:
    client.orders.get("teapot")
except billcore.TeapotError as error:
    print(isinstance(error, billcore.ApiError), error)
"""


GO = r"""
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"billcore"
)

func client(patience int) (*billcore.Client, error) {
	url, key := billcore.WithBaseURL(os.Args[1]), billcore.WithAPIKey("key")
	return billcore.NewClient(url, key, billcore.WithPatience(patience))
}

func main() {
	_, refused := client(0)
	fmt.Println(refused)
	made, _ := client(7)
	changed, _ := made.With(billcore.WithPatience(9))
	order, _ := made.Orders().Get(context.Background(), "o")
	colour, present, err := order.Colour()
	fmt.Println(colour, present, err)
	paused, _ := made.Subscriptions().Pause(context.Background(), "s")
	fmt.Println(paused.ReferenceName())
	charged, _ := made.Subscriptions().Charge(context.Background(), "s", 1, 2, billcore.ChargeNote("n"))
	fmt.Println(charged.ReferenceName())
	_, err = changed.Orders().Get(context.Background(), "teapot")
	fmt.Println(errors.Is(err, billcore.ErrTeapot), errors.Is(err, billcore.ErrAPI), err)
}
"""

RUST = r"""
use std::env::args;

use billcore::{ChargeOptions, Client, ClientChanges, ErrorCode, Result};

fn main() -> Result<()> {
    let url = args().nth(1).unwrap_or_default();
    let client = |patience| Client::options().base_url(&url).api_key("key").patience(patience).build();
    if let Err(refused) = client(0) {
        println!("{refused}");
    }
    let made = client(7)?;
    let changed = made.with_options(ClientChanges::new().patience(9))?;
    println!("{:?}", made.orders().get("o")?.colour()?);
    println!("{:?}", made.subscriptions().pause("s")?.reference_name()?);
    let options = ChargeOptions::new().note("n");
    println!("{:?}", made.subscriptions().charge("s", 1, 2, options)?.reference_name()?);
    if let Err(error) = changed.orders().get("teapot") {
        println!("{} {} {error}", error.code() == ErrorCode::Teapot, error.is(ErrorCode::Api));
    }
    Ok(())
}
"""


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f'{{"data": {ORDER}}}'.encode()
        self.send_response(418 if self.path.endswith("teapot") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """The answer's reference name is the request."""
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode().replace('"', "'")
        path = self.path.removeprefix("/account")
        body = json.dumps({"data": {"id": "s", "reference_name": f"POST {path} {sent}"}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def add(tree: Path, name: str, before: str, text: str) -> None:
    path = tree / "core/interface" / name
    old = path.read_text("utf-8")
    assert old.count(before) == 1, before
    path.write_text(old.replace(before, text + before), "utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = copy_of_the_tree(tmp_path_factory.mktemp("interface"))
    field = '  { name = "colour", type = "text", nullable = true, doc = "Of the wrapping." },\n'
    add(tree, "resources.toml", '  { name = "remote_id"', field)
    option = '[[option]]\nname = "patience"\ntype = "count"\ndefault = 3\nchangeable = true\nleast = 1\n'
    option += 'refusal = "patience must be at least 1"\ndoc = "Of the client."\n\n'
    add(tree, "options.toml", '[[option]]\nname = "proxy"', option)
    error = '[[error]]\nnumber = 28\nname = "teapot"\npython = { class = "TeapotError", base = "ApiError" }\n'
    error += 'doc = "418: a teapot."\nstatuses = [{ status = 418, meaning = "the service is a teapot" }]\n\n'
    add(tree, "errors.toml", "# Statuses without a class", error)
    parameter = '  { name = "note", type = "text", optional = true, doc = "A note." },\n'
    add(tree, "operations.toml", '  { name = "description", type = "text"', parameter)
    operation = '[[operation]]\ngroup = "Subscriptions"\nname = "pause"\nmethod = "POST"\n'
    operation += 'path = "/subscription/{id}/pause"\nresult = "Subscription"\ndoc = "Pause billing."\n'
    operation += 'parameters = [{ name = "id", type = "id", positional = true, doc = "Of the subscription." }]\n\n'
    add(tree, "operations.toml", '[[operation]]\ngroup = "Subscriptions"\nname = "cancel"', operation)
    made = generate(tree)
    assert made.returncode == 0, made.stderr
    (tree / "python/user.cpp").write_text(CPP, "utf-8")
    (tree / "python/user.c").write_text(C, "utf-8")
    with (tree / "python/CMakeLists.txt").open("a") as out:
        out.write("add_executable(user user.cpp)\ntarget_link_libraries(user PRIVATE billcore::client)\n")
        out.write("add_executable(user-c user.c)\ntarget_link_libraries(user-c PRIVATE billcore::c)\n")
        out.write(f"set_target_properties({' '.join(TOGETHER)} PROPERTIES UNITY_BUILD ON)\n")
    # Relative names, so that the compiler cache knows these files again in another folder.
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree)}
    configure = ["cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-g0"]
    configure += [
        "-DCMAKE_INSTALL_LIBDIR=lib",
        "-DBILLCORE_CAPI=ON",
        "-DBILLCORE_PYTHON=ON",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    for command in (configure, ["cmake", "--build", "build"]):
        ran = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    return tree / "build"


PAUSED = "POST /subscription/s/pause "
CHARGED = "POST /subscription/s/order {'product_id':1,'amount':2,'note':'n'}"
TEAPOT = f'GET /order/teapot: 418 the service is a teapot: {{"data": {ORDER}}}'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/account"
        server.shutdown()


def output(command: list[str], **environment: str) -> list[str]:
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


@pytest.mark.parametrize("language", ["cpp", "python"])
def test_additions_are_there(built: Path, url: str, language: str) -> None:
    command = [str(built / "python/user"), url] if language == "cpp" else [sys.executable, "-c", PYTHON, url]
    refusal, values, *doc, paused, charged, error = output(command, PYTHONPATH=str(built / "python"))
    assert (paused, charged) == (PAUSED, CHARGED)
    assert refusal == "patience must be at least 1" and values == "3 red"
    assert doc == (["Of the wrapping, or None."] if language == "python" else [])
    assert error.startswith("1 GET" if language == "cpp" else "True GET")
    assert error.split(" ", 1)[1] == TEAPOT


def test_additions_are_there_in_c(built: Path, url: str) -> None:
    assert output([str(built / "python/user-c"), url]) == ["red", "patience must be at least 1", PAUSED, CHARGED]


@pytest.fixture(scope="module")
def prefix(built: Path) -> Path:
    where = built.parent / "prefix"
    ran = subprocess.run(["cmake", "--install", str(built), "--prefix", str(where)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return where


@pytest.mark.skipif("BILLCORE_GO" not in os.environ, reason="there is no Go; the area go says so")
def test_additions_are_there_in_go(prefix: Path, url: str, tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(GO, "utf-8")
    module = f"module user\n\ngo 1.23\n\nrequire billcore v0.0.0\n\nreplace billcore => {prefix}/share/billcore/go\n"
    (tmp_path / "go.mod").write_text(module, "utf-8")
    libraries = prefix / "lib"
    environment = {"PKG_CONFIG_PATH": f"{libraries}/pkgconfig", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    build = [f"{os.environ['BILLCORE_GO']}/go", "build", "-C", str(tmp_path), "-o", "user", "."]
    assert output(build, **environment) == []
    refusal, colour, paused, charged, error = output([str(tmp_path / "user"), url], LD_LIBRARY_PATH=str(libraries))
    assert (paused, charged) == (f"{PAUSED} true <nil>", f"{CHARGED} true <nil>")
    assert refusal == "billcore: patience must be at least 1" and colour == "red true <nil>"
    assert error == f"true true billcore: {TEAPOT}"


@pytest.mark.skipif("BILLCORE_RUST" not in os.environ, reason="there is no Rust; the area rust says so")
def test_additions_are_there_in_rust(prefix: Path, url: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text(RUST, "utf-8")
    package = '[package]\nname = "user"\nedition = "2024"\n[workspace]\n[dependencies]\n'
    package += f'billcore = {{ path = "{prefix}/share/billcore/rust/billcore" }}\n'
    (tmp_path / "Cargo.toml").write_text(package, "utf-8")
    folder, libraries = os.environ["BILLCORE_RUST"], prefix / "lib"
    environment = {"PKG_CONFIG_PATH": f"{libraries}/pkgconfig", "PATH": f"{folder}:{os.environ['PATH']}"}
    target = ["--manifest-path", str(tmp_path / "Cargo.toml"), "--target-dir", str(tmp_path / "target")]
    assert output([f"{folder}/cargo", "build", "--quiet", *target], **environment) == []
    program = str(tmp_path / "target/debug/user")
    refusal, colour, paused, charged, error = output([program, url], LD_LIBRARY_PATH=str(libraries))
    assert (paused, charged) == (f'Some("{PAUSED}")', f'Some("{CHARGED}")')
    assert refusal == "patience must be at least 1" and colour == 'Some("red")'
    assert error == f"true true {TEAPOT}"
