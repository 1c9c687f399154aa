// What private runs have in common: which options they take, the budget, the ledger that it is spent in, and messages
// that quote no data.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/ledger.hpp"
#include "hearsay/private_pca.hpp"
#include "reports/private_report.hpp"

namespace hearsay::app {

/// The texts before and after the first comma.
std::optional<std::pair<std::string, std::string>> split_at_comma(const std::string& text);

/// Of --dp, or --budget.
PrivacyBudget budget_of(const Job& job, std::string_view option);

PrivacySettings privacy_of(const Job& job);
void take_mean(const Job& job, PrivacySettings& settings);

/// Throws InvalidArgument for an option that is not among these: somebody would have to say what it tells of the rows.
void check_private_options(const Job& job, std::span<const std::string_view> taken);

io::LedgerStamp stamp_now();

/// The ledger that belongs to a file: beside it, and beside what a symbolic link leads to, so that two names of one
/// file have one budget.
std::filesystem::path ledger_beside(const std::filesystem::path& file);
/// And what a ledger calls its rows: the name of that file.
std::string data_name(const std::filesystem::path& file);

/// Throws InvalidArgument where two agents have the same file: its rows would count twice.
void require_distinct(const std::vector<std::filesystem::path>& files);

/// Throws InvalidArgument for a ledger that is an input, or is written over.
void check_ledger_place(const Job& job, const std::filesystem::path& path);

/// Begun where it is not there yet.
io::Ledger open_ledger(const Job& job, const std::filesystem::path& path, const std::string& data,
                       const PrivacySettings& settings);

/// When it returns the budget is spent, on the disk, whatever happens next.
LedgerFacts spend(const Job& job, io::Ledger& ledger, const std::filesystem::path& path,
                  const PrivacySettings& settings);

/// The system's, or those of --insecure-seed.
SecretWords words_of(const Job& job, std::uint64_t agent);

/// The first line of a table is its header where not all of it are numbers. Where some are, it may be somebody's row.
std::vector<std::string> public_names(std::vector<std::string> names);

/// Readers quote what they cannot read, with its place: none of it is passed on.
template <class Read>
auto quietly(const Job& job, const Read& read) try {
  return read();
} catch (const Error&) {
  throw DataError(
      fmt::format("{}: cannot be read as a table of finite numbers with these options, or not within the "
                  "memory there is; where data are private nothing is said of where. The budget is spent "
                  "all the same",
                  job.input));
}

}  // namespace hearsay::app
