#include "webhook/money.hpp"

#include <array>
#include <utility>

namespace billcore::python {
namespace {

// The currency codes of ISO 4217, grouped by the number of decimals.
constexpr std::array<std::pair<std::size_t, std::string_view>, 4> by_decimals{{
    {2,
     "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF "
     "CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ "
     "GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD "
     "MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON "
     "RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS "
     "UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"},
    {0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"},
    {3, "BHD IQD JOD KWD LYD OMR TND"},
    {4, "CLF UYW"},
}};

std::size_t decimals_of(std::string_view currency) noexcept {
  for (const auto& [decimals, codes] : by_decimals) {
    for (std::size_t at = 0; at < codes.size(); at += 4) {
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
