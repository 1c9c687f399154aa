// Spends from a ledger as a command does: begins it where there is none, pays, says so, and tells what was released.
//   hearsay_spend LEDGER
#include <unistd.h>

#include <hearsay/error.hpp>
#include <hearsay/io/ledger.hpp>
#include <new>
#include <string>
#include <string_view>

namespace {

using namespace hearsay;

bool tell(int file, std::string_view text) {
  return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void spend(const std::string& path) {
  const io::LedgerStamp stamp{.when = 1794916800, .version = "1"};
  const io::LedgerBudget budget{.data = "d", .neighbours = "add-remove", .epsilon = 4, .delta = 1e-6, .mu = 1};
  io::Ledger ledger = ::access(path.c_str(), F_OK) == 0 ? io::Ledger(path) : io::Ledger::begin(path, budget, stamp);
  const io::LedgerReceipt receipt =
      ledger.reserve({.mu = 0.25, .neighbours = "add-remove", .query = "q", .stamp = stamp});
  if (!tell(STDOUT_FILENO, "granted\n")) throw Error("standard output: cannot be written to");
  ledger.released(receipt, std::string(64, 'a'), stamp);
}

}  // namespace

int main(int, char** argv) try {
  spend(argv[1]);
  return 0;
} catch (const Error& error) {
  tell(STDERR_FILENO, std::string(error.what()) + "\n");
  return 2;
} catch (const std::bad_alloc&) {
  tell(STDERR_FILENO, "memory\n");
  return 1;
}
