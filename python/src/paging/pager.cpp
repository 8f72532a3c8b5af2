// Defines the Python classes Pager, Page and Verdict, and the iterators of Pager.
#include "paging/pager.hpp"

#include <pybind11/stl.h>

#include "paging/items.hpp"
#include "paging/list.hpp"
#include "paging/many.hpp"
#include "shared/classes.hpp"
#include "shared/client_docs.hpp"
#include "shared/fast_call.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

/// A page with items of any type.
struct AnyPage {
  View type;
  std::vector<Value> items;
  Pagination pagination;
};

class NextPage final : public ListJob {
 public:
  using ListJob::ListJob;
  // The page of an empty list has no items to buffer, but is a result too. A list that moved has no page, although one
  // was taken, until that page is read again.
  [[nodiscard]] bool has_enough() override {
    return found_ = flow().core().buffered() || (taken() > 0 && flow().core().has_page());
  }
  [[nodiscard]] py::object give() override {
    auto page = found_ ? flow().take_page() : std::nullopt;
    if (!page) raise_stop();
    AnyPage out{list().type, {}, page->pagination};
    for (const auto* item : page->items) out.items.emplace_back(page->document, item);
    return py::cast(std::move(out));
  }

 private:
  bool found_ = false;
};

class FirstItem final : public ListJob {
 public:
  using ListJob::ListJob;
  [[nodiscard]] bool has_enough() override { return flow().core().knows_first(); }
  [[nodiscard]] py::object give() override {
    const auto value = flow().core().known_first();
    return value ? view(list().type, *value) : py::object(py::none());
  }
};

class AllItems final : public ListJob {
 public:
  AllItems(ListPtr list, std::size_t most) : ListJob(std::move(list)), most_(most) {}
  [[nodiscard]] bool has_enough() override {
    remember_position();
    while (out_.size() < most_) {
      const auto value = flow().take_item();
      if (!value) return false;
      out_.append(view(list().type, *value));
    }
    return true;
  }
  [[nodiscard]] py::object give() override {
    if (out_.size() >= most_) {
      list().pager.stop();
    } else {
      list().end();
    }
    return std::move(out_);
  }

 private:
  std::size_t most_;
  py::list out_;
};

/// Base of SyncPager and AsyncPager, the C++ types of Python's Pager and AsyncPager.
struct PagerObject {
  ListPtr list;
  int traverse(visitproc visit, void* arg) const { return list.traverse(visit, arg); }
};
struct SyncPager : PagerObject {};
struct AsyncPager : PagerObject {};

struct PageIteration : Iteration {
  using Iteration::Iteration;
};
struct AsyncPageIteration : Iteration {
  using Iteration::Iteration;
};

py::object collect(const PagerObject& self, py::handle limit) {
  // With a limit, a program may call collect() until it returns an empty list, so a call after the end does not raise.
  if (!given(limit)) self.list->refuse_second_reading();
  const auto most = given(limit) ? size(limit, "limit") : std::numeric_limits<std::size_t>::max();
  return read<AllItems>(self.list, "Pager.collect", most);
}

std::string verdict_text(const Verdict& verdict) { return verdict.complete ? "complete" : "possibly_missed"; }

void bind_verdict(py::module_& module) {
  auto type = final_class<Verdict>(module, "Verdict", docs::about_verdict, "keep its complete and reason");
  type.def_property_readonly(
      "complete", [](const Verdict& self) { return self.complete; }, docs::verdict_complete);
  type.def_property_readonly(
      "reason",
      [](const Verdict& self) { return self.complete ? py::object(py::none()) : py::str(std::string(self.reason)); },
      docs::verdict_reason);
  type.def("__str__", verdict_text);
  type.def("__bool__", [](const Verdict& self) { return self.complete; });
  type.def("__repr__", [](const Verdict& self) {
    return "<Verdict " + verdict_text(self) + (self.complete ? "" : ": " + std::string(self.reason)) + '>';
  });
}

// ---- ListPtr ----------------------------------------------------------------------------------------------------------------

struct ListObject {
  PyObject base;
  List* own;
};

PyTypeObject* list_type = nullptr;

int traverse_list(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return reinterpret_cast<ListObject*>(self)->own->traverse(visit, arg);
}

void dealloc_list(PyObject* self) noexcept {
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<ListObject*>(self)->own;
  free_object(self);
}

void bind_list(py::module_& module) {
  list_type = make_type<ListObject>(module, "billcore._client._List", "What a pager and its iterators share.",
                                    {{Py_tp_traverse, slot(&traverse_list)}, {Py_tp_dealloc, slot(&dealloc_list)}},
                                    Py_TPFLAGS_HAVE_GC);
}

void bind_page(py::module_& module) {
  auto type = final_class<AnyPage>(module, "Page", docs::about_page, "keep its items");
  make_generic(type);
  type.def_property_readonly(
      "items",
      [](const AnyPage& self) {
        py::list out;
        for (const auto& item : self.items) out.append(view(self.type, item));
        return out;
      },
      docs::page_items);
  type.def_property_readonly(
      "total", [](const AnyPage& self) { return self.pagination.total(); }, docs::page_total);
  type.def_property_readonly(
      "count", [](const AnyPage& self) { return self.pagination.count(); }, docs::page_count);
  type.def_property_readonly(
      "per_page", [](const AnyPage& self) { return self.pagination.per_page(); }, docs::page_per_page);
  type.def_property_readonly(
      "current_page", [](const AnyPage& self) { return self.pagination.current_page(); }, docs::page_current_page);
  type.def_property_readonly(
      "total_pages", [](const AnyPage& self) { return self.pagination.total_pages(); }, docs::page_total_pages);
  type.def_property_readonly(
      "links", [](const AnyPage& self) { return view(View::page_links, self.pagination.links().value()); },
      docs::page_links);
  type.def_property_readonly(
      "response_info", [](const AnyPage& self) { return response_info(self.pagination.response_info()); },
      docs::page_response_info);
  type.def("__repr__", [](const AnyPage& self) {
    return std::string("<Page of ") + list_name(self.type) + ", " + std::to_string(self.items.size()) +
           (self.items.size() == 1 ? " item>" : " items>");
  });
  type.def("_repr_html_", [](const AnyPage& self) {
    return py::module_::import("billcore._shown").attr("html_of_page")(py::cast(self));
  });
}

void bind_iterations(py::module_& module) {
  const auto same = [](py::object self) { return self; };
  constexpr const char* about = "Pages of a list; dropped before the end, the reading counts as stopped.";
  auto pages = final_class<PageIteration>(module, "PageIterator", about, belongs_to_client);
  pages.def("__iter__", same);
  def_next(pages, [](const PageIteration& self) { return read<NextPage>(self.list, "Pager.__next__"); });
  final_class<AsyncPageIteration>(module, "AsyncPageIterator", about, belongs_to_client)
      .def("__aiter__", same)
      .def("__anext__", [](const py::object& self) {
        return read<NextPage>(held<AsyncPageIteration>(self.ptr()).list, "AsyncPager.__anext__", self);
      });
}

// Returns the progress for repr(), such as "orders, 3 pages read, 280 in all".
std::string progress_of(List& list) {
  std::string out = list.name();
  if (list.busy.exchange(true)) return out + ", being read";
  const auto pages = list.pager.fetched_pages();
  const auto total = list.pager.total();
  list.busy = false;
  if (pages == 0) return out + ", not read yet";
  out += ", " + std::to_string(pages) + (pages == 1 ? " page read" : " pages read");
  return total ? out + ", " + std::to_string(*total) + " in all" : out;
}

template <typename Type, typename Pages>
void bind_reading(py::class_<Type>& type) {
  make_generic(type);
  def<docs::pager_pages_signature>(type, docs::pager_pages, [](const Type& self) {
    self.list->refuse_second_reading();
    return Pages(self.list);
  });
  def<docs::pager_to_batches_signature>(type, docs::pager_to_batches, [](const Type& self, const Call& call) {
    const auto bound = parsed<docs::pager_to_batches_signature>().bind(call);
    return make_batches(self.list, bound[0], bound[1], bound[2]);
  });
  def<docs::pager_first_signature>(type, docs::pager_first,
                                   [](const Type& self) { return read<FirstItem>(self.list, "Pager.first"); });
  def<docs::pager_collect_signature>(type, docs::pager_collect, [](const Type& self, const Call& call) {
    return collect(self, parsed<docs::pager_collect_signature>().bind(call)[0]);
  });
  type.def_property_readonly(
      "total", [](const Type& self) { return ExclusiveUse(self.list)->pager.total(); }, docs::pager_total);
  type.def_property_readonly(
      "state", [](const Type& self) { return ExclusiveUse(self.list)->pager.state(); }, docs::pager_state);
  type.def_property_readonly(
      "fetched_pages", [](const Type& self) { return ExclusiveUse(self.list)->pager.fetched_pages(); },
      docs::pager_fetched_pages);
  type.def_property_readonly(
      "verdict", [](const Type& self) { return ExclusiveUse(self.list)->pager.verdict(); }, docs::pager_verdict);
  // Used by billcore.bulk.
  type.def_property_readonly("_only_grew",
                             [](const Type& self) { return ExclusiveUse(self.list)->flow().core().only_grew(); });
  const std::string name = py::str(type.attr("__name__"));
  type.def("__repr__", [name](const Type& self) { return '<' + name + " of " + progress_of(*self.list) + '>'; });
  // Allows `if pager:`, for users who expect a Python list; without __bool__, bool() would call __len__, which
  // raises.
  type.def("__bool__", [](const Type& /*self*/) { return true; });
  type.def("__len__", [](const Type& /*self*/) -> std::size_t {
    type_error(
        "a pager has no len(): `.total` is the service's count, after `.first()`, and `len(pager.collect())` reads "
        "all");
  });
  type.def("__getitem__", [](const Type& /*self*/, const py::args& /*index*/) -> py::object {
    type_error("a pager has no index: `.first()` is the first item, and `.collect()` a list of all");
  });
}

}  // namespace

void make_generic(py::handle type) {
  type.attr("__class_getitem__") =
      py::reinterpret_steal<py::object>(PyClassMethod_New(reinterpret_cast<PyObject*>(&Py_GenericAliasType)));
}

ListPtr::ListPtr(std::unique_ptr<List> list) {
  object_ = new_object<ListObject>(list_type, [&](ListObject& made) { made.own = list.release(); });
}

List* ListPtr::get() const noexcept { return object_ ? reinterpret_cast<ListObject*>(object_.ptr())->own : nullptr; }

py::object make_pager(const BoundClient& bound, View type, ListOperation list, const detail::PagerOptions& pager,
                      CallOptions options) {
  internal::require_open(bound.client);
  ListPtr made(std::make_unique<List>(bound, type, std::move(list), pager, std::move(options)));
  if (bound.is_awaited()) return py::cast(AsyncPager{{std::move(made)}});
  return py::cast(SyncPager{{std::move(made)}});
}

void bind_pager(py::module_& module) {
  bind_list(module);
  bind_verdict(module);
  bind_page(module);
  bind_items(module);
  bind_iterations(module);
  bind_arrow(module);
  bind_many(module);

  auto type = final_class<SyncPager>(module, "Pager", docs::about_pager, belongs_to_client);
  type.def("__iter__", [](const SyncPager& self) { return make_items(self.list); });
  // Lets Arrow readers take a pager directly, as in polars.DataFrame(pager).
  def<docs::arrow_stream_arrow_c_stream_signature>(
      type, docs::arrow_stream_arrow_c_stream, [](const SyncPager& self, const Call& call) {
        static_cast<void>(parsed<docs::arrow_stream_arrow_c_stream_signature>().bind(call));
        return py::object(make_arrow_stream(self.list, py::none()).attr("__arrow_c_stream__")());
      });
  bind_reading<SyncPager, PageIteration>(type);
  def<docs::pager_to_arrow_signature>(type, docs::pager_to_arrow, [](const SyncPager& self, const Call& call) {
    return make_arrow_stream(self.list, parsed<docs::pager_to_arrow_signature>().bind(call)[0]);
  });

  auto awaited = final_class<AsyncPager>(module, "AsyncPager", docs::about_async_pager, belongs_to_client);
  awaited.def("__aiter__", [](const AsyncPager& self) { return make_items(self.list); });
  bind_reading<AsyncPager, AsyncPageIteration>(awaited);
}

}  // namespace billcore::python
