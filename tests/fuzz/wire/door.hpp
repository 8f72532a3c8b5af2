// The listening socket that all peers of the process share, and the waits for the kernel between peer and client.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace billcore::fuzz {

struct Accepted {
  int descriptor = -1;
  int port = 0;  // port of the client
};

/// The port on loopback.
[[nodiscard]] int door_port();
/// A pending connection, accepted without blocking.
[[nodiscard]] std::optional<Accepted> accept_at_door();
/// Waits, in real time, until everything that was sent has arrived, so that the client finds it when it next reads.
void await_arrival(int port, std::uint64_t sent);
/// The same for the end of the stream.
void await_end(int port);
/// Closes a connection; reset: with a reset, even when everything was read.
void close_connection(int descriptor, int port, bool reset);
/// The number after `mark` in the text; 0 when there is none.
[[nodiscard]] int number_behind(std::string_view text, std::string_view mark);

}  // namespace billcore::fuzz
