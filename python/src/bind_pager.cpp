// Lists: Pager, its iterators, Page, Verdict.
#include <pybind11/stl.h>

#include <atomic>
#include <memory>
#include <optional>

#include "bind_client.hpp"

namespace billcore::python {
namespace {

/// A page apart from the type of its items.
struct AnyPage {
  View type;
  std::vector<Value> items;
  Pagination pagination;
};

/// A Pager<T> apart from its T.
class AnyPager {
 public:
  AnyPager() = default;
  virtual ~AnyPager() = default;
  AnyPager(const AnyPager&) = delete;
  AnyPager& operator=(const AnyPager&) = delete;
  [[nodiscard]] virtual View type() const noexcept = 0;
  [[nodiscard]] virtual bool buffered() const noexcept = 0;
  [[nodiscard]] virtual std::optional<Value> next() = 0;
  [[nodiscard]] virtual std::optional<Value> first() = 0;
  [[nodiscard]] virtual std::optional<AnyPage> next_page() = 0;
  [[nodiscard]] virtual std::optional<std::int64_t> total() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t fetched_pages() const noexcept = 0;
  [[nodiscard]] virtual std::optional<Verdict> verdict() const noexcept = 0;
  virtual void stop() noexcept = 0;
};

template <typename T, View kind>
class PagerOf final : public AnyPager {
 public:
  explicit PagerOf(Pager<T> pager) : pager_(std::move(pager)) {}
  [[nodiscard]] View type() const noexcept override { return kind; }
  [[nodiscard]] bool buffered() const noexcept override { return pager_.buffered(); }
  [[nodiscard]] std::optional<Value> next() override { return value_of(pager_.next()); }
  [[nodiscard]] std::optional<Value> first() override { return value_of(pager_.first()); }
  [[nodiscard]] std::optional<AnyPage> next_page() override {
    const auto page = pager_.next_page();
    if (!page) return std::nullopt;
    AnyPage out{kind, {}, page->pagination()};
    for (const auto& item : page->items()) out.items.push_back(item.value());
    return out;
  }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept override { return pager_.total(); }
  [[nodiscard]] std::int64_t fetched_pages() const noexcept override { return pager_.fetched_pages(); }
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept override { return pager_.verdict(); }
  void stop() noexcept override { pager_.stop(); }

 private:
  static std::optional<Value> value_of(std::optional<T> item) {
    if (!item) return std::nullopt;
    return item->value();
  }
  Pager<T> pager_;
};

/// What the Python objects of one list share. The core's pager is for one thread at a time; while it waits for a page the GIL is
/// free, so a second thread (or a signal handler) can come in between.
class List {
 public:
  explicit List(std::unique_ptr<AnyPager> pager) : pager_(std::move(pager)) {}

  class Use {
   public:
    explicit Use(List& list) : list_(list) {
      if (list_.busy_.exchange(true)) {
        refuse("the pager is in use by another thread: one thread at a time, or a pager for each");
      }
    }
    ~Use() { list_.busy_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    AnyPager* operator->() const noexcept { return list_.pager_.get(); }

   private:
    List& list_;
  };

  /// Says that the rest is not wanted; nothing when somebody is reading on.
  void stop() noexcept {
    if (busy_.exchange(true)) return;
    pager_->stop();
    busy_ = false;
  }

 private:
  std::unique_ptr<AnyPager> pager_;
  std::atomic<bool> busy_{false};
};

using ListPtr = std::shared_ptr<List>;

struct PyPager {
  ListPtr list;
};

/// What iter() and pages() give; when it is dropped before the end, the reading counts as stopped.
struct Iteration {
  explicit Iteration(ListPtr shared) : list(std::move(shared)) {}
  Iteration(Iteration&&) noexcept = default;
  Iteration& operator=(Iteration&&) = delete;
  Iteration(const Iteration&) = delete;
  Iteration& operator=(const Iteration&) = delete;
  ~Iteration() {
    if (list != nullptr) list->stop();
  }
  ListPtr list;
};
struct Items : Iteration {
  using Iteration::Iteration;
};
struct Pages : Iteration {
  using Iteration::Iteration;
};

std::optional<Value> next_value(const List::Use& pager) {
  if (pager->buffered()) return pager->next();
  return without_gil([&] { return pager->next(); });
}

py::object next_item(Items& self) {
  const List::Use pager(*self.list);
  const auto value = next_value(pager);
  if (!value) throw py::stop_iteration();
  return view(pager->type(), *value);
}

AnyPage next_page(Pages& self) {
  const List::Use pager(*self.list);
  auto page = without_gil([&] { return pager->next_page(); });
  if (!page) throw py::stop_iteration();
  return *std::move(page);
}

py::object first(const PyPager& self) {
  const List::Use pager(*self.list);
  const auto value = without_gil([&] { return pager->first(); });
  return value ? view(pager->type(), *value) : py::object(py::none());
}

py::list collect(const PyPager& self, py::handle limit) {
  const List::Use pager(*self.list);
  const auto most = given(limit) ? size(limit, "limit") : std::numeric_limits<std::size_t>::max();
  py::list out;
  while (out.size() < most) {
    const auto value = next_value(pager);
    if (!value) return out;
    out.append(view(pager->type(), *value));
  }
  pager->stop();
  return out;
}

std::string verdict_text(const Verdict& verdict) { return verdict.complete ? "complete" : "possibly_missed"; }

void bind_verdict(py::module_& module) {
  auto type = py::class_<Verdict>(module, "Verdict", py::is_final(),
                                  "Was everything read that was there from start to end? str() is 'complete' or "
                                  "'possibly_missed'.");
  type.attr("__module__") = "billcore";
  type.def_property_readonly(
      "complete", [](const Verdict& self) { return self.complete; },
      "True when no change of the list was seen between the first and the last read.");
  type.def_property_readonly(
      "reason",
      [](const Verdict& self) { return self.complete ? py::object(py::none()) : py::str(std::string(self.reason)); },
      "Why a record may have been missed: 'total_changed', 'overlap', 'repeated_page', 'list_shrank' or 'stopped'; "
      "else None.");
  type.def("__str__", verdict_text);
  type.def("__repr__", [](const Verdict& self) {
    return "<billcore.Verdict " + verdict_text(self) + (self.complete ? "" : ": " + std::string(self.reason)) + '>';
  });
}

// Pager[Order] and Page[Order] may stand in annotations.
void make_generic(py::handle type) {
  type.attr("__class_getitem__") =
      py::reinterpret_steal<py::object>(PyClassMethod_New(reinterpret_cast<PyObject*>(&Py_GenericAliasType)));
}

void bind_page(py::module_& module) {
  auto type = py::class_<AnyPage>(module, "Page", py::is_final(),
                                  "One page of a list. Service interface: Resources and their fields, Pagination.");
  type.attr("__module__") = "billcore";
  make_generic(type);
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

template <typename Each>
void bind_iteration(py::module_& module, const char* name, const char* doc, auto next) {
  auto type = py::class_<Each>(module, name, py::is_final(), doc);
  type.attr("__module__") = "billcore";
  type.def("__iter__", [](py::object self) { return self; });
  type.def("__next__", next, py::return_value_policy::move);
}

template <typename T, View kind>
py::object any_pager(Pager<T> pager) {
  return py::cast(PyPager{std::make_shared<List>(std::make_unique<PagerOf<T, kind>>(std::move(pager)))});
}

}  // namespace

py::object make_pager(Pager<Subscription> pager) {
  return any_pager<Subscription, View::subscription>(std::move(pager));
}
py::object make_pager(Pager<Order> pager) { return any_pager<Order, View::order>(std::move(pager)); }
py::object make_pager(Pager<Product> pager) { return any_pager<Product, View::product>(std::move(pager)); }

void bind_pager(py::module_& module) {
  bind_verdict(module);
  bind_page(module);
  bind_iteration<Items>(module, "ItemIterator",
                        "Items of a list; dropped before the end, the reading counts as stopped.", &next_item);
  bind_iteration<Pages>(module, "PageIterator",
                        "Pages of a list; dropped before the end, the reading counts as stopped.", &next_page);

  auto type = py::class_<PyPager>(
      module, "Pager", py::is_final(),
      "A list of the service: lazy, in order, read once.\n\n"
      "Iterate for items; a page is asked for when its first item is. An id already seen within the last pages is not\n"
      "yielded again. Items keep their page alive. After an error the next step asks for the same page again.\n"
      "Threads: one at a time. Service interface: Resources and their fields, Pagination.");
  type.attr("__module__") = "billcore";
  make_generic(type);
  type.def("__iter__", [](const PyPager& self) { return Items(self.list); });
  static const Signature pages("pages(self)");
  type.def(
      "pages", [](const PyPager& self) { return Pages(self.list); },
      pages.doc("Iterate for pages (first what is left of a page already begun).").c_str());
  static const Signature first_signature("first(self)");
  type.def("first", &first,
           first_signature.doc("The list's first item, or None, without moving on: one request at most.").c_str());
  static const Signature collect_signature("collect(self, limit=None)");
  type.def(
      "collect",
      [](const PyPager& self, const py::args& args, const py::kwargs& kwargs) {
        return collect(self, collect_signature.bind(args, kwargs)[0]);
      },
      collect_signature.doc("All (remaining) items, at most `limit`.").c_str());
  type.def_property_readonly(
      "total", [](const PyPager& self) { return List::Use(*self.list)->total(); },
      "The service's count of the whole list; None before the first page.");
  type.def_property_readonly(
      "fetched_pages", [](const PyPager& self) { return List::Use(*self.list)->fetched_pages(); },
      "How many pages were read.");
  type.def_property_readonly(
      "verdict", [](const PyPager& self) { return List::Use(*self.list)->verdict(); },
      "None until the last page has been read or the reading was stopped, then a Verdict.");
  type.def("__repr__", [](const PyPager& /*self*/) { return "<billcore.Pager>"; });
}

}  // namespace billcore::python
