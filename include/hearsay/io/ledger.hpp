// What has been spent of a privacy budget: one file a data set and site, written before a row is read. Lines of JSON
// that are only ever added to, each with its SHA-256 and that of the one before (docs/reference/ledger.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/export.hpp"

namespace hearsay::io {

/// Stated once, when a ledger is begun. Gaussian releases compose exactly in mu: of those in a ledger the sum of mu^2
/// stays at most that of the budget. What mu an (epsilon, delta) has is for the caller to know: here both are numbers.
struct LedgerBudget {
  std::string data;               ///< whose rows: a name that the data's keeper gives, not empty
  std::string site = {};          ///< and where
  std::string neighbours = {};    ///< which data sets must look alike: "add-remove" or "replace"; not empty
  double epsilon = 0, delta = 0;  ///< as promised
  double mu = 0;                  ///< the same in mu, in [1e-9, 1e9]
};

/// By which program, and when: below the doors nobody looks at a clock.
struct LedgerStamp {
  std::int64_t when = 0;  ///< in seconds since 1970
  std::string version = {};
};

/// A query that is about to read rows.
struct Spending {
  double mu = 0;                ///< of all that it will release, in [1e-9, 1e9]
  double epsilon = 0;           ///< what that is at the ledger's delta, for people; not added up
  std::string neighbours = {};  ///< must be the ledger's
  std::string query = {};       ///< on what: "the 5 largest components, row norm 10"
  std::string command = {};     ///< the line that asked for it
  LedgerStamp stamp = {};
};

struct LedgerRecord {
  enum class Kind {
    spend,    ///< a query was about to read rows
    release,  ///< what it released has this digest
    torn      ///< a line before it has no end: a write that was cut off
  };
  std::int64_t number = 0;  ///< 1, 2, 3 ...; the budget is record 0
  Kind kind = Kind::spend;
  double mu = 0;       ///< what it costs
  double epsilon = 0;  ///< of a spend
  std::string query = {}, command = {};
  std::int64_t of = 0;      ///< of a release: the number of its spend
  std::string digest = {};  ///< of a release: SHA-256 of what left; of a torn line: of its bytes
  std::int64_t bytes = 0;   ///< of a torn line
  LedgerStamp stamp = {};
  std::string before = {}, sha256 = {};  ///< the seals of the record before, and of this one
};

/// All that a ledger says, held against its own rules.
struct LedgerContents {
  std::string id = {};  ///< random: tells two ledgers of the same budget apart
  LedgerBudget budget = {};
  LedgerStamp begun = {};
  std::vector<LedgerRecord> records = {};
  std::string torn = {};  ///< what follows the last whole line
  double torn_mu = 0;     ///< what that counts
  double spent_mu = 0;    ///< root of the sum of mu^2, the torn end's too
  double left_mu = 0;     ///< the largest that would be granted
  std::string head = {};  ///< the seal of the last record
};

/// What proves that a query was paid for. To be kept with what it released.
struct LedgerReceipt {
  std::string ledger = {};  ///< its id
  std::int64_t record = 0;
  std::string sha256 = {};
};

/// Throws DataError, with the line, for bytes that are no ledger, or a damaged, reordered or carelessly forged one. Who
/// can write the file can forge a whole one: what was written down elsewhere (a receipt's seal) tells.
HEARSAY_API LedgerContents parse_ledger(std::string_view bytes, const std::string& name);

/// The bytes of a ledger, between two records; of one that nobody may write to too. Throws as Ledger's constructor
/// does.
HEARSAY_API std::string ledger_bytes(const std::filesystem::path& path);

/// Both of it.
HEARSAY_API LedgerContents read_ledger(const std::filesystem::path& path);

/// Whether the ledger holds a record with this seal, or the budget's own has it.
HEARSAY_API bool holds_seal(const LedgerContents& contents, std::string_view sha256);

/// A ledger to spend from. Several processes and threads may have the same one open, each with an object of its own: a
/// record is decided on and written under a lock on the file.
class HEARSAY_API Ledger {
 public:
  /// How long to wait for another process that is writing a record.
  static constexpr std::chrono::milliseconds patience{10'000};

  /// The epsilon of a mu at a delta, to word refusals with.
  using EpsilonOf = std::function<double(double mu, double delta)>;

  /// Opens one that is there. Throws InvalidArgument where it is not, or cannot be written to, and DataError as
  /// parse_ledger does, for a symbolic link, and for what is no regular file.
  explicit Ledger(std::filesystem::path path, std::chrono::milliseconds wait = patience);

  /// Begins one where nothing has that name; it appears whole. Throws InvalidArgument where something has.
  static Ledger begin(const std::filesystem::path& path, const LedgerBudget& budget, const LedgerStamp& stamp);

  Ledger(Ledger&& other) noexcept;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  /// As of the last call.
  const LedgerContents& contents() const { return contents_; }

  /// Throws InvalidArgument unless the ledger is of this data, site and kind of neighbours.
  void require_of(const LedgerBudget& asked) const;

  /// To be called before a row is read: the query is paid for, and on the disk, when this returns. Throws
  /// InvalidArgument where it would exceed the budget (spent, asked and left are named) or has other neighbours; Error
  /// where it cannot be written. After a throw the query must not begin.
  LedgerReceipt reserve(const Spending& spending, const EpsilonOf& epsilon_of = {});

  /// To be called before anything is sent, with the SHA-256 of what is released (for noise that is drawn once: of the
  /// matrix with its noise). A run that goes on calls it again with what it kept: the same digest passes and costs
  /// nothing; another one is a second draw, and is refused.
  void released(const LedgerReceipt& receipt, std::string_view digest, const LedgerStamp& stamp);

 private:
  class Held;

  void refresh();
  void append(const std::vector<LedgerRecord>& records);
  std::vector<LedgerRecord> with_torn_end(LedgerRecord record) const;

  std::filesystem::path path_;
  std::chrono::milliseconds wait_;
  int descriptor_ = -1;
  std::string bytes_;  // as last read
  LedgerContents contents_;
};

}  // namespace hearsay::io
