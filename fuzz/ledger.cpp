#include <hearsay/io/file.hpp>
#include <hearsay/io/ledger.hpp>

#include <cmath>
#include <string>

#include "fuzz.hpp"

// The seals are put right, as someone who forges a file would, so that what they guard is reached; the first byte says
// whether to. What is let through must be a ledger that one can count on: amounts that add up, and the same whether or
// not its last line was cut off.
namespace {

using namespace hearsay;

// Each line's seal, and the seal of the line before where it names one.
std::string resealed(std::string_view bytes) {
  constexpr std::string_view before = ",\"before\":\"", mark = ",\"sha256\":\"";
  std::string text, seal(64, '0');
  for (std::size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
    std::string line(bytes.substr(0, end));
    if (const std::size_t at = line.rfind(mark); at != line.npos) {
      line.resize(at);
      if (const std::size_t named = line.rfind(before); named != line.npos && named + before.size() + 64 <= line.size())
        line.replace(named + before.size(), 64, seal);
      const std::size_t first = line.rfind("{\"record\":");
      seal = io::sha256_hex(std::string_view(line).substr(first == line.npos ? 0 : first));
      line.append(mark).append(seal).append("\"}");
    }
    text += line + "\n";
  }
  return text.append(bytes);
}

void check_ledger(const std::string& bytes) {
  const io::LedgerContents ledger = io::parse_ledger(bytes, "fuzz");
  fuzz::check(std::isfinite(ledger.spent_mu) && ledger.spent_mu >= 0 && ledger.budget.mu > 0);
  fuzz::check(ledger.left_mu >= 0 && ledger.left_mu <= ledger.budget.mu);
  double squares = ledger.torn_mu * ledger.torn_mu;
  for (const io::LedgerRecord& record : ledger.records) squares += record.mu * record.mu;
  fuzz::check(std::abs(std::sqrt(squares) - ledger.spent_mu) <= 1e-12 * ledger.spent_mu);
  fuzz::check(io::holds_seal(ledger, ledger.head));
  const std::size_t whole = bytes.size() - ledger.torn.size();
  fuzz::check(bytes[whole - 1] == '\n');
  fuzz::check(io::parse_ledger(std::string_view(bytes).substr(0, whole), "fuzz").records.size() ==
              ledger.records.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return hearsay::fuzz::run(data, size, [](std::string_view bytes) {
    if (bytes.empty()) return;
    check_ledger(bytes[0] == 'r' ? std::string(bytes.substr(1)) : resealed(bytes.substr(1)));
  });
}
