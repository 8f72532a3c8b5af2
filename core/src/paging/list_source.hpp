// The pages of a list for whoever waits for them: some on their way ahead of their time, over one engine. Internal.
#pragma once

#include <memory>
#include <optional>

#include "paging/list_reader.hpp"
#include "paging/pager_core.hpp"

namespace billcore::detail {

/// Threads: one at a time. It leases an engine while pages are on their way, and leaves it behind in the child of a fork.
class ListSource final : public PageSource {
 public:
  ListSource(SessionPtr session, ListOperation list, CallOptions options);
  ~ListSource() override;
  ListSource(const ListSource&) = delete;
  ListSource& operator=(const ListSource&) = delete;

  [[nodiscard]] std::shared_ptr<const Document> fetch(const Wanted& wanted) override;
  void ahead(const Wanted& wanted) override;
  void tend() noexcept override;
  void stop() noexcept override;

 private:
  struct Line;
  [[nodiscard]] ListReader& reader();
  void leave_behind() noexcept;
  void move_on();

  SessionPtr session_;
  ListOperation list_;
  CallOptions options_;
  std::unique_ptr<Line> line_;
};

}  // namespace billcore::detail
