#include "webhook/money.hpp"

#include <array>
#include <utility>

namespace billcore::python {
namespace {

// ISO 4217: the currencies by their number of decimals. The codes, of three letters each, are written without
// separators.
constexpr std::array<std::pair<std::size_t, std::string_view>, 4> by_decimals{{
    {2,
     "AEDAFNALLAMDAOAARSAUDAWGAZNBAMBBDBDTBGNBMDBNDBOBBOVBRLBSDBTNBWPBYNBZDCADCDFCHECHFCHWCNYCOPCOUCRCCUPCVECZKDKKDOPDZ"
     "D"
     "EGPERNETBEURFJDFKPGBPGELGHSGIPGMDGTQGYDHKDHNLHTGHUFIDRILSINRIRRJMDKESKGSKHRKPWKYDKZTLAKLBPLKRLRDLSLMADMDLMGAMKDMM"
     "K"
     "MNTMOPMRUMURMVRMWKMXNMXVMYRMZNNADNGNNIONOKNPRNZDPABPENPGKPHPPKRPLNQARRONRSDRUBSARSBDSCRSDGSEKSGDSHPSLESOSSRDSSPST"
     "N"
     "SVCSYPSZLTHBTJSTMTTOPTRYTTDTWDTZSUAHUSDUSNUYUUZSVEDVESWSTXCDXCGYERZARZMWZWG"},
    {0, "BIFCLPDJFGNFISKJPYKMFKRWPYGRWFUGXUYIVNDVUVXAFXOFXPF"},
    {3, "BHDIQDJODKWDLYDOMRTND"},
    {4, "CLFUYW"},
}};

std::size_t decimals_of(std::string_view currency) noexcept {
  for (const auto& [decimals, codes] : by_decimals) {
    for (std::size_t at = 0; at < codes.size(); at += 3) {
      if (codes.substr(at, 3) == currency) return decimals;
    }
  }
  return 0;
}

}  // namespace

std::string amount_text(std::int64_t amount, std::string_view currency) {
  auto out = std::to_string(amount);
  const std::size_t sign = amount < 0 ? 1 : 0;
  if (const auto decimals = decimals_of(currency); decimals > 0) {
    if (out.size() <= sign + decimals) out.insert(sign, sign + decimals + 1 - out.size(), '0');
    out.insert(out.size() - decimals, 1, '.');
  }
  return out.append(" ").append(currency);
}

}  // namespace billcore::python
