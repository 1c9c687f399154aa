// The lines of a ledger held against each other: every record in its place, sealed, chained to the one before, and
// within the budget.
#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/ledger.hpp"
#include "io/ledger_text.hpp"

namespace hearsay::io {
namespace {

void require_rule(bool rule_holds, std::string_view what) {
  if (!rule_holds) throw DataError(std::string(what));
}

// A write that was cut off has no end of line. Who writes next says on the same line what that was.
LedgerRecord record_on(std::string_view line) {
  const std::size_t at = start_of_last_record(line);
  LedgerRecord record = parse_record(line.substr(at));
  const bool torn = record.kind == LedgerRecord::Kind::torn;
  require_rule(torn || at == 0, "something stands before its record");
  require_rule(!torn || at > 0, "it speaks of a torn line, and there is none");
  if (!torn) return record;
  require_rule(record.bytes == static_cast<std::int64_t>(at) && record.digest == sha256_hex(line.substr(0, at)),
               "the torn line before its record is not the one that it speaks of");
  require_rule(record.mu == torn_amount(line.substr(0, at)), "it does not count the torn line for what it is");
  return record;
}

void require_release_of_spend(const LedgerRecord& release, const std::vector<LedgerRecord>& records) {
  const bool there = release.of >= 1 && release.of <= static_cast<std::int64_t>(records.size()) &&
                     records[static_cast<std::size_t>(release.of - 1)].kind == LedgerRecord::Kind::spend;
  require_rule(there, fmt::format("it is a release of record {}, which spent nothing", release.of));
  for (const LedgerRecord& other : records)
    require_rule(other.kind != LedgerRecord::Kind::release || other.of != release.of,
                 fmt::format("it is a second release of record {}", release.of));
}

class Reading {
 public:
  explicit Reading(LedgerHeading heading) : account_(heading.budget.mu) {
    contents_.id = heading.id, contents_.budget = heading.budget, contents_.begun = heading.begun;
    contents_.head = heading.sha256;
  }

  void add(LedgerRecord record) {
    const auto next = static_cast<std::int64_t>(contents_.records.size()) + 1;
    require_rule(record.number == next, fmt::format("it is record {} where {} belongs", record.number, next));
    require_rule(record.before == contents_.head, "it does not follow the record before: its chain is broken");
    if (record.kind == LedgerRecord::Kind::release) require_release_of_spend(record, contents_.records);
    require_rule(record.kind != LedgerRecord::Kind::spend || account_.fits(record.mu), "it spends more than there is");
    account_.spend(record.mu);
    contents_.head = record.sha256;
    contents_.records.push_back(std::move(record));
  }

  LedgerContents end(std::string_view torn) {
    contents_.torn = torn;
    contents_.torn_mu = torn_amount(torn);
    account_.spend(contents_.torn_mu);
    contents_.spent_mu = account_.spent();
    contents_.left_mu = account_.left();
    return std::move(contents_);
  }

 private:
  LedgerContents contents_;
  MuLedger account_;
};

}  // namespace

LedgerContents parse_ledger(std::string_view bytes, const std::string& name) {
  std::int64_t number = 1;
  try {
    std::size_t end = bytes.find('\n');
    require_rule(end != bytes.npos, "it has no end: this is no ledger, or a damaged one");
    Reading reading(parse_heading(bytes.substr(0, end)));
    for (;;) {
      ++number;
      bytes.remove_prefix(end + 1);
      end = bytes.find('\n');
      if (end == bytes.npos) return reading.end(bytes);
      reading.add(record_on(bytes.substr(0, end)));
    }
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}:{}: the ledger is damaged: {}", name, number, error.what()));
  }
}

bool holds_seal(const LedgerContents& contents, std::string_view sha256) {
  return contents.head == sha256 || std::any_of(contents.records.begin(), contents.records.end(),
                                                [&](const auto& record) { return record.before == sha256; });
}

}  // namespace hearsay::io
