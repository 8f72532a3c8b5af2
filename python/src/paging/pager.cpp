// Lists: Pager, its iterators, Page, Verdict.
#include "paging/pager.hpp"

#include <pybind11/stl.h>

#include "call/interruption.hpp"
#include "paging/list.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

/// A page, independent of the type of its items.
struct AnyPage {
  View type;
  std::vector<Value> items;
  Pagination pagination;
};

class NextItem final : public ListJob {
 public:
  using ListJob::ListJob;
  [[nodiscard]] bool has_enough() override { return internal::buffered(flow()); }
  [[nodiscard]] py::object give() override {
    const auto value = internal::take_item(flow());
    if (!value) raise_stop();
    return view(list().type, *value);
  }
};

class NextPage final : public ListJob {
 public:
  using ListJob::ListJob;
  [[nodiscard]] bool has_enough() override { return found_ = found_ || internal::buffered(flow()) || taken() > 0; }
  [[nodiscard]] py::object give() override {
    auto page = found_ ? internal::take_page(flow()) : std::nullopt;
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
  [[nodiscard]] bool has_enough() override { return internal::knows_first(flow()); }
  [[nodiscard]] py::object give() override {
    const auto value = internal::known_first(flow());
    return value ? view(list().type, *value) : py::object(py::none());
  }
};

class AllItems final : public ListJob {
 public:
  AllItems(ListPtr list, std::size_t most) : ListJob(std::move(list)), most_(most) {}
  [[nodiscard]] bool has_enough() override {
    if (before_ == nullptr) before_ = internal::snapshot(flow());
    while (out_.size() < most_) {
      const auto value = internal::take_item(flow());
      if (!value) return false;
      out_.append(view(list().type, *value));
    }
    return true;
  }
  [[nodiscard]] py::object give() override {
    if (out_.size() >= most_) list().pager.stop();
    return std::move(out_);
  }
  // If interrupted or failed, it takes no items.
  void take_back() noexcept override {
    if (before_ == nullptr || list().busy.exchange(true)) return;  // another reader is active, such as a signal handler
    try {
      internal::restore(flow(), *std::exchange(before_, nullptr));
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): out of memory, cannot be restored
    }
    list().busy = false;
  }

 private:
  std::shared_ptr<const detail::PagerCore> before_;
  std::size_t most_;
  py::list out_;
};

/// Pager and AsyncPager, and their iterators.
struct PagerObject {
  ListPtr list;
  int traverse(visitproc visit, void* arg) const { return list.traverse(visit, arg); }
};
struct SyncPager : PagerObject {};
struct AsyncPager : PagerObject {};

struct ItemIteration : Iteration {
  using Iteration::Iteration;
};
struct PageIteration : Iteration {
  using Iteration::Iteration;
};
struct AsyncItemIteration : Iteration {
  using Iteration::Iteration;
};
struct AsyncPageIteration : Iteration {
  using Iteration::Iteration;
};

py::object next_item(const ItemIteration& self) {
  {
    // Most items are buffered and need no job.
    std::optional<Use> list(self.list);
    const auto before = internal::mark(self.list->flow());
    if (const auto value = internal::take_item(self.list->flow())) {
      auto out = view(self.list->type, *value);
      const auto after = internal::mark(self.list->flow());
      list.reset();  // signal handlers may use the list
      if (!interruption_raised()) return out;
      const py::error_already_set raised;
      if (!self.list->busy) internal::take_back(self.list->flow(), before, after);
      throw raised;
    }
  }
  return read<NextItem>(self.list, "Pager.__next__");
}

py::object collect(const PagerObject& self, py::handle limit) {
  const auto most = given(limit) ? size(limit, "limit") : std::numeric_limits<std::size_t>::max();
  return read<AllItems>(self.list, "Pager.collect", most);
}

std::string verdict_text(const Verdict& verdict) { return verdict.complete ? "complete" : "possibly_missed"; }

void bind_verdict(py::module_& module) {
  auto type = py::class_<Verdict>(module, "Verdict", py::is_final(),
                                  "Was everything read that was there from start to end? str() is 'complete' or "
                                  "'possibly_missed'.");
  type.attr("__module__") = "billcore";
  refuse_copies(type, "keep its complete and reason");
  type.def_property_readonly(
      "complete", [](const Verdict& self) { return self.complete; },
      "True when no change of the list was seen between the first and the last read.");
  type.def_property_readonly(
      "reason",
      [](const Verdict& self) { return self.complete ? py::object(py::none()) : py::str(std::string(self.reason)); },
      "Why a record may have been missed: 'total_changed', 'overlap', 'repeated_page', 'list_shrank', 'stopped', "
      "'total_differs' or 'undecodable_item'; "
      "else None.");
  type.def("__str__", verdict_text);
  type.def("__repr__", [](const Verdict& self) {
    return "<billcore.Verdict " + verdict_text(self) + (self.complete ? "" : ": " + std::string(self.reason)) + '>';
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

// Allows Pager[Order] and Page[Order] in annotations.
void make_generic(py::handle type) {
  type.attr("__class_getitem__") =
      py::reinterpret_steal<py::object>(PyClassMethod_New(reinterpret_cast<PyObject*>(&Py_GenericAliasType)));
}

void bind_page(py::module_& module) {
  auto type = py::class_<AnyPage>(module, "Page", py::is_final(),
                                  "One page of a list. Service interface: Resources and their fields, Pagination.");
  type.attr("__module__") = "billcore";
  make_generic(type);
  refuse_copies(type, "keep its items");
  type.def_property_readonly(
      "items",
      [](const AnyPage& self) {
        py::list out;
        for (const auto& item : self.items) out.append(view(self.type, item));
        return out;
      },
      "The items of the page that were not yielded before, a new list.");
  type.def_property_readonly(
      "total", [](const AnyPage& self) { return self.pagination.total(); }, "Items of the whole list.");
  type.def_property_readonly(
      "count", [](const AnyPage& self) { return self.pagination.count(); }, "Items of this page.");
  type.def_property_readonly(
      "per_page", [](const AnyPage& self) { return self.pagination.per_page(); }, "Items on a full page.");
  type.def_property_readonly(
      "current_page", [](const AnyPage& self) { return self.pagination.current_page(); },
      "Number of this page, from 1.");
  type.def_property_readonly(
      "total_pages", [](const AnyPage& self) { return self.pagination.total_pages(); }, "Number of the last page.");
  type.def_property_readonly(
      "links", [](const AnyPage& self) { return view(View::page_links, self.pagination.links().value()); },
      "Links to the neighbours as received; they are never followed.");
  type.def_property_readonly(
      "response_info", [](const AnyPage& self) { return response_info(self.pagination.response_info()); },
      "ResponseInfo of the answer this page came with.");
  type.def("__repr__",
           [](const AnyPage& self) { return "<billcore.Page items=" + std::to_string(self.items.size()) + '>'; });
}

void bind_iterations(py::module_& module) {
  const auto itself = [](py::object self) { return self; };
  iteration<ItemIteration>(module, "ItemIterator",
                           "Items of a list; dropped before the end, the reading counts as stopped.")
      .def("__iter__", itself)
      .def("__next__", &next_item);
  iteration<PageIteration>(module, "PageIterator",
                           "Pages of a list; dropped before the end, the reading counts as stopped.")
      .def("__iter__", itself)
      .def("__next__", [](const PageIteration& self) { return read<NextPage>(self.list, "Pager.__next__"); });
  iteration<AsyncItemIteration>(module, "AsyncItemIterator",
                                "Items of a list; dropped before the end, the reading counts as stopped.")
      .def("__aiter__", itself)
      .def("__anext__", [](const py::object& self) {
        return read<NextItem>(held<AsyncItemIteration>(self.ptr()).list, "AsyncPager.__anext__", self);
      });
  iteration<AsyncPageIteration>(module, "AsyncPageIterator",
                                "Pages of a list; dropped before the end, the reading counts as stopped.")
      .def("__aiter__", itself)
      .def("__anext__", [](const py::object& self) {
        return read<NextPage>(held<AsyncPageIteration>(self.ptr()).list, "AsyncPager.__anext__", self);
      });
}

static const Signature to_batches("to_batches(self, fields=None)");

template <typename Type, typename Pages>
void bind_reading(py::class_<Type>& type) {
  type.attr("__module__") = "billcore";
  make_generic(type);
  refuse_copies(type, "it belongs to a client, which holds an API key");
  static const Signature pages("pages(self)");
  type.def(
      "pages", [](const Type& self) { return Pages(self.list); },
      pages.doc("Iterate for pages (first what is left of a page already begun).").c_str());
  type.def(
      "to_batches",
      [](const Type& self, const py::args& args, const py::kwargs& kwargs) {
        return make_batches(self.list, to_batches.bind(args, kwargs)[0]);
      },
      to_batches
          .doc("Iterate for ArrowBatch, the records of a page as columns.\n\n"
               "fields: columns by name, in this order; left out, all fields. 'raw' is whole items as JSON text.")
          .c_str());
  static const Signature first("first(self)");
  type.def(
      "first", [](const Type& self) { return read<FirstItem>(self.list, "Pager.first"); },
      first.doc("The list's first item, or None, without moving on: one request at most.").c_str());
  static const Signature collect_signature("collect(self, limit=None)");
  type.def(
      "collect",
      [](const Type& self, const py::args& args, const py::kwargs& kwargs) {
        return collect(self, collect_signature.bind(args, kwargs)[0]);
      },
      collect_signature.doc("All (remaining) items, at most `limit`; when it raises it takes none of them.").c_str());
  type.def_property_readonly(
      "total", [](const Type& self) { return Use(self.list)->pager.total(); },
      "The service's count of the whole list; None before the first page.");
  type.def_property_readonly(
      "state", [](const Type& self) { return Use(self.list)->pager.state(); },
      "Where it stands: the same list with this as `resume` goes on from here, also in a later process.\n\n"
      "A short str without secrets. It remembers the ids of two pages.");
  type.def_property_readonly(
      "fetched_pages", [](const Type& self) { return Use(self.list)->pager.fetched_pages(); },
      "How many pages were read.");
  type.def_property_readonly(
      "verdict", [](const Type& self) { return Use(self.list)->pager.verdict(); },
      "None until the last page has been read or the reading was stopped, then a Verdict.");
  const std::string name = py::str(type.attr("__name__"));
  type.def("__repr__", [name](const Type& /*self*/) { return "<billcore." + name + '>'; });
}

}  // namespace

ListPtr::ListPtr(std::unique_ptr<List> list) {
  auto* const object = PyObject_GC_New(ListObject, list_type);
  if (object == nullptr) throw py::error_already_set();
  object->own = list.release();
  PyObject_GC_Track(object);
  object_ = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

List* ListPtr::get() const noexcept { return object_ ? reinterpret_cast<ListObject*>(object_.ptr())->own : nullptr; }

py::object make_pager(const Sender& sender, View type, ListOperation list, const detail::PagerOptions& pager,
                      CallOptions options) {
  internal::require_open(sender.client);
  ListPtr made(std::make_unique<List>(sender, type, std::move(list), pager, std::move(options)));
  if (sender.is_awaited()) return py::cast(AsyncPager{{std::move(made)}});
  return py::cast(SyncPager{{std::move(made)}});
}

void bind_pager(py::module_& module) {
  bind_list(module);
  bind_verdict(module);
  bind_page(module);
  bind_iterations(module);
  bind_arrow(module);

#define BILLCORE_PAGER_RULES                                                                      \
  "a page is asked for when its first item is. An id already seen within the last pages is not\n" \
  "yielded again. Items keep their page alive. After an error the next step asks for the same page again.\n"
  auto type =
      py::class_<SyncPager>(module, "Pager", py::is_final(), collected<SyncPager>(),
                            "A list of the service: lazy, in order, read once.\n\n"
                            "Iterate for items; " BILLCORE_PAGER_RULES
                            "Threads: one at a time. Service interface: Resources and their fields, Pagination.");
  type.def("__iter__", [](const SyncPager& self) { return ItemIteration(self.list); });
  bind_reading<SyncPager, PageIteration>(type);
  static const Signature to_arrow("to_arrow(self, fields=None)");
  type.def(
      "to_arrow",
      [](const SyncPager& self, const py::args& args, const py::kwargs& kwargs) {
        return make_arrow_stream(self.list, to_arrow.bind(args, kwargs)[0]);
      },
      to_arrow
          .doc("The rest of the list as columns: an ArrowStream, which polars, duckdb, pyarrow and pandas read.\n\n"
               "fields: columns by name, in this order; left out, all fields. 'raw' is whole items as JSON text.")
          .c_str());

  auto awaited =
      py::class_<AsyncPager>(module, "AsyncPager", py::is_final(), collected<AsyncPager>(),
                             "A list of the service for asyncio: lazy, in order, read once.\n\n"
                             "Iterate (async for) for items; " BILLCORE_PAGER_RULES
                             "Tasks: one at a time. Service interface: Resources and their fields, Pagination.");
  awaited.def("__aiter__", [](const AsyncPager& self) { return AsyncItemIteration(self.list); });
  bind_reading<AsyncPager, AsyncPageIteration>(awaited);
}

}  // namespace billcore::python
