#include "webhook/model.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "billcore/detail/document.hpp"
#include "billcore/model.hpp"
#include "billcore/pager.hpp"
#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/fast_call.hpp"
#include "shared/objects.hpp"
#include "shared/time.hpp"
#include "webhook/json.hpp"
#include "webhook/response.hpp"
#include "webhook/shown.hpp"

namespace billcore::python {
namespace {

std::array<PyTypeObject*, types.size()> made{};

// ---- Reading ----------------------------------------------------------------------------------------------------------------

struct Object {
  PyObject head;
  Value value;
};

const Value& value_of(PyObject* self) noexcept { return reinterpret_cast<Object*>(self)->value; }

// Throws for a value that the core accepts but Python's type cannot hold.
[[noreturn]] void beyond_python(const Value& value, const char* what) {
  PyErr_Clear();
  throw detail::value_error(ErrorCode::decode, value.path(), std::string("is not ") + what + " that Python can hold");
}

py::object time(const Value& value) {
  const auto parsed = parse_time(value.text());
  if (!parsed) return {};
  try {
    return to_datetime(parsed->at, parsed->offset_minutes.value_or(0));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_OverflowError)) throw;
  }
  beyond_python(value, "a date-time");
}

py::object decimal(const Value& value) {
  const auto type = py::module_::import("decimal").attr("Decimal");
  try {
    return type(string(value.raw()));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ArithmeticError)) throw;  // decimal.InvalidOperation: an exponent beyond Decimal's limits
  }
  beyond_python(value, "a decimal");
}

py::object view(View type, const Value& value) {
  if (!value.is_object()) return {};
  return checked(make_view(type, value));
}

template <typename F>
py::object list(const Value& value, F&& read) {
  if (!value.is_array()) return {};
  auto out = checked(PyList_New(static_cast<py::ssize_t>(value.size())));
  py::ssize_t place = 0;
  for (const auto item : value) {
    auto made_item = read(item.value());
    if (!made_item) return {};
    PyList_SET_ITEM(out.ptr(), place++, made_item.release().ptr());
  }
  return out;
}

py::object integer_field(const Value& value) {
  return value.kind() == Value::Kind::integer ? plain_integer(*value.document(), value.node()) : py::object();
}

// Reads a field of a kind that needs a conversion, such as a time, an object or an array.
py::object try_field(const Value& value, Value::Kind kind, const Field& field) {
  switch (field.kind) {
    case FieldKind::time:
      return kind == Value::Kind::string ? time(value) : py::object();
    case FieldKind::decimal:
      return kind == Value::Kind::integer || kind == Value::Kind::real ? decimal(value) : py::object();
    case FieldKind::object:
      return kind == Value::Kind::object ? plain(value) : py::object();
    case FieldKind::any:
      return plain(value);
    case FieldKind::view:
      return view(field.element, value);
    case FieldKind::views:
      return list(value, [&](const Value& item) { return view(field.element, item); });
    case FieldKind::integers:
      return list(value, integer_field);
    default:
      return {};
  }
}

// Makes the member functions public with which Resource reads and checks fields. Resource's errors describe the problem
// with a field, and contain the field's path.
class Reader : public Resource {
 public:
  using Resource::any;
  using Resource::boolean;
  using Resource::id_field;
  using Resource::integers;
  using Resource::nullable_object;
  using Resource::nullable_text;
  using Resource::nullable_time;
  using Resource::number_text;
  using Resource::object;
  using Resource::objects;
  using Resource::required;
  using Resource::Resource;
  using Resource::text;
  using Resource::time;
};

// Throws the core's error for a field that cannot be read.
[[noreturn]] void refuse_field(const Value& owner, const Field& field) {
  const Reader reader(owner);
  if (!field.nullable && field.kind != FieldKind::any) static_cast<void>(reader.required(field.name));
  switch (field.kind) {
    case FieldKind::text:
    case FieldKind::word:
      static_cast<void>(reader.nullable_text(field.name));
      break;
    case FieldKind::integer:
      static_cast<void>(reader.required(field.name).integer());
      break;
    case FieldKind::boolean:
      static_cast<void>(reader.boolean(field.name));
      break;
    case FieldKind::id:
      static_cast<void>(reader.id_field(field.name));
      break;
    case FieldKind::time:
      static_cast<void>(reader.nullable_time(field.name));
      break;
    case FieldKind::decimal:
      static_cast<void>(reader.number_text(field.name));
      break;
    case FieldKind::object:
    case FieldKind::view:
      static_cast<void>(reader.nullable_object(field.name));
      break;
    case FieldKind::any:
      static_cast<void>(reader.any(field.name));
      break;
    case FieldKind::views:
      static_cast<void>(reader.objects<Resource>(field.name));
      break;
    case FieldKind::integers:
      static_cast<void>(reader.integers(field.name));
      break;
  }
  throw detail::value_error(ErrorCode::decode, owner.path() + '.' + field.name, "cannot be read");
}

PyObject* get_field(PyObject* self, void* closure) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    const auto& field = *static_cast<const Field*>(closure);
    auto out = try_field(value_of(self), field);
    if (!out) refuse_field(value_of(self), field);
    return out.release().ptr();
  });
}

}  // namespace

py::object try_field(const Value& owner, const Field& field) {
  const auto* node = owner.document()->member(owner.node(), field.name);
  const auto kind = node == nullptr ? Value::Kind::null : detail::kind(node);
  if (kind == Value::Kind::null && (node == nullptr || field.kind != FieldKind::any)) {
    return field.nullable ? py::none() : py::object();
  }
  // Read plain values here, because constructing a Value would take longer.
  switch (field.kind) {
    case FieldKind::text:
      return kind == Value::Kind::string ? string(detail::text(node)) : py::object();
    case FieldKind::word:
      return kind == Value::Kind::string ? word(detail::text(node)) : py::object();
    case FieldKind::integer:
      return kind == Value::Kind::integer ? plain_integer(*owner.document(), node) : py::object();
    case FieldKind::boolean:
      return kind == Value::Kind::boolean ? py::bool_(detail::boolean(node)) : py::object();
    case FieldKind::id:
      if (kind == Value::Kind::string) return string(detail::text(node));
      return kind == Value::Kind::integer ? plain_integer(*owner.document(), node) : py::object();
    default:
      return try_field(Value(owner.document(), node), kind, field);
  }
}

// ---- The types --------------------------------------------------------------------------------------------------------------

namespace {

const Type& type_of(PyObject* self) noexcept {
  for (std::size_t i = 1; i < made.size(); ++i) {
    if (Py_TYPE(self) == made[i]) return types[i];
  }
  return types[0];
}

void dealloc(PyObject* self) noexcept {
  reinterpret_cast<Object*>(self)->value.~Value();
  free_object(self);
}

std::optional<Value> find(const Value& owner, PyObject* name) noexcept {
  if (!PyUnicode_Check(name)) return std::nullopt;
  py::ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == nullptr) {
    PyErr_Clear();  // `name` has a lone surrogate: no member has such a name
    return std::nullopt;
  }
  return owner.find({text, static_cast<std::size_t>(size)});
}

}  // namespace

int has_member(const Value& owner, PyObject* name) noexcept { return find(owner, name).has_value() ? 1 : 0; }

PyObject* get_member(const Value& owner, PyObject* name) noexcept {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const auto found = find(owner, name);
    if (found) return plain(*found).release().ptr();
    PyErr_SetObject(PyExc_KeyError, name);
    return nullptr;
  });
}

namespace {

int contains(PyObject* self, PyObject* name) noexcept { return has_member(value_of(self), name); }
PyObject* subscript(PyObject* self, PyObject* name) noexcept { return get_member(value_of(self), name); }

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(self) != Py_TYPE(other)) Py_RETURN_NOTIMPLEMENTED;
  return guarded<PyObject*>(nullptr, [&] {
    return PyObject_RichCompare(plain(value_of(self)).ptr(), plain(value_of(other)).ptr(), operation);
  });
}

PyObject* repr(PyObject* self) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return shown(type_of(self), value_of(self)).release().ptr(); });
}
PyObject* html(PyObject* self, PyObject* /*unused*/) noexcept { return call_shown("html", self); }
PyObject* rich_repr(PyObject* self, PyObject* /*unused*/) noexcept { return call_shown("rich_repr", self); }

PyObject* pydantic_schema(PyObject* type, PyObject* arguments) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    if (PyTuple_GET_SIZE(arguments) != 2) type_error("__get_pydantic_core_schema__() takes a source and a handler");
    return py::module_::import("billcore._pydantic").attr("schema")(py::handle(type)).release().ptr();
  });
}

PyObject* get_raw(PyObject* self, void* /*closure*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return string(value_of(self).raw()).release().ptr(); });
}

PyObject* get_response_info(PyObject* self, void* /*closure*/) noexcept {
  return make_response_info(value_of(self).document()->info());
}

PyObject* to_dict(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return plain(value_of(self)).release().ptr(); });
}

struct Detached : Resource {
  using Resource::detached;
  using Resource::Resource;
};

PyObject* copy(PyObject* self, PyObject* /*memo*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    const auto type = static_cast<View>(&type_of(self) - types.data());
    return make_view(type, Detached(value_of(self)).detached());
  });
}

// Pickles a resource as its JSON text and its path, so that errors after unpickling still name, say, `data.price`.
PyObject* reduce(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    const auto restore = py::module_::import("billcore._webhook").attr("_restore");
    const auto& value = value_of(self);
    const std::string name(std::string_view(type_of(self).name).substr(package_prefix));
    return py::make_tuple(restore, py::make_tuple(name, string(value.raw()), string(value.path()))).release().ptr();
  });
}

constexpr const char* restore_signature = "_restore(kind, json, path, /)";

py::object restore(PyObject* /*module*/, const Call& call) {
  const auto [kind, text, path] = parsed<restore_signature>().bind<3>(call);
  const std::string name(utf8(kind, "kind"));
  const std::string json(utf8(text, "json"));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].name != "billcore." + name) continue;
    const auto document = detail::Document::parse(SharedText::own(json), std::string(utf8(path, "path")));
    if (detail::kind(document->root()) != Value::Kind::object) {
      throw Error(ErrorCode::decode, "a pickled " + name + " is not a JSON object");
    }
    return checked(make_view(static_cast<View>(i), Value(document, document->root())));
  }
  throw Error(ErrorCode::decode, "the pickle names no type of billcore");
}

PyObject* usable_at(PyObject* self, PyObject* now) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    return py::bool_(Subscription(value_of(self)).usable_at(to_instant(now, "now"))).release().ptr();
  });
}

std::array common_getset{
    PyGetSetDef{"raw", get_raw, nullptr, docs::resource_raw, nullptr},
    PyGetSetDef{"response_info", get_response_info, nullptr, docs::resource_response_info, nullptr},
    PyGetSetDef{},
};
std::array common_methods{
    PyMethodDef{"to_dict", to_dict, METH_NOARGS, "to_dict($self, /)\n--\n\nThe whole object as plain JSON values."},
    PyMethodDef{"_repr_html_", html, METH_NOARGS,
                "_repr_html_($self, /)\n--\n\nA table of the fields, for notebooks. Without signed URLs."},
    PyMethodDef{"__rich_repr__", rich_repr, METH_NOARGS, "__rich_repr__($self, /)\n--\n\nWhat repr() shows, for rich."},
    PyMethodDef{"__get_pydantic_core_schema__", pydantic_schema, METH_VARARGS | METH_CLASS,
                "__get_pydantic_core_schema__($type, source, handler, /)\n--\n\nFor pydantic: written as received."},
    PyMethodDef{"__copy__", copy, METH_NOARGS, "__copy__($self, /)\n--\n\nA copy that keeps nothing else alive."},
    PyMethodDef{"__deepcopy__", copy, METH_O,
                "__deepcopy__($self, memo, /)\n--\n\nA copy that keeps nothing else alive."},
    PyMethodDef{"__reduce__", reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nPickles the JSON text."},
    PyMethodDef{},
};
// Returns the docstring with `$self`, as Python expects it for a method written in C. The docstring is static,
// because the Python type refers to it.
const std::string& usable_at_doc() {
  static const std::string doc =
      Signature(docs::subscription_usable_at_signature).method_doc(docs::subscription_usable_at);
  return doc;
}
std::array<PyMethodDef, 2> subscription_methods{};

void make_view_type(std::size_t index, PyGetSetDef* getset, py::module_& module) {
  std::vector<PyType_Slot> slots{{Py_tp_dealloc, slot(dealloc)}, {Py_tp_getset, getset}};
  if (index == 0) {
    slots.insert(slots.end(), {{Py_tp_methods, common_methods.data()},
                               {Py_tp_repr, slot(repr)},
                               {Py_tp_richcompare, slot(compare)},
                               {Py_tp_hash, slot(PyObject_HashNotImplemented)},
                               {Py_mp_subscript, slot(subscript)},
                               {Py_sq_contains, slot(contains)}});
  } else if (static_cast<View>(index) == View::subscription) {
    subscription_methods[0] = {"usable_at", usable_at, METH_O, usable_at_doc().c_str()};
    slots.push_back({Py_tp_methods, subscription_methods.data()});
  }
  made[index] = make_type<Object>(module, types[index].name, types[index].doc, std::move(slots),
                                  index == 0 ? Py_TPFLAGS_BASETYPE : 0, made[0]);
}

}  // namespace

PyObject* make_view(View type, const Value& value) noexcept {
  PyTypeObject* python_type = made[static_cast<std::size_t>(type)];
  auto* object = PyObject_New(Object, python_type);
  if (object == nullptr) return nullptr;
  new (&object->value) Value(value);
  return reinterpret_cast<PyObject*>(object);
}

void bind_model(py::module_& module) {
  // The tables are static, because the types refer to them until the process ends.
  static std::array<std::vector<PyGetSetDef>, types.size()> getsets;
  make_view_type(0, common_getset.data(), module);
  for (std::size_t i = 1; i < types.size(); ++i) {
    for (const auto& field : types[i].fields) {
      getsets[i].push_back({field.name, get_field, nullptr, field.doc, const_cast<Field*>(&field)});
    }
    getsets[i].emplace_back();
    make_view_type(i, getsets[i].data(), module);
  }
  // _restore is a C function: a pickle that refers to a pybind11 function would contain eval() and getattr().
  def_function(module, parsed<restore_signature>(), fast_call<restore>, "Makes a resource from its pickle.",
               "billcore._webhook");
}

}  // namespace billcore::python
