#include "billcore/pager.hpp"

#include "paging/page_flow.hpp"

namespace billcore {

bool AnyPager::buffered() const noexcept { return flow_->core().buffered(); }
std::optional<std::int64_t> AnyPager::total() const noexcept { return flow_->core().total(); }
std::int64_t AnyPager::fetched_pages() const noexcept { return flow_->core().fetched_pages(); }
std::optional<Verdict> AnyPager::verdict() const noexcept { return flow_->core().verdict(); }
std::string AnyPager::state() const { return flow_->core().state(); }
void AnyPager::stop() noexcept { flow_->stop(); }

std::optional<Value> AnyPager::next_value() { return flow_->next_item(); }
std::optional<detail::PageData> AnyPager::next_data() { return flow_->next_page(); }
std::optional<Value> AnyPager::first_value() { return flow_->first_item(); }

std::shared_ptr<const detail::PagerCore> AnyPager::snapshot() const {
  return std::make_shared<detail::PagerCore>(flow_->core());
}
void AnyPager::restore(const detail::PagerCore& snapshot) { flow_->core() = snapshot; }

}  // namespace billcore
