// A record of a ledger as its line, and back. What render() makes is the only form of a record: whatever else says the
// same is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearsay/io/ledger.hpp"
#include "io/exact_sum.hpp"

namespace hearsay::io {

constexpr double least_mu = 1e-9, most_mu = 1e9;
constexpr std::uint64_t longest_ledger = std::uint64_t{64} << 20;  // some hundred thousand queries
constexpr std::size_t longest_ledger_text = 4096;                  // of a query, a command; what is longer is clipped

inline bool is_mu(double mu) { return mu >= least_mu && mu <= most_mu; }

/// The record of the budget.
struct LedgerHeading {
  std::string id = {};
  LedgerBudget budget = {};
  LedgerStamp begun = {};
  std::string sha256 = {};
};

/// Both put the seal behind what they write, and into the record. Without an end of line.
std::string render(LedgerHeading& heading);
std::string render(LedgerRecord& record);

/// Both throw DataError, which says what is wrong and not where.
LedgerHeading parse_heading(std::string_view line);
LedgerRecord parse_record(std::string_view line);

/// What a line that was cut off counts: its amount, where all of it is there; else nothing.
double torn_amount(std::string_view torn);

/// The torn bytes in front of a record on a line: where the record begins.
std::size_t start_of_last_record(std::string_view line);

/// A text as the ledger keeps it: clipped, and UTF-8.
std::string kept_text(std::string_view text, std::size_t most = longest_ledger_text);

/// What may be granted beside what is spent: the largest mu with spent^2 + mu^2 <= budget^2, exactly; 0 where that is
/// too little to be asked for.
class MuLedger {
 public:
  explicit MuLedger(double budget) : budget_(budget) {}
  void spend(double mu);
  bool fits(double mu) const;
  double spent() const;
  double left() const;

 private:
  double budget_;
  ExactSum squares_;
};

}  // namespace hearsay::io
