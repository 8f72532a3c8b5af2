// The headers of every request: the API key, User-Agent, Accept and those of the option `headers`. Internal.
#pragma once

#include <memory>

#include "billcore/options.hpp"
#include "http/request.hpp"

namespace billcore::detail {

/// Throws Error(config) if `headers` or `request_id_header` is not valid.
void check_headers(const ClientOptions& options);
[[nodiscard]] std::shared_ptr<const RequestHeaders> request_headers(const ClientOptions& options);

}  // namespace billcore::detail
