// Iterators over the items of a list. The iterators run once for each item, so they bypass pybind11's dispatch, which
// is slow.
#include "paging/items.hpp"

#include <Python.h>

#include <memory>
#include <optional>

#include "asyncio/awaitable.hpp"
#include "call/interruption.hpp"
#include "shared/classes.hpp"
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

struct ItemIterator : Iteration {
  using Iteration::Iteration;
};
struct AsyncItemIterator : Iteration {
  using Iteration::Iteration;
};

// Without the check of held(): Python calls a slot only with an object of the class, which has its C++ value.
template <typename Iterator>
const ListPtr& list_of(py::handle items) {
  const py::detail::value_and_holder place(reinterpret_cast<py::detail::instance*>(items.ptr()), nullptr, 0, 0);
  return place.value_ptr<Iterator>()->list;
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
    const auto& list = list_of<ItemIterator>(self);
    auto out = take_buffered(list, [] { return !interruption_raised(); });
    if (!out) out = read<NextItem>(list, "Pager.__next__");
    return out.release().ptr();
  });
}

constexpr Shortcut next_awaited_item{
    "AsyncPager.__anext__",
    [](py::handle items) {
      internal::require_open(list_of<AsyncItemIterator>(items)->bound.client);
      return take_buffered(list_of<AsyncItemIterator>(items), [] { return true; });
    },
    [](const py::object& items) -> std::unique_ptr<Job> {
      return std::make_unique<NextItem>(list_of<AsyncItemIterator>(items), items);
    },
    [](py::handle items) -> const BoundClient& { return list_of<AsyncItemIterator>(items)->bound; },
};

PyObject* await_next_item(PyObject* self) noexcept {
  return guarded<PyObject*>(nullptr, [self] {
    return make_awaitable(py::reinterpret_borrow<py::object>(self), next_awaited_item).release().ptr();
  });
}

}  // namespace

py::object make_items(const ListPtr& list) {
  list->refuse_second_reading();
  if (list->bound.is_awaited()) return py::cast(AsyncItemIterator(list));
  return py::cast(ItemIterator(list));
}

void bind_items(py::module_& module) {
  constexpr const char* about = "Items of a list; dropped before the end, the reading counts as stopped.";
  const auto same = [](py::object self) { return self; };
  auto type = final_class<ItemIterator>(module, "ItemIterator", about, belongs_to_client);
  auto awaited = final_class<AsyncItemIterator>(module, "AsyncItemIterator", about, belongs_to_client);
  type.def("__iter__", same).def("__next__", [](const py::object& self) {
    static_cast<void>(held<ItemIterator>(self.ptr()));  // refuses an object of another class
    return checked(next_item(self.ptr()));
  });
  awaited.def("__aiter__", same).def("__anext__", [](const py::object& self) {
    static_cast<void>(held<AsyncItemIterator>(self.ptr()));
    return checked(await_next_item(self.ptr()));
  });
  reinterpret_cast<PyTypeObject*>(type.ptr())->tp_iternext = &next_item;
  reinterpret_cast<PyTypeObject*>(awaited.ptr())->tp_as_async->am_anext = &await_next_item;
}

}  // namespace billcore::python
