#include "arrow/columns.hpp"

#include <string>
#include <utility>

#include "arrow/tables.hpp"
#include "shared/arguments.hpp"

namespace billcore::python {
namespace {

ArrowConstant constant(py::handle name, py::handle value) {
  std::string key(utf8(name, "a name in constants"));
  if (PyUnicode_Check(value.ptr())) {
    std::string text(utf8(value, key.c_str()));
    return {std::move(key), std::move(text)};
  }
  if (PyBool_Check(value.ptr())) return {std::move(key), value.ptr() == Py_True};
  if (PyIndex_Check(value.ptr()) == 0) refuse(key + " must be a str, an int or a bool, not " + type_name(value));
  const auto number = integer(value, key.c_str());
  return {std::move(key), number};
}

}  // namespace

std::vector<ArrowConstant> constants_of(py::handle constants) {
  std::vector<ArrowConstant> out;
  if (!given(constants)) return out;
  if (PyMapping_Check(constants.ptr()) == 0 || PyObject_HasAttrString(constants.ptr(), "items") == 0) {
    refuse("constants must be a mapping of column names to values, not " + type_name(constants));
  }
  for (const auto entry : constants.attr("items")()) {
    const auto pair = py::reinterpret_borrow<py::sequence>(entry);
    out.push_back(constant(py::object(pair[0]), py::object(pair[1])));
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
