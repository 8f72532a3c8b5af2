#include "billcore/error.hpp"

#include <utility>

namespace billcore {

Error::Error(ErrorCode code, std::string message, ErrorDetail detail)
    : state_(std::make_shared<const State>(State{code, std::move(message), std::move(detail)})) {}

}  // namespace billcore
