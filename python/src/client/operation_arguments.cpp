#include "client/operation_arguments.hpp"

namespace billcore::python {
namespace {

std::string state_of(py::handle value) {
  const auto state = utf8(value, "state");
  if (state.find(',') != std::string_view::npos) {
    refuse("state has a comma in it: pass several states as a sequence, state=[\"paid\", \"confirmed\"]");
  }
  return std::string(state);
}

}  // namespace

Id id_of(py::handle value) {
  if (PyUnicode_Check(value.ptr())) return Id(utf8(value, "id"));
  if (PyBool_Check(value.ptr()) || PyIndex_Check(value.ptr()) == 0) {
    refuse("id must be a str or an int, not " + type_name(value));
  }
  return Id::from_digits(digits(value, "id"));
}

std::optional<std::int64_t> optional_integer(py::handle value, const char* name) {
  if (!given(value)) return std::nullopt;
  return integer(value, name);
}

std::optional<std::string> optional_text(py::handle value, const char* name) {
  if (!given(value)) return std::nullopt;
  return std::string(utf8(value, name));
}

detail::PagerOptions pager_options(py::handle page, py::handle strict, py::handle resume) {
  detail::PagerOptions options;
  if (!left_out(page)) options.first_page = integer(page, "page");
  if (!left_out(strict)) options.strict = boolean(strict, "strict");
  if (given(resume)) options.resume = utf8(resume, "resume");
  return options;
}

std::vector<std::string> states_of(py::handle value) {
  if (!given(value)) return {};
  if (PyUnicode_Check(value.ptr())) return {state_of(value)};
  if (PySequence_Check(value.ptr()) == 0) refuse("state must be a str or a sequence of them, not " + type_name(value));
  std::vector<std::string> out;
  for (const auto state : value) out.push_back(state_of(state));
  // Refuse an empty sequence: a program that computes an empty list of states would otherwise get all orders.
  if (out.empty()) refuse("state is an empty sequence: leave it out for orders in every state");
  return out;
}

}  // namespace billcore::python
