// The file of a ledger. A record is on the disk, with the directory that names the file, before reserve() returns; so a
// line that was cut off belongs to a query that never began. It is counted all the same where its amount can be read: a
// disk may have said too early that something was written.
#include "hearsay/io/ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"
#include "io/ledger_text.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

std::string words_of(int error) { return std::generic_category().message(error); }

[[noreturn]] void deny(const fs::path& path, std::string_view why) {
  throw InvalidArgument(fmt::format("{}: the ledger cannot be opened: {}", path.string(), why));
}

// Neither waits for a pipe nor follows a link: who keeps a ledger names it.
int open_ledger(const fs::path& path, int access) {
  const int descriptor = ::open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor >= 0) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
    ::close(descriptor);
    require_regular_file(path);
    deny(path, "it is no regular file");
  }
  const int error = errno;
  std::error_code unknown;
  if (fs::is_symlink(fs::symlink_status(path, unknown)))
    throw DataError(fmt::format("{}: is a symbolic link: a ledger is named itself", path.string()));
  if (error != ENOENT) require_regular_file(path);
  if (error == ENOENT) throw InvalidArgument(fmt::format("{}: there is no such ledger", path.string()));
  deny(path, words_of(error));
}

// Of one process at a time, for as long as it takes to write a record.
void lock(int descriptor, int how, const fs::path& path, milliseconds wait) {
  constexpr milliseconds step{5};
  for (milliseconds waited{0}; ::flock(descriptor, how | LOCK_NB) != 0; waited += step) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) throw Error(fmt::format("{}: cannot be locked: {}", path.string(), words_of(errno)));
    if (waited >= wait)
      throw Error(fmt::format("{}: another process holds the ledger, after {} ms too: nothing was spent", path.string(),
                              wait.count()));
    std::this_thread::sleep_for(step);
  }
}

std::string read_all(int descriptor, const fs::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || ::lseek(descriptor, 0, SEEK_SET) != 0)
    throw Error(fmt::format("{}: cannot be read: {}", path.string(), words_of(errno)));
  if (static_cast<std::uint64_t>(status.st_size) > longest_ledger)
    throw DataError(
        fmt::format("{}: {} bytes: a ledger has {} at most", path.string(), status.st_size, longest_ledger));
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t filled = 0; filled < bytes.size();) {
    const ssize_t count = ::read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(fmt::format("{}: cannot be read: {}", path.string(), words_of(errno)));
    if (count == 0) throw DataError(fmt::format("{}: became shorter while it was read", path.string()));
    filled += static_cast<std::size_t>(count);
  }
  return bytes;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Without its entry in the directory a synced file is lost all the same. Some file systems have no such call.
bool sync_entry(const fs::path& path) {
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return synced;
}

std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("the system gave no random numbers");
  std::string id;
  for (const unsigned char byte : bytes) fmt::format_to(std::back_inserter(id), "{:02x}", byte);
  return id;
}

LedgerStamp checked(const LedgerStamp& stamp) {
  require(stamp.when >= 0 && stamp.when < 253402300800,
          fmt::format("when = {}: must lie between the years 1970 and 9999", stamp.when));
  return {.when = stamp.when, .version = kept_text(stamp.version)};
}

void require_mu(double mu) { require(is_mu(mu), fmt::format("mu = {}: must lie in [{}, {}]", mu, least_mu, most_mu)); }

// "mu 0.1 (epsilon 0.42)"
std::string mu_text(double mu, double delta, const Ledger::EpsilonOf& epsilon_of) {
  return epsilon_of ? fmt::format("mu {:.6g} (epsilon {:.6g})", mu, mu > 0 ? epsilon_of(mu, delta) : 0.0)
                    : fmt::format("mu {:.6g}", mu);
}

}  // namespace

// The lock on a ledger, and proof that its name still stands for the file that was opened.
class Ledger::Held {
 public:
  Held(int descriptor, int how, const fs::path& path, milliseconds wait) : descriptor_(descriptor) {
    lock(descriptor, how, path, wait);
    struct stat mine {
    }, named{};
    if (::fstat(descriptor, &mine) == 0 && ::lstat(path.c_str(), &named) == 0 && mine.st_dev == named.st_dev &&
        mine.st_ino == named.st_ino)
      return;
    ::flock(descriptor, LOCK_UN);
    throw DataError(fmt::format("{}: another file took its place while it was open", path.string()));
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { ::flock(descriptor_, LOCK_UN); }

 private:
  int descriptor_;
};

Ledger::Ledger(fs::path path, milliseconds wait)
    : path_(std::move(path)), wait_(wait), descriptor_(open_ledger(path_, O_RDWR | O_APPEND)) {
  try {
    const Held held(descriptor_, LOCK_SH, path_, wait_);
    refresh();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Ledger::Ledger(Ledger&& other) noexcept
    : path_(std::move(other.path_)),
      wait_(other.wait_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(std::move(other.bytes_)),
      contents_(std::move(other.contents_)) {}

Ledger::~Ledger() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Ledger Ledger::begin(const fs::path& path, const LedgerBudget& budget, const LedgerStamp& stamp) {
  LedgerHeading heading{.id = random_id(), .budget = budget, .begun = checked(stamp)};
  heading.budget.data = kept_text(budget.data), heading.budget.site = kept_text(budget.site);
  heading.budget.neighbours = kept_text(budget.neighbours);
  require(!budget.data.empty() && !budget.neighbours.empty(), "data, neighbours: a ledger must name both");
  require_mu(budget.mu);
  require(std::isfinite(budget.epsilon) && budget.epsilon >= 0,
          fmt::format("epsilon = {}: must be a number, not negative", budget.epsilon));
  require(budget.delta >= 0 && budget.delta < 1, fmt::format("delta = {}: must lie in [0, 1)", budget.delta));
  const auto taken = [&path] {
    throw InvalidArgument(fmt::format("{}: is there already: a ledger is begun once", path.string()));
  };
  std::error_code unknown;
  if (fs::exists(fs::symlink_status(path, unknown))) taken();
  AtomicFile file(path);
  file.write(render(heading) + "\n");
  if (!file.commit_new()) taken();
  return Ledger(path);
}

// Reads what others have written; under the lock.
void Ledger::refresh() {
  std::string bytes = read_all(descriptor_, path_);
  if (!bytes.starts_with(bytes_))
    throw DataError(fmt::format("{}: was changed other than by adding to it while it was open", path_.string()));
  contents_ = parse_ledger(bytes, path_.string());
  bytes_ = std::move(bytes);
}

void Ledger::require_of(const LedgerBudget& asked) const {
  const LedgerBudget& mine = contents_.budget;
  const auto same = [this](std::string_view what, const std::string& have, const std::string& want) {
    require(have == want, fmt::format("{}: is the ledger of {} '{}', not '{}'", path_.string(), what, have, want));
  };
  same("data", mine.data, kept_text(asked.data));
  same("site", mine.site, kept_text(asked.site));
  same("neighbours", mine.neighbours, kept_text(asked.neighbours));
}

// A torn end is spoken of before anything follows.
std::vector<LedgerRecord> Ledger::with_torn_end(LedgerRecord record) const {
  std::vector<LedgerRecord> records;
  if (!contents_.torn.empty())
    records.push_back({.kind = LedgerRecord::Kind::torn,
                       .mu = contents_.torn_mu,
                       .digest = sha256_hex(contents_.torn),
                       .bytes = static_cast<std::int64_t>(contents_.torn.size()),
                       .stamp = record.stamp});
  records.push_back(std::move(record));
  return records;
}

// One write, on the disk before this returns. What could not be brought there is taken back: its query does not begin.
void Ledger::append(const std::vector<LedgerRecord>& records) {
  std::string lines, before = contents_.head;
  auto number = static_cast<std::int64_t>(contents_.records.size());
  for (LedgerRecord record : records) {
    record.number = ++number, record.before = before;
    (lines += render(record)) += '\n';
    before = record.sha256;
  }
  std::string bytes = bytes_ + lines;
  require(bytes.size() <= longest_ledger, fmt::format("{}: the ledger is full", path_.string()));
  LedgerContents contents = parse_ledger(bytes, path_.string());  // no memory is asked for after the write

  if (!write_all(descriptor_, lines) || ::fsync(descriptor_) != 0 || !sync_entry(path_)) {
    const int error = errno;
    const bool undone = ::ftruncate(descriptor_, static_cast<off_t>(bytes_.size())) == 0;
    throw Error(fmt::format("{}: cannot be written: {}: {}", path_.string(), words_of(error),
                            undone ? "nothing was spent" : "the query did not begin, but may count as spent"));
  }
  bytes_ = std::move(bytes);
  contents_ = std::move(contents);
}

LedgerReceipt Ledger::reserve(const Spending& spending, const EpsilonOf& epsilon_of) {
  require_mu(spending.mu);
  require(std::isfinite(spending.epsilon) && spending.epsilon >= 0,
          fmt::format("epsilon = {}: must be a number, not negative", spending.epsilon));
  LedgerRecord record{.kind = LedgerRecord::Kind::spend,
                      .mu = spending.mu,
                      .epsilon = spending.epsilon,
                      .query = kept_text(spending.query),
                      .command = kept_text(spending.command),
                      .stamp = checked(spending.stamp)};
  const Held held(descriptor_, LOCK_EX, path_, wait_);
  refresh();
  const LedgerBudget& budget = contents_.budget;
  require(spending.neighbours == budget.neighbours,
          fmt::format("{}: is of neighbours by {}, and the query of neighbours by {}", path_.string(),
                      budget.neighbours, spending.neighbours));
  const auto told = [&](double mu) { return mu_text(mu, budget.delta, epsilon_of); };
  require(
      spending.mu <= contents_.left_mu,
      fmt::format("{}: the budget would be exceeded: of {} at delta {:g}, {} is spent and {} left, and {} is asked for",
                  path_.string(), told(budget.mu), budget.delta, told(contents_.spent_mu), told(contents_.left_mu),
                  told(spending.mu)));
  append(with_torn_end(std::move(record)));
  const LedgerRecord& written = contents_.records.back();
  return {.ledger = contents_.id, .record = written.number, .sha256 = written.sha256};
}

void Ledger::released(const LedgerReceipt& receipt, std::string_view digest, const LedgerStamp& stamp) {
  require(digest.size() == 64 && digest.find_first_not_of("0123456789abcdef") == digest.npos,
          "digest: must be a SHA-256 in lower-case hexadecimal");
  LedgerRecord record{.kind = LedgerRecord::Kind::release,
                      .of = receipt.record,
                      .digest = std::string(digest),
                      .stamp = checked(stamp)};
  const Held held(descriptor_, LOCK_EX, path_, wait_);
  refresh();
  const auto& records = contents_.records;
  const bool mine = receipt.ledger == contents_.id && receipt.record >= 1 &&
                    receipt.record <= static_cast<std::int64_t>(records.size()) &&
                    records[static_cast<std::size_t>(receipt.record - 1)].sha256 == receipt.sha256;
  require(mine, fmt::format("{}: holds no record {} with the seal that this run was given: it is another ledger, or an "
                            "older state of this one",
                            path_.string(), receipt.record));
  for (const LedgerRecord& other : records) {
    if (other.kind != LedgerRecord::Kind::release || other.of != receipt.record) continue;
    require(other.digest == digest,
            fmt::format("{}: record {} has released something else already: what was drawn then can be sent again, and "
                        "nothing drawn anew",
                        path_.string(), receipt.record));
    return;
  }
  append(with_torn_end(std::move(record)));
}

std::string ledger_bytes(const fs::path& path) {
  struct Closing {
    int descriptor;
    ~Closing() { ::close(descriptor); }
  } const file{open_ledger(path, O_RDONLY)};
  lock(file.descriptor, LOCK_SH, path, Ledger::patience);
  return read_all(file.descriptor, path);
}

LedgerContents read_ledger(const fs::path& path) { return parse_ledger(ledger_bytes(path), path.string()); }

}  // namespace hearsay::io
