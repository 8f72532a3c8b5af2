"""Python objects without a C++ object: after __new__ alone, an __init__ that failed or never ran, or a forged pickle.

The types are found by inspecting the extension modules, so new types are covered automatically. The programs run in
child processes, because a defect would crash the process.
"""

from __future__ import annotations

from .support import run_python

HEAD = """
import asyncio, copy, copyreg, gc, inspect, pickle, types, warnings
import billcore
from billcore import _client, _webhook, webhooks
warnings.simplefilter("ignore")

def found():
    kinds = {}
    for module in (_webhook, _client):
        for value in vars(module).values():
            if isinstance(value, type):
                kinds[value] = None
    return list(kinds)

KINDS = [kind for kind in found() if not issubclass(kind, tuple)]  # a Got is a tuple
MADE_BY_USERS = [billcore.Client, billcore.AsyncClient, webhooks.Verifier]
ARGUMENTS = {
    billcore.Client: dict(base_url="http://127.0.0.1:1/a", api_key="k"),
    billcore.AsyncClient: dict(base_url="http://127.0.0.1:1/a", api_key="k"),
    webhooks.Verifier: dict(secrets="0" * 32),
}

def forged(kind):
    home = _client if getattr(_client, kind.__name__, None) is kind else _webhook
    body = b"\\x80\\x02c" + home.__name__.encode() + b"\\n" + kind.__name__.encode() + b"\\n)\\x81."
    return pickle.loads(body)

WAYS = {
    "new": lambda kind: kind.__new__(kind),
    "newobj": lambda kind: copyreg.__newobj__(kind),
    "newobj_ex": lambda kind: copyreg.__newobj_ex__(kind, (), {}),
    "call": lambda kind: kind(),
    "pickle": forged,
    "object": lambda kind: object.__new__(kind),
    "reconstruct": lambda kind: copyreg._reconstructor(kind, object, None),
    "base": lambda kind: kind.__mro__[1].__new__(kind),
}

def outcome(act, *arguments, **more):
    try:
        result = act(*arguments, **more)
    except Exception as error:
        return error
    return result

def attributes(kind):
    for owner in kind.__mro__:
        if not owner.__module__.startswith("billcore"):
            continue
        for name in vars(owner):
            if name not in OTHERS:
                yield name

# The last one is pybind11's and needs a capsule that only C++ makes.
OF_CLASS = (staticmethod, types.ClassMethodDescriptorType)
OTHERS = ("__new__", "__doc__", "__module__", "__class_getitem__", "__init__", "_pybind11_conduit_v1_")
HARMLESS = {"close", "__repr__", "__aexit__", "__exit__", "__hash__", "__str__", "__reduce_ex__", "__reduce__"}

def attack(made):
    kind = type(made)
    assert "initialised" in repr(made) and str(made) == repr(made), repr(made)
    for name in attributes(kind):
        try:
            value = getattr(made, name)
        except billcore.ConfigError as error:
            assert "never initialised" in str(error) and "\\n" not in str(error), error
            continue
        if name == "__hash__" or not callable(value) or isinstance(inspect.getattr_static(kind, name), OF_CLASS):
            continue
        ends = [outcome(value, *["x"] * count) for count in range(4)]
        ends += [outcome(value, None, None, None), outcome(value, product_id=1)]
        if name in HARMLESS:
            for end in ends:
                assert not isinstance(end, Exception) or isinstance(end, TypeError), (kind, name, end)
                if hasattr(end, "close"):
                    end.close()
            continue
        assert any(isinstance(end, billcore.ConfigError) for end in ends), (kind, name, ends)
        assert all(isinstance(end, (billcore.ConfigError, TypeError)) for end in ends), (kind, name, ends)
    restored = lambda one: one.__setstate__({"a": 1})
    for act in (copy.copy, copy.deepcopy, pickle.dumps, lambda one: one.__reduce_ex__(4), restored):
        assert isinstance(outcome(act, made), Exception), act
    hash(made), made == made, dir(made), format(made), bool(made)
"""


def run(code: str) -> str:
    return run_python(HEAD + code)


def test_no_way_around_init_makes_an_object_that_crashes() -> None:
    output = run("""
for kind in KINDS:
    for way, make in WAYS.items():
        made = outcome(make, kind)
        if isinstance(made, Exception):
            # Calls that `object` itself refuses raise Python's TypeError.
            ours = isinstance(made, (billcore.ConfigError, pickle.PickleError)) or kind in MADE_BY_USERS
            assert ours or way in ("object", "reconstruct", "base"), (kind, way, made)
            assert isinstance(made, (TypeError, billcore.ConfigError)), (kind, way, made)
            if kind not in MADE_BY_USERS and not issubclass(kind, BaseException) and way in ("new", "call"):
                assert "cannot be made" in str(made) and kind.__name__ in str(made) and "\\n" not in str(made), made
            continue
        assert type(made) is kind and kind in MADE_BY_USERS, (kind, way)
        attack(made)
        del made
        gc.collect()
print(len(KINDS))
""")
    assert int(output) >= 35


def test_a_method_with_an_object_of_another_class() -> None:
    output = run("""
made = [kind(**ARGUMENTS[kind]) for kind in MADE_BY_USERS]
tried = 0
for kind in KINDS:
    if issubclass(kind, BaseException):
        continue
    others = [None, 5, "x", object(), kind, *(one for one in made if not isinstance(one, kind))]
    for name in attributes(kind):
        static = inspect.getattr_static(kind, name)
        if isinstance(static, (staticmethod, classmethod)) or not callable(static) or name in ("__iter__", "__aiter__"):
            continue
        for other in others:
            for more in ((), (1,), (None, None, None)):
                end = outcome(static, other, *more)
                assert isinstance(end, TypeError), (kind, name, other, more, end)
                tried += 1
for one in [*made, made[0].orders, made[0].products.list()]:
    base = type(one).__mro__[1]
    for act in (base, lambda: base.__new__(base), lambda: type("Own", (base,), {})()):
        end = outcome(act)
        assert isinstance(end, (billcore.ConfigError, TypeError)), (one, end)
    for act in (lambda: one.__reduce__(), lambda: object.__reduce_ex__(one, 0), lambda: copyreg._reduce_ex(one, 1)):
        assert isinstance(outcome(act), (billcore.ConfigError, TypeError)), one
class Own(billcore.Client):
    def __new__(cls, *args, **more):
        return super().__new__(cls)
assert Own(**ARGUMENTS[billcore.Client]).orders
print(tried)
""")
    assert int(output) > 1000


SUBCLASSES = """
raised = []
import sys
sys.unraisablehook = lambda what: raised.append(what)

for base in MADE_BY_USERS:
    class Closing(base):
        def __del__(self):
            ended.append(repr(self))
            if hasattr(self, "close"):
                end = self.close()
                if end is not None:
                    end.close()
    class Lazy(Closing):
        def __init__(self, *args, **more):
            pass
    class Failing(Closing):
        def __init__(self, *args, **more):
            raise KeyError("early")
    class Late(Closing):
        def __init__(self, *args, **more):
            assert "never initialised" in str(outcome(getattr, self, probe))
            super().__init__(*args, **more)
            assert not isinstance(getattr(self, probe), Exception)
    class Slotted(Closing):
        __slots__ = ("extra",)
    probe = "header" if base is webhooks.Verifier else "products"
    wrong = dict(secrets="short") if base is webhooks.Verifier else dict(base_url="ftp://x", api_key="k")
    for kind, arguments, expected in [
        (Closing, wrong, billcore.ConfigError),
        (Slotted, wrong, billcore.ConfigError),
        (Closing, dict(nonsense=1), TypeError),
        (Lazy, ARGUMENTS[base], billcore.ConfigError),
        (Failing, {}, KeyError),
        (Late, wrong, billcore.ConfigError),
    ]:
        ended = []
        end = outcome(kind, **arguments)
        assert isinstance(end, expected), (kind, end)
        if kind is Lazy:
            assert "never initialised" in str(end) and "__init__" in str(end), end
        end = None
        gc.collect()
        assert len(ended) == 1 and "never initialised" in ended[0], (kind, ended)
    ended = []
    good = Late(**ARGUMENTS[base])
    assert "never initialised" not in repr(good)
    attack(Closing.__new__(Closing))
    del good
    gc.collect()
    assert len(ended) == 2
assert raised == [], raised
"""


def test_subclasses_whose_init_failed_or_never_ran() -> None:
    run(SUBCLASSES)


def test_a_second_init_is_refused() -> None:
    run("""
for kind in MADE_BY_USERS:
    made = kind(**ARGUMENTS[kind])
    before = repr(made)
    for arguments in (ARGUMENTS[kind], {}, dict(nonsense=1)):
        error = outcome(made.__init__, **arguments)
        assert isinstance(error, billcore.ConfigError) and "already" in str(error), error
    assert repr(made) == before
    # A failed __init__ may be repeated.
    later = kind.__new__(kind)
    assert isinstance(outcome(later.__init__, nonsense=1), TypeError)
    later.__init__(**ARGUMENTS[kind])
    assert repr(later) == before
    # A nested __init__ is refused too.
    nested = kind.__new__(kind)
    class Sneaky:
        def __getitem__(self, index):
            nested.__init__(**ARGUMENTS[kind])
            raise IndexError
        def __len__(self):
            return 1
        def keys(self):
            nested.__init__(**ARGUMENTS[kind])
            return []
        def items(self):
            nested.__init__(**ARGUMENTS[kind])
            return []
    name = "secrets" if kind is webhooks.Verifier else "headers"
    outcome(nested.__init__, **{**ARGUMENTS[kind], name: Sneaky()})
    assert repr(nested) == before
""")


def test_the_class_of_an_object_stays() -> None:
    run("""
makers = {kind: ARGUMENTS[kind] for kind in MADE_BY_USERS}
objects = [kind(**arguments) for kind, arguments in makers.items()]
client, awaited, verifier = objects
pager = client.subscriptions.list()
objects += [client.subscriptions, client.products, pager, iter(pager), pager.pages()]
objects += [pager.to_arrow(), pager.to_batches()]
objects += [awaited.orders, awaited.products.list(), verifier.stream()]
body = b'{"id": 1, "name": "order.paid", "data": {"id": 5}}'
event = verifier.unwrap(body, webhooks.sign(body, "0" * 32))
objects += [event, event.data, verifier.verify(body, webhooks.sign(body, "0" * 32))]

class Empty:
    __slots__ = ()

def change(one, kind):
    for way in (
        lambda: setattr(one, "__class__", kind),
        lambda: object.__setattr__(one, "__class__", kind),
        lambda: object.__dict__["__class__"].__set__(one, kind),
    ):
        error = outcome(way)
        assert isinstance(error, TypeError), (one, kind, error)

for one in objects:
    for kind in KINDS + [Empty]:
        if kind is not type(one):
            change(one, kind)

class A(billcore.Client):
    __slots__ = ()
class B(billcore.AsyncClient):
    __slots__ = ()
class C(webhooks.Verifier):
    __slots__ = ()
for first in (A, B, C):
    for second in (A, B, C):
        if first is not second:
            change(first(**ARGUMENTS[first.__base__]), second)
assert isinstance(outcome(type, "Both", (billcore.Client, webhooks.Verifier), {}), TypeError)
""")


def test_an_uninitialised_client_closes_in_every_way() -> None:
    run("""
client, awaited = billcore.Client.__new__(billcore.Client), billcore.AsyncClient.__new__(billcore.AsyncClient)
assert isinstance(outcome(client.__enter__), billcore.ConfigError)
async def main():
    await awaited.close()
    await awaited.__aexit__(None, None, None)
    assert isinstance(outcome(awaited.__aenter__), billcore.ConfigError)
asyncio.run(main())
""")


def test_an_uninitialised_verifier_as_an_argument() -> None:
    run("""
verifier = webhooks.Verifier.__new__(webhooks.Verifier)
event = {"body": "{}", "isBase64Encoded": False, "headers": {"Service-Signature": "x"}}
environ = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "0", "wsgi.input": __import__("io").BytesIO()}
for end in (outcome(webhooks.from_lambda, event, verifier), outcome(webhooks.from_wsgi, environ, verifier)):
    assert isinstance(end, billcore.ConfigError) and "never initialised" in str(end), end
""")


def test_exceptions_whose_init_never_ran() -> None:
    run("""
import builtins
kinds = [value for name in dir(billcore) for value in [getattr(billcore, name)] if isinstance(value, type)]
kinds = [kind for kind in kinds if issubclass(kind, billcore.BillcoreError)] + [webhooks.SignatureError]
assert len(kinds) >= 15
for kind in kinds:
    made = kind.__new__(kind)
    repr(made), str(made), made.__reduce__(), copy.copy(made), pickle.loads(pickle.dumps(made))
    for owner in kind.__mro__:
        for name in getattr(owner, "__annotations__", {}):
            if owner.__module__.startswith("billcore") and not name.startswith("_"):
                end = outcome(getattr, made, name)
                assert not isinstance(end, Exception) or isinstance(end, billcore.ConfigError), (kind, name, end)
    for name in ("status", "code", "reason", "attempted_at"):
        end = outcome(getattr, made, name)
        assert not isinstance(end, Exception) or isinstance(end, (billcore.ConfigError, AttributeError)), (kind, name)
    assert isinstance(outcome(getattr, made, "nothing_of_the_kind"), AttributeError)
attempt = billcore.Attempt.__new__(billcore.Attempt)
assert "never initialised" in repr(attempt)
for name in billcore.Attempt.__slots__:
    assert isinstance(outcome(getattr, attempt, name), billcore.ConfigError)
assert isinstance(outcome(getattr, attempt, "nothing_of_the_kind"), AttributeError)
""")
