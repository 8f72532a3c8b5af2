#include "arrow/columns.hpp"

#include <string>
#include <utility>

#include "shared/arguments.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

/// `with_times`: whether None (a time that is null) and a datetime are allowed too.
ArrowScalar scalar(const std::string& name, py::handle value, bool with_times) {
  if (PyUnicode_Check(value.ptr())) return std::string(utf8(value, name.c_str()));
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (with_times && value.is_none()) return std::optional<Instant>();
  if (with_times && is_datetime(value)) return std::optional(to_instant(value, name.c_str()));
  if (PyIndex_Check(value.ptr()) == 0) refuse(name + " must be a str, an int or a bool, not " + type_name(value));
  return integer(value, name.c_str());
}

}  // namespace

std::vector<ArrowConstant> constants_of(py::handle constants) {
  std::vector<ArrowConstant> out;
  if (!given(constants)) return out;
  for (const auto entry : members_of(constants, "constants must be a mapping of column names to values")) {
    const auto [key, content] = py::cast<std::pair<py::object, py::object>>(entry);
    std::string name(utf8(key, "a name in constants"));
    auto value = scalar(name, content, false);
    out.push_back({std::move(name), std::move(value)});
  }
  return out;
}

std::vector<std::vector<ArrowScalar>> scalars_of(const std::vector<std::string>& names, const py::list& rows) {
  if (rows.empty()) refuse("there are no rows");
  std::vector<std::vector<ArrowScalar>> out;
  for (const auto row : rows) {
    const auto values = py::reinterpret_borrow<py::sequence>(row);
    out.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) {
      out.back().push_back(scalar(names[i], py::object(values[i]), true));
    }
  }
  return out;
}

ColumnsPtr columns_of(const List& list, py::handle fields, py::handle constants) {
  ArrowFields names;
  if (given(fields)) {
    if (PyUnicode_Check(fields.ptr()) || !py::isinstance<py::iterable>(fields)) {
      refuse("fields must be a list of names, or None for all, not " + type_name(fields));
    }
    names.emplace();
    for (const auto name : fields) names->emplace_back(utf8(name, "a name in fields"));
  }
  return detail::choose_columns(table_of(list.type), names, constants_of(constants));
}

}  // namespace billcore::python
