"""Writes calls of every inline function of a stored header, for stored_header_test.c.

Usage: make_stored_calls.py STORED.h FIELDS.json OUTPUT.h
tests/fixtures/fields.json determines the expected result of each accessor.
A function of an unknown kind is called with NULL.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from header import Function, functions_of
from stored_samples import Samples

EVENTS = {
    "subscription": "subscription.renewed",
    "order": "order.paid",
    "product": "product.updated",
    "product_group": "product-group.updated",
}
RESOURCES = ["custom_field", "image", *EVENTS, "event", "pagination"]
SIMPLE = {"billcore_str *": "text", "int64_t *": "number", "bool *": "flag", "size_t *": "count"}
ARGUMENTS = {"billcore_str": 'BILLCORE_STR("{}")', "bool": "true", "int64_t": "1", "int32_t": "1", "size_t": "1"}


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


def literal(value: object) -> str:
    return quoted(value) if isinstance(value, str) else "true" if value is True else str(value)


class Writer:
    def __init__(self, functions: list[Function], samples: Samples) -> None:
        self.functions = {function.name: function for function in functions}
        self.samples = samples
        self.called: set[str] = set()
        self.text = "/* Written by make_stored_calls.py. */\n"

    def use(self, name: str) -> str:
        assert name in self.functions, f"{name} is not in the stored header"
        self.called.add(name)
        return name

    def free(self, kind: str, variable: str) -> str:
        inline = f"billcore_{kind}_free"
        return f"{self.use(inline)}({variable});" if inline in self.functions else f"billcore_{kind}_free({variable});"

    def with_handle(self, kind: str) -> list[Function]:
        """Returns the functions that can fail and whose first parameter is a handle of this kind."""
        found = []
        for function in self.functions.values():
            first = function.parameters[0].type if function.parameters else ""
            if first.removeprefix("const ") == f"billcore_{kind} *" and function.result == "billcore_status":
                found.append(function)
        return found

    def accessor(self, function: Function, kind: str) -> str:
        """Returns C code that calls an accessor and checks the result; empty for a function of an unknown kind."""
        name, types = function.name, [parameter.type for parameter in function.parameters[1:-1]]
        nullable = types[-1:] == ["bool *"] and len(types) > 1 and function.parameters[-2].name == "present"
        if nullable:
            types.pop()
        present = ", &present" if nullable else ""
        full = "if (full) " if nullable or types == ["billcore_value **"] else ""
        absent = "  CHECK(present == full);\n" if nullable else ""
        value = self.samples.value(name)
        if types == ["billcore_str *"] and (value is None or name == "billcore_event_name"):  # no sample value
            return f"  OK({name}(self, &text{present}, &err));\n  CHECK(text.len > 0);\n"
        if len(types) == 1 and types[0] in SIMPLE and value is not None:
            variable = SIMPLE[types[0]]
            given = len(value) if isinstance(value, list) else value
            check = f"text_is({quoted(name)}, text, {literal(given)})"
            if variable != "text":
                check = f"CHECK({variable} == {literal(given)})"
            return f"  OK({name}(self, &{variable}{present}, &err));\n{absent}  {full}{check};\n"
        if types == ["billcore_str *", "bool *"]:
            integer = "true" if isinstance(value, int) else "false"
            check = f"  text_is({quoted(name)}, text, {quoted(str(value))});\n  CHECK(flag == {integer});\n"
            return f"  OK({name}(self, &text, &flag, &err));\n{check}"
        if types == ["billcore_str *", "int64_t *"]:
            check = f"text_is({quoted(name)}, text, {quoted(str(value))})"
            micros = f"CHECK(number == INT64_C({self.samples.micros(str(value))}))"
            return f"  OK({name}(self, &text, &number{present}, &err));\n{absent}  {full}{check};\n  {full}{micros};\n"
        if types == ["billcore_value **"]:
            check = "CHECK(value != NULL)" if value is None else f"json_is({quoted(name)}, value, {quoted(value)})"
            call = f"  OK({name}(self, &value{present}, &err));\n{absent}  {full}{check};\n"
            return call + "  billcore_value_free(value);\n"
        if types == ["size_t", "int64_t *"]:
            return f"  OK({name}(self, 0, &number, &err));\n  CHECK(number == {self.samples.first(name)});\n"
        if len(types) == 2 and types[0] == "size_t" and types[1].endswith(" **"):
            item = types[1].removeprefix("billcore_").removesuffix(" **")
            return (
                f"  {{\n    billcore_{item}* item;\n    OK({name}(self, 0, &item, &err));\n"
                f"    read_{item}(item, full);\n    {self.free(item, 'item')}\n  }}\n"
            )
        field = quoted(self.samples.field(kind))
        if types == ["billcore_str", "billcore_value **"]:
            call = f"  OK({name}(self, BILLCORE_STR({field}), &value, &present, &err));\n  CHECK(present);\n"
            return call + "  billcore_value_free(value);\n"
        if types == ["billcore_str", "bool *"]:
            return f"  OK({name}(self, BILLCORE_STR({field}), &flag, &err));\n  CHECK(flag);\n"
        if types == [f"const billcore_{kind} *", "bool *"]:
            return f"  OK({name}(self, self, &flag, &err));\n  CHECK(flag);\n"
        if types == [f"billcore_{kind} **"]:  # a copy
            raw = self.use(f"billcore_{kind}_raw")
            return (
                f"  {{\n    billcore_{kind}* copy;\n    OK({name}(self, &copy, &err));\n"
                f"    OK({raw}(copy, &text, &err));\n    CHECK(text.len > 0);\n    {self.free(kind, 'copy')}\n  }}\n"
            )
        if types == ["billcore_response_info **"]:
            return (
                f"  OK({name}(self, &info, &present, &err));\n  CHECK(present == (info != NULL));\n"
                "  billcore_response_info_free(info);\n"
            )
        return ""

    def resources(self) -> None:
        for kind in RESOURCES:
            self.text += f"static void read_{kind}(const billcore_{kind}* self, bool full);\n"
        for kind in RESOURCES:
            body = "  LOCALS\n  (void)full;\n"
            for function in self.with_handle(kind):
                if call := self.accessor(function, kind):
                    self.use(function.name)
                    body += call
            self.text += f"static void read_{kind}(const billcore_{kind}* self, bool full) {{\n{body}}}\n"

    def events(self) -> None:
        self.text += "static void read_events(void) {\n"
        for kind, event in EVENTS.items():
            for full in (True, False):
                flag = "true" if full else "false"
                body = quoted(self.samples.event(kind, event, full=full))
                self.text += (
                    f"  {{\n    billcore_event* event = event_of({body});\n"
                    f"    billcore_{kind}* data;\n    billcore_str name;\n    read_event(event, {flag});\n"
                    f"    OK({self.use('billcore_event_name')}(event, &name, &err));\n"
                    f"    text_is({quoted(event)}, name, {quoted(event)});\n"
                    f"    OK({self.use(f'billcore_event_{kind}')}(event, &data, &err));\n"
                    f"    read_{kind}(data, {flag});\n    {self.free(kind, 'data')}\n"
                    "    billcore_event_free(event);\n  }\n"
                )
        self.text += "}\n"

    def lists(self) -> None:
        kinds = [kind for kind in EVENTS if f"billcore_{kind}_list_next" in self.functions]
        for kind in kinds:
            self.text += f"static const char {kind}_answer[] = HEAD {quoted(self.samples.page(kind))};\n"
        template = Path(__file__).with_name("stored_list.h.in").read_text("utf-8")
        for kind in kinds:
            self.text += template.replace("@", kind)
        self.called |= {name for name in self.functions if name + "(" in self.text}
        self.text += "#define READ_LISTS(client) " + " ".join(f"read_{kind}_list(client);" for kind in kinds) + "\n"

    def options(self) -> None:
        """Writes code that makes each handle whose `_new` function takes no input, and that calls all setters of the
        handle."""
        self.text += "static void set_options(void) {\n"
        for function in list(self.functions.values()):
            if not function.name.endswith("_new") or len(function.parameters) != 2:
                continue
            kind = function.name.removeprefix("billcore_").removesuffix("_new")
            self.text += f"  {{\n    billcore_{kind}* given;\n    OK({self.use(function.name)}(&given, &err));\n"
            for setter in self.with_handle(kind):
                types = [parameter.type for parameter in setter.parameters[1:-1]]
                arguments = [ARGUMENTS.get(each, "NULL") for each in types]
                self.text += f"    SET({self.use(setter.name)}({', '.join(['given', *arguments, '&err'])}));\n"
            self.text += f"    {self.free(kind, 'given')}\n  }}\n"
        self.text += "}\n"

    def rest(self) -> None:
        """Writes calls of all remaining functions with NULL, 0 and empty texts. A function that can fail must refuse
        NULL, 0 and empty texts."""
        self.text += "static void call_the_rest(void) {\n"
        for function in self.functions.values():
            if function.name in self.called:
                continue
            fallible = function.result == "billcore_status"
            given = []
            for each in function.parameters[: -1 if fallible else None]:
                given.append("NULL" if "*" in each.type else 'BILLCORE_STR("")' if each.type == "billcore_str" else "0")
            if fallible:
                self.text += f"  REFUSED({function.name}({', '.join([*given, '&err'])}));\n"
            else:
                self.text += f"  (void){function.name}({', '.join(given)});\n"
        self.text += "}\n"


def main() -> None:
    stored, fields, output = (Path(argument) for argument in sys.argv[1:])
    functions = [f for f in functions_of(stored.read_text("utf-8"), stored.name) if f.inline]
    writer = Writer(functions, Samples(json.loads(fields.read_text("utf-8"))["rows"]))
    writer.resources()
    writer.events()
    writer.lists()
    writer.options()
    print(f"{len(writer.called)} of {len(functions)} inline functions; with NULL:")
    print(*sorted(writer.functions.keys() - writer.called))
    writer.rest()
    output.write_text(writer.text, "utf-8")


if __name__ == "__main__":
    main()
