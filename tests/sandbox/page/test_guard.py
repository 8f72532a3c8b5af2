"""Attacks on the page: by other sites in the same browser, by forms, by URLs, and by what was recorded."""

from __future__ import annotations

import http.client
import re
from urllib.parse import quote, urlencode

import pytest

from billcore.testing import Sandbox, SandboxAccount
from sandbox.page.support import Browser
from sandbox.support import Receiver, Service, account, of_ready, started
from sandbox.wire import Wire
from support.waiting import GENEROUS

FORM = "application/x-www-form-urlencoded"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
SAFE = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
STATIC = "/_page/static/page.css"
STREAM = "/_page/changes"
ACCOUNT = "/_page/do/accounts"  # a form that makes an account
Answer = tuple[int, dict[str, str], str]


def ask(service: Service, method: str, path: str, body: str | bytes | None = None, **headers: str) -> Answer:
    """Sends a request as a browser does; of a stream, it reads only the head."""
    connection = http.client.HTTPConnection(service.host, service.port or 80, timeout=GENEROUS)
    given = {"Accept": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        streams = answer.headers["Content-Type"].startswith("text/event-stream")
        return answer.status, dict(answer.headers), "" if streams else answer.read().decode()
    finally:
        connection.close()


def origin(service: Service) -> str:
    return f"http://{service.host}:{service.port}"


def token(service: Service) -> str:
    found = re.search(r'name="token" value="([^"]+)"', Browser(service).get("/"))
    assert found is not None
    return found[1]


def accounts(sandbox: Sandbox) -> int:
    return len(sandbox.control.state()["accounts"])


@pytest.mark.parametrize("path", ["/", "/_page/upcoming", "/_page/rows", STATIC, STREAM, ACCOUNT, "/_page/none"])
def test_a_name_of_another_site_gets_nothing(process: Sandbox, path: str) -> None:
    service, before = account(process), accounts(process)
    fields = urlencode({"token": token(service)})
    method, body = ("POST", fields) if path == ACCOUNT else ("GET", None)
    for host in ("evil.example", "127.0.0.1.evil.example", f"evil.example:{service.port}", ""):
        status, _, text = ask(
            service, method, path, body, Host=host, Origin=f"http://{host}", Content_Type=FORM
        )  # the name of the site leads to 127.0.0.1
        assert status == 403 and "--allow-host" in text and "token" not in text
    assert accounts(process) == before
    assert ask(service, "GET", path, Host=f"localhost:{service.port}")[0] in (200, 404, 405)


def test_a_form_of_another_page_does_nothing(process: Sandbox) -> None:
    service, before = account(process), accounts(process)
    own, right = origin(service), token(service)
    with started() as (_, ready):
        earlier = token(of_ready(ready)[0])

    def sent(sender: str | None, given: str | None) -> Answer:
        body = urlencode({} if given is None else {"token": given})
        origins = {} if sender is None else {"Origin": sender}
        return ask(service, "POST", ACCOUNT, body, Content_Type=FORM, **origins)

    other_port = f"http://{service.host}:{(service.port or 0) ^ 1}"
    others = ["http://evil.example", f"{own}.evil.example", f"{own}/", f"{own}@evil.example", f"http://x@{own[7:]}"]
    others += ["", "null", other_port, f"http://{service.host}", f"ftp{own[4:]}", "http://[", own[7:]]
    for sender in [None, *others]:
        status, _, page = sent(sender, right)
        assert status == 403 and "another origin" in page, sender
    for given in (None, "", right[:-1], f"{right}x", "é", earlier):
        status, _, page = sent(own, given)
        assert status == 403 and "earlier start" in page, given
    assert accounts(process) == before
    # A proxy may give the page to browsers over https.
    assert [sent(each, right)[0] for each in (own, f"https{own[4:]}")] == [303, 303]
    assert accounts(process) == before + 2


def test_only_a_form_in_utf_8_of_a_usual_size_is_performed(process: Sandbox) -> None:
    service, before = account(process), accounts(process)
    own, start = origin(service), urlencode({"token": token(service)})

    def status(body: str | bytes, kind: str | None = FORM, method: str = "POST") -> int:
        kinds = {} if kind is None else {"Content_Type": kind}
        return ask(service, method, ACCOUNT, body, Origin=own, **kinds)[0]

    kinds = [
        "application/json",
        "multipart/form-data; boundary=x",
        "text/plain",
        f"{FORM}x",
        f"text/plain,{FORM}",
        None,
    ]
    assert [status(start, kind) for kind in kinds] == [415] * len(kinds)
    assert status(start + "&" + "&".join(f"x{each}=1" for each in range(200))) == 422
    for bad in (b"&note=%ff", b"&note=\xff", b"&note=%ED%A0%80", b"&&", b"&note"):
        assert status(start.encode() + bad) == 422, bad
    assert status(start + "&note=" + "x" * (3 << 20)) == 413
    with Wire(service) as wire:  # the answer comes although the body does not
        head = f"POST {ACCOUNT} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: {FORM}\r\n"
        wire.socket.sendall(f"{head}Content-Length: {3 << 20}\r\n\r\n".encode())
        assert wire.read_answer()[0] == 413
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
        answer = ask(service, method, ACCOUNT, start, Content_Type=FORM, Origin=own)
        assert (answer[0], answer[1]["Allow"]) == (405, "POST")
    for method in ("POST", "PUT", "DELETE"):
        answer = ask(service, method, "/_page/upcoming", start, Content_Type=FORM, Origin=own)
        assert (answer[0], answer[1]["Allow"]) == (405, "GET")
    for path in ("ledger", "stream", "none", "../reset", "clock/x"):
        note = Browser(service).get(Browser(service).post(path, {})[1])
        assert "Refused: " in note, path
    for fields in ({"days": "NaN"}, {"days:json": "NaN"}, {"days:json": "[" * 9999}, {"days": "1e999"}, {"clock": "1"}):
        assert "Refused: " in Browser(service).get(Browser(service).post("clock", fields)[1]), fields
    name = {"name:json": '"\\ud800"', "type": "one_time", "price": "100"}  # no text in UTF-8
    assert "Refused: " in Browser(service).get(Browser(service).post("products", name)[1])
    assert accounts(process) == before and ask(service, "GET", "/")[0] == 200


def test_a_form_leads_only_to_this_server_and_no_secret_gets_into_a_url(
    mine: SandboxAccount, receiver: Receiver
) -> None:
    service = Service(mine.accounts[0])
    browser, fields = Browser(service), {"account": service.account}

    def leads(back: str, path: str = "clock", **more: str) -> str:
        status, location = browser.post(path, {**fields, "back": back, **more})
        assert status == 303
        return re.sub("note=[0-9a-f]{8}$", "", location)

    for back in (
        "",
        "//evil",
        "///evil",
        "https://evil",
        "evil",
        "javascript:alert(1)",
        "\\\\evil",
        " //evil",
        "\t//evil",
    ):
        assert leads(back) == "/?", back
    assert leads("/\\evil") == "/%5Cevil?" and leads("/%5cevil") == "/%5cevil?" and leads("/\t/evil") == "/%09/evil?"
    assert leads("/a\r\nSet-Cookie: x=1") == "/a%0D%0ASet-Cookie:%20x=1?"
    assert leads("/?q=é\u202e#x") == "/?q=%C3%A9%E2%80%AE%23x&"
    secret, key = "s" * 32, service.api_key
    back = "/?a={secret}{old_secret}{id}&b=%7Bsecret%7D&c={api_key}&d={signing__secret}&e={url}&f={__class__}"
    assert re.fullmatch(r"/\?a=\d+&b=&c=&d=&e=&f=&", leads(back, "endpoints", url=receiver.url, secret=secret))
    status, location = browser.post("accounts", {"back": back, "done": "{api_key} {account} {secret} {number}"})
    assert status == 303 and "c=&" in location and "key_" not in location
    note = re.search('<p class="note">(.*?)</p>', browser.get(location))
    assert note is not None and re.fullmatch(r" [0-9a-f-]{36}  \d+", note[1]) and key not in note[1]
    assert leads("/?x={secret}", "clock", days="-1") == "/?x=&"


def test_every_answer_says_what_a_browser_may_do_with_it(process: Sandbox) -> None:
    service = account(process)
    service.charge()
    raw = f"/_page/raw/request/{process.control.requests()[-1]['id']}/body"
    files = [STATIC, "/_page/static/page.js", "/_page/static/htmx.min.js", "/_page/static/icon.svg"]
    pages = ["/", "/_page/rows", "/_page/subscriptions", "/_page/upcoming", "/_page/none", "/?account=none", ACCOUNT]
    for path in [*pages, *files, STREAM, raw]:
        status, headers, page = ask(service, "GET", path)
        assert {name: headers.get(name) for name in SAFE} == SAFE, (path, status)
        assert headers["Cache-Control"] == ("max-age=3600" if path in files else "no-store"), path
        assert not headers["Content-Type"].startswith("text/html") or "<!doctype html>" in page or path == "/_page/rows"
        head = ask(service, "HEAD", path)
        assert head[0] == status and head[2] == "", path
        # The pages change meanwhile: a delivery ends.
        assert path in pages or head[1].get("Content-Length") == headers.get("Content-Length"), path
    for method in ("POST", "DELETE"):
        headers = ask(service, method, ACCOUNT)[1]
        assert {name: headers.get(name) for name in SAFE} == SAFE
    with Wire(service) as wire:  # the answer to HEAD ends, and the connection is free for the next request
        for _ in range(2):
            wire.socket.sendall(f"HEAD {STREAM} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            received = b""
            while b"\r\n\r\n" not in received:
                received += wire.socket.recv(4096)
            assert received.startswith(b"HTTP/1.1 200")


FILES = "../app.py ..%2fapp.py %2e%2e/app.py ..%5capp.py /etc/passwd page.css%00 .. x/../../app.py page.css/ PAGE.CSS"


@pytest.mark.parametrize("path", ["", "../templates/base.html", "__init__.py", *FILES.split()])
def test_no_other_file_is_given(process: Sandbox, path: str) -> None:
    with Wire(account(process)) as wire:
        wire.socket.sendall(f"GET /_page/static/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, body = wire.read_answer()
    assert status == 404 and b"There is no such file" in body


EVIL = "\"'><script>alert(1)</script><b x=\u202e"


def test_texts_in_urls_stay_texts(process: Sandbox) -> None:
    service = account(process)
    with Wire(service) as wire:  # a target that is recorded
        wire.socket.sendall(b'GET /"><script>alert(1)</script> HTTP/1.1\r\nHost: localhost\r\nA: "><script>x\r\n\r\n')
        assert wire.read_answer()[0] == 401
    number = process.control.requests()[-1]["id"]
    names = ("q", "kind", "trouble", "open", "before", "after", "note", "order", "page", "status", "attempt", EVIL)
    paths = ("/", "/_page/rows", "/_page/subscriptions", "/_page/upcoming", "/_page/subscriptions/1", "/_page/none")
    urls = [f"{path}?{urlencode({name: EVIL})}" for path in paths for name in names]
    urls += [f"{path}?{urlencode({'account': EVIL})}" for path in paths]
    urls += [f"/_page/{quote(EVIL)}", f"/_page/subscriptions/{quote(EVIL)}", f"/_page/static/{quote(EVIL)}"]
    urls += [f"/?open={kind}-{quote(EVIL)}" for kind in ("request", "effect", "state", "delivery", "clock", "x")]
    urls += [f"/?open=request-{number}", "/?q=script"]
    for url in urls:
        status, _, page = ask(service, "GET", url)
        assert status in (200, 404), url
        assert "<script>" not in page and "\u202e" not in re.sub('value="[^"]*"', "", page), url
        assert "account=" not in page or "<h1>404</h1>" not in page, "the page that refuses is of no account"
    assert "&lt;script&gt;" in ask(service, "GET", urls[-1])[2]
    huge = [*("9" * each for each in (18, 19, 20, 5000)), "-1", "1e9", "0x10", "٣", "", " 1", "1\x00"]
    for text in huge:
        for name in ("before", "after", "page", "order"):
            for path in paths[:4]:
                assert ask(service, "GET", f"{path}?{urlencode({name: text})}")[0] == 200
        for kind in ("request", "delivery", "clock"):
            assert "no such entry" in ask(service, "GET", f"/?open={kind}-{quote(text)}")[2] or not text.strip()
        assert ask(service, "GET", f"/_page/raw/request/{quote(text)}/body")[0] == 404


def test_a_url_of_another_site_costs_the_sandbox_no_time(process: Sandbox) -> None:
    service = account(process)
    for query in ("&".join(f"a{each}" for each in range(30_000)), "q=" + "x" * 200_000, "kind=request&" * 10_000):
        status, _, page = ask(service, "GET", f"/?{query}")
        assert status == 414 and len(page) < 100_000
    assert len(ask(service, "GET", f"/?{'kind=request&' * 600}")[2]) < 500_000
