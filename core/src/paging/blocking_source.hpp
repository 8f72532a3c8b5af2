// Page source for blocking calls. Internal.
#pragma once

#include <memory>
#include <optional>

#include "paging/page_fetcher.hpp"
#include "paging/page_source.hpp"

namespace billcore::detail {

/// Threads: one at a time. Leases an engine while pages are in flight; a forked child leaks the leased engine without
/// using it.
class BlockingSource final : public PageSource {
 public:
  BlockingSource(SessionPtr session, ListOperation list, CallOptions options);
  ~BlockingSource() override;
  BlockingSource(const BlockingSource&) = delete;
  BlockingSource& operator=(const BlockingSource&) = delete;

  [[nodiscard]] std::shared_ptr<const Document> fetch(const Wanted& wanted) override;
  void ahead(const Wanted& wanted) override;
  void tend() noexcept override;
  void stop() noexcept override;

  [[nodiscard]] const SessionPtr& session() const noexcept { return session_; }
  [[nodiscard]] const ListOperation& list() const noexcept { return list_; }
  [[nodiscard]] const CallOptions& options() const noexcept { return options_; }

 private:
  struct Leased;
  [[nodiscard]] PageFetcher& fetcher(const Wanted& wanted, const Deadline& until);
  [[nodiscard]] bool may_keep_engine() const;
  void leave_behind() noexcept;
  void move_on();

  SessionPtr session_;
  ListOperation list_;
  CallOptions options_;
  std::unique_ptr<Leased> leased_;
};

}  // namespace billcore::detail
