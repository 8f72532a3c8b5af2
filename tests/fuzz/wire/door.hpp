// The listening socket that all peers of the process share, and functions that wait until sent bytes reach the client.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace billcore::fuzz {

struct Accepted {
  int descriptor = -1;
  int port = 0;  // port number of the client's end
};

/// The port on loopback that the peers listen on.
[[nodiscard]] int door_port();
/// Accepts a pending connection, if any, without blocking.
[[nodiscard]] std::optional<Accepted> accept_at_door();
/// Waits, in real time, until the client's socket has received `sent` bytes, so that the client finds them at its
/// next read.
void await_arrival(int port, std::uint64_t sent);
/// Waits, in real time, until the client's socket has received the end of the stream.
void await_end(int port);
/// Closes a connection. reset: always sends RST; otherwise the kernel sends FIN, or RST if received bytes are unread.
void close_connection(int descriptor, int port, bool reset);
/// Returns the number after `mark` in the text; 0 when there is none.
[[nodiscard]] int number_behind(std::string_view text, std::string_view mark);

}  // namespace billcore::fuzz
