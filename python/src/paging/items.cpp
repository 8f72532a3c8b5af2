// Iterators over the items of a list. The iterators run once for each item, so they bypass pybind11's dispatch, which
// is slow.
#include "paging/items.hpp"

#include <Python.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "asyncio/awaitable.hpp"
#include "call/interruption.hpp"
#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

class NextItem final : public ListJob {
 public:
  using ListJob::ListJob;
  [[nodiscard]] bool has_enough() override { return flow().core().buffered(); }
  [[nodiscard]] py::object give() override {
    const auto value = flow().take_item();
    if (!value) raise_stop();
    return view(list().type, *value);
  }
};

struct ItemIteration {
  PyObject base;
  Iteration own;
};

PyTypeObject* items_type = nullptr;
PyTypeObject* awaited_items_type = nullptr;

const ListPtr& list_of(py::handle items) noexcept { return reinterpret_cast<ItemIteration*>(items.ptr())->own.list; }

py::object make(PyTypeObject* type, const ListPtr& list) {
  auto* const object = PyObject_GC_New(ItemIteration, type);
  if (object == nullptr) throw py::error_already_set();
  new (&object->own) Iteration(list);
  PyObject_GC_Track(object);
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

// Returns the next item if it is buffered, else null. Most items are buffered and need no job. If the item cannot be
// given to the caller, puts the item back.
template <typename IsWanted>
py::object take_buffered(const ListPtr& list, IsWanted is_wanted) {
  std::optional<ExclusiveUse> use(list);
  const auto before = list->flow().core().mark();
  const auto value = list->flow().take_item();
  if (!value) return {};
  const auto after = list->flow().core().mark();
  try {
    auto out = view(list->type, *value);
    use.reset();  // is_wanted() may run signal handlers, which may use the list
    if (is_wanted()) return out;
    throw py::error_already_set();
  } catch (...) {
    use.reset();
    if (!list->busy) list->flow().core().take_back(before, after);
    throw;
  }
}

PyObject* next_item(PyObject* self) noexcept {
  return guarded<PyObject*>(nullptr, [self] {
    auto out = take_buffered(list_of(self), [] { return !interruption_raised(); });
    if (!out) out = read<NextItem>(list_of(self), "Pager.__next__");
    return out.release().ptr();
  });
}

constexpr Shortcut next_awaited_item{
    "AsyncPager.__anext__",
    [](py::handle items) {
      internal::require_open(list_of(items)->bound.client);
      return take_buffered(list_of(items), [] { return true; });
    },
    [](const py::object& items) -> std::unique_ptr<Job> { return std::make_unique<NextItem>(list_of(items), items); },
    [](py::handle items) -> const BoundClient& { return list_of(items)->bound; },
};

PyObject* await_next_item(PyObject* self) noexcept {
  return guarded<PyObject*>(nullptr, [self] {
    return make_awaitable(py::reinterpret_borrow<py::object>(self), next_awaited_item).release().ptr();
  });
}

PyObject* itself(PyObject* self) noexcept { return Py_NewRef(self); }

PyObject* refuse_copy(PyObject* self, PyObject* /*protocol*/) noexcept {
  return guarded<PyObject*>(nullptr, [self]() -> PyObject* {
    type_error(no_copies(std::strrchr(Py_TYPE(self)->tp_name, '.') + 1, belongs_to_client));
  });
}

int traverse_items(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return list_of(self).traverse(visit, arg);
}

void dealloc_items(PyObject* self) noexcept {
  const py::error_scope kept;
  PyObject_GC_UnTrack(self);
  reinterpret_cast<ItemIteration*>(self)->own.~Iteration();
  free_object(self);
}

PyTypeObject* make_items_type(py::module_& module, const char* name, PyType_Slot iterate, PyType_Slot next) {
  static PyMethodDef methods[] = {
      {"__reduce__", &refuse_copy, METH_NOARGS, "__reduce__(self, /)\n--\n\nRefused: TypeError."},
      {"__reduce_ex__", &refuse_copy, METH_O, "__reduce_ex__(self, protocol, /)\n--\n\nRefused: TypeError."},
      {nullptr, nullptr, 0, nullptr}};
  return make_type<ItemIteration>(module, name,
                                  "Items of a list; dropped before the end, the reading counts as stopped.",
                                  {iterate,
                                   next,
                                   {Py_tp_methods, methods},
                                   {Py_tp_traverse, slot(&traverse_items)},
                                   {Py_tp_dealloc, slot(&dealloc_items)}},
                                  Py_TPFLAGS_HAVE_GC);
}

}  // namespace

py::object make_items(const ListPtr& list) {
  list->refuse_second_reading();
  return make(list->bound.is_awaited() ? awaited_items_type : items_type, list);
}

void bind_items(py::module_& module) {
  items_type =
      make_items_type(module, "billcore.ItemIterator", {Py_tp_iter, slot(&itself)}, {Py_tp_iternext, slot(&next_item)});
  awaited_items_type = make_items_type(module, "billcore.AsyncItemIterator", {Py_am_aiter, slot(&itself)},
                                       {Py_am_anext, slot(&await_next_item)});
}

}  // namespace billcore::python
