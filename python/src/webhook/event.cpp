#include "webhook/event.hpp"

#include <array>
#include <utility>

#include "billcore/detail/document.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"
#include "webhook/event_class_table.hpp"
#include "webhook/json.hpp"
#include "webhook/model.hpp"
#include "webhook/shown.hpp"
#include "webhook/webhook_arguments.hpp"

namespace billcore::python {

namespace {

struct Object {
  PyObject head;
  Event event;
  PyObject* body;
  const detail::Node* data_node;  // null: absent
  PyObject* data;                 // the resource; null until the first access to `data` creates it
};

std::array<PyTypeObject*, event_classes.size()> made{};

// Returns the event's index in event_classes. If the `data` of a known event is not an object although it should be,
// the event counts as unknown, so that `data` always has the type of its annotation.
std::size_t class_of(const Event& event, const detail::Node* data) noexcept {
  const auto place = static_cast<std::size_t>(event.type());
  const bool as_promised = data != nullptr && detail::kind(data) == Value::Kind::object;
  return as_promised || event_classes.at(place).data == View::resource ? place : 0;
}

Object& self_of(PyObject* self) noexcept { return *reinterpret_cast<Object*>(self); }

constexpr Field id_field{"id", FieldKind::id, false, docs::event_id};
constexpr Field name_field{"name", FieldKind::word, false, docs::event_name};
constexpr Field account_field{"account", FieldKind::integer, false, docs::event_account};
constexpr Field created_at_field{"created_at", FieldKind::time, false, docs::event_created_at};

// `explain` is the core's reader of this field: it throws the error if the field is absent or malformed.
template <const Field& field, auto explain>
PyObject* get_field(PyObject* self, void* /*closure*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    const Event& event = self_of(self).event;
    auto out = try_field(event.value(), field);
    if (!out) {
      static_cast<void>((event.*explain)());
      throw detail::value_error(ErrorCode::decode, field.name, "cannot be read");
    }
    return out.release().ptr();
  });
}

// Like Event::data(), without building a variant.
PyObject* get_data(PyObject* self, void* /*closure*/) noexcept {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    Object& object = self_of(self);
    if (object.data != nullptr) return Py_NewRef(object.data);
    if (object.data_node == nullptr) return Py_NewRef(Py_None);
    const Value data(object.event.value().document(), object.data_node);
    if (!data.is_object()) return plain(data).release().ptr();  // not cached, because the caller could modify a list
    object.data = make_view(event_classes.at(class_of(object.event, object.data_node)).data, data);
    return Py_XNewRef(object.data);
  });
}

PyObject* get_raw(PyObject* self, void* /*closure*/) noexcept { return Py_NewRef(self_of(self).body); }

PyObject* repr(PyObject* self) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    constexpr py::ssize_t longest = 80;
    const auto& envelope = self_of(self).event.value();
    const auto shown = [&](const Field& field) {
      const auto value = try_field(envelope, field);
      return value ? py::repr(value)[py::slice(0, longest, 1)] : py::object(py::str("?"));
    };
    const std::string_view type(Py_TYPE(self)->tp_name);
    const auto kind = py::str(std::string(type.substr(type.rfind('.') + 1)));
    const bool is_known = Py_TYPE(self) != made[0];  // repr() omits the name if the class implies it
    return py::str(is_known ? "<{} {}>" : "<{} {} {}>")
        .format(kind, shown(id_field), shown(name_field))
        .release()
        .ptr();
  });
}

PyObject* html(PyObject* self, PyObject* /*unused*/) noexcept { return call_shown("html_of_event", self); }
PyObject* rich_repr(PyObject* self, PyObject* /*unused*/) noexcept { return call_shown("rich_repr", self); }

int contains(PyObject* self, PyObject* name) noexcept { return has_member(self_of(self).event.value(), name); }
PyObject* subscript(PyObject* self, PyObject* name) noexcept { return get_member(self_of(self).event.value(), name); }

PyObject* to_dict(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return plain(self_of(self).event.value()).release().ptr(); });
}

PyObject* require_claimable(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    self_of(self).event.require_claimable();
    return py::none().release().ptr();
  });
}

PyObject* compare(PyObject* self, PyObject* other, int operation) noexcept {
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(self) != Py_TYPE(other)) Py_RETURN_NOTIMPLEMENTED;
  return PyObject_RichCompare(self_of(self).body, self_of(other).body, operation);
}

Py_hash_t hash(PyObject* self) noexcept { return PyBytes_Type.tp_hash(self_of(self).body); }

PyObject* copy(PyObject* self, PyObject* /*memo*/) noexcept { return Py_NewRef(self); }

PyObject* reduce(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    const auto restore = py::module_::import("billcore._webhook").attr("parse_unverified");
    const auto body = py::reinterpret_borrow<py::object>(self_of(self).body);
    return py::make_tuple(restore, py::make_tuple(body)).release().ptr();
  });
}

void dealloc(PyObject* self) noexcept {
  Object& object = self_of(self);
  Py_XDECREF(object.data);
  object.event.~Event();  // destroy the event before the body, to which the event refers
  Py_DECREF(object.body);
  free_object(self);
}

std::array getset{
    PyGetSetDef{"id", get_field<id_field, &Event::id>, nullptr, id_field.doc, nullptr},
    PyGetSetDef{"name", get_field<name_field, &Event::name>, nullptr, name_field.doc, nullptr},
    PyGetSetDef{"account", get_field<account_field, &Event::account>, nullptr, account_field.doc, nullptr},
    PyGetSetDef{"created_at", get_field<created_at_field, &Event::created_at>, nullptr, created_at_field.doc, nullptr},
    PyGetSetDef{"data", get_data, nullptr, docs::event_data, nullptr},
    PyGetSetDef{"raw", get_raw, nullptr, docs::event_raw, nullptr},
    PyGetSetDef{},
};
std::array methods{
    PyMethodDef{"to_dict", to_dict, METH_NOARGS, "to_dict($self, /)\n--\n\nThe whole envelope as plain JSON values."},
    PyMethodDef{
        "require_claimable", require_claimable, METH_NOARGS,
        "require_claimable($self, /)\n--\n\n"
        "Raise DecodeError if a receiver cannot store the event once under its account and id; then answer 400."},
    PyMethodDef{"_repr_html_", html, METH_NOARGS,
                "_repr_html_($self, /)\n--\n\nA table of the fields, for notebooks. Without signed URLs."},
    PyMethodDef{"__rich_repr__", rich_repr, METH_NOARGS, "__rich_repr__($self, /)\n--\n\nWhat repr() shows, for rich."},
    PyMethodDef{"__copy__", copy, METH_NOARGS, "__copy__($self, /)\n--\n\nThe event itself, which never changes."},
    PyMethodDef{"__deepcopy__", copy, METH_O,
                "__deepcopy__($self, memo, /)\n--\n\nThe event itself, which never changes."},
    PyMethodDef{"__reduce__", reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nPickles the body as received."},
    PyMethodDef{},
};

}  // namespace

py::bytes own_bytes(py::handle body, const std::string& name) {
  if (PyBytes_CheckExact(body.ptr())) return py::reinterpret_borrow<py::bytes>(body);
  const Buffer buffer(body, name);
  return {buffer.text().data(), buffer.text().size()};
}

SharedText shared_text(const py::bytes& bytes) {
  // The text keeps the bytes alive. The text's deleter runs while its thread holds the GIL, because the last references
  // to the text belong to Python objects (the Event and its resources).
  auto* owner = bytes.inc_ref().ptr();
  return {bytes_of(bytes),
          {owner, [](const void* object) { Py_DECREF(static_cast<PyObject*>(const_cast<void*>(object))); }}};
}

py::object make_event(Event event, py::bytes body) {
  const auto* data = detail::member(event.value().node(), "data");
  auto* object = PyObject_New(Object, made.at(class_of(event, data)));
  if (object == nullptr) throw py::error_already_set();
  new (&object->event) Event(std::move(event));
  object->body = body.release().ptr();
  object->data_node = data;
  object->data = nullptr;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

void bind_event(py::module_& module) {
  auto* base = make_type<Object>(module, "billcore.webhooks.Event", docs::about_event,
                                 {{Py_tp_dealloc, slot(dealloc)},
                                  {Py_tp_repr, slot(repr)},
                                  {Py_tp_richcompare, slot(compare)},
                                  {Py_tp_hash, slot(hash)},
                                  {Py_mp_subscript, slot(subscript)},
                                  {Py_sq_contains, slot(contains)},
                                  {Py_tp_getset, getset.data()},
                                  {Py_tp_methods, methods.data()}},
                                 Py_TPFLAGS_BASETYPE);
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto& [name, doc, data] = event_classes.at(i);
    made.at(i) = make_type<Object>(module, name, doc, {{Py_tp_dealloc, slot(dealloc)}}, 0, base);
  }
  auto any = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(made.at(1)));
  for (std::size_t i = 2; i <= made.size(); ++i) {
    any = checked(PyNumber_Or(any.ptr(), reinterpret_cast<PyObject*>(made.at(i % made.size()))));  // UnknownEvent last
  }
  module.attr("AnyEvent") = any;
  // pytest collects each class in a test module whose name begins with Test, unless its attribute __test__ is false.
  auto* test_hook = made.at(static_cast<std::size_t>(EventType::test_hook));
  if (PyDict_SetItemString(test_hook->tp_dict, "__test__", Py_False) != 0) throw py::error_already_set();
  PyType_Modified(test_hook);
}

}  // namespace billcore::python
