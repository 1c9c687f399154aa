#include "io/ledger_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iterator>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"

namespace hearsay::io {
namespace {

// ---- texts and times ------------------------------------------------------------------------------------------------

// How many bytes the first character of a text takes as UTF-8; 0 where they are none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const auto follows = [&byte](std::size_t i, unsigned least = 0x80, unsigned most = 0xbf) {
    return byte(i) >= least && byte(i) <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef)
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  if (first >= 0xf0 && first <= 0xf4)
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

std::string json_quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (json += '\\') += c;
    else if (byte < 0x20 || byte == 0x7f)
      fmt::format_to(std::back_inserter(json), "\\u{:04x}", byte);
    else
      json += c;
  }
  return json += '"';
}

using SysSeconds = std::chrono::sys_seconds;

// "2026-11-18T20:45:02Z"
std::string time_text(std::int64_t when) {
  const SysSeconds time{std::chrono::seconds(when)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss hour{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), hour.hours().count(),
                     hour.minutes().count(), hour.seconds().count());
}

bool is_time(std::int64_t when) { return when >= 0 && when < 253402300800; }  // the year 10000

// ---- a line read from the front -------------------------------------------------------------------------------------

class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  /// `{"key":` or `,"key":`
  void key(std::string_view name) {
    const std::string mark = fmt::format("{}\"{}\":", first_ ? '{' : ',', name);
    if (!rest_.starts_with(mark)) throw DataError(fmt::format("\"{}\" is missing, or not where it belongs", name));
    rest_.remove_prefix(mark.size());
    first_ = false;
  }

  template <class Number>
  void number(std::string_view name, Number& value) {
    key(name);
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) throw DataError(fmt::format("\"{}\" is no number", name));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  }

  void text(std::string_view name, std::string& value) {
    key(name);
    if (!rest_.starts_with('"')) throw DataError(fmt::format("\"{}\" is no text", name));
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        if (kept_text(value, value.size()) != value) throw DataError(fmt::format("\"{}\" is no UTF-8", name));
        return;
      }
      value += rest_[i] == '\\' ? escaped(i, name) : rest_[i];
    }
    throw DataError(fmt::format("\"{}\" has no end", name));
  }

  void time(std::int64_t& when) {
    std::string text;
    this->text("when", text);
    // Whatever is no time of ours comes out as another one, and the line is not what it would be.
    const auto part = [&text](std::size_t at, std::size_t length) {
      int value = 0;
      if (at + length <= text.size()) std::from_chars(text.data() + at, text.data() + at + length, value);
      return value;
    };
    const std::chrono::year_month_day date{std::chrono::year(part(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(part(8, 2)))};
    if (!date.ok()) throw DataError("\"when\" is no time");
    const auto days = std::chrono::sys_days(date).time_since_epoch();
    when = std::chrono::seconds(days).count() + part(11, 2) * 3600 + part(14, 2) * 60 + part(17, 2);
    if (!is_time(when)) throw DataError("\"when\" is no time");
  }

  void end() const {
    if (rest_ != "}") throw DataError("something follows the last field");
  }

 private:
  // At a backslash; leaves i at the last byte of the escape.
  char escaped(std::size_t& i, std::string_view name) const {
    if (i + 1 < rest_.size() && (rest_[i + 1] == '"' || rest_[i + 1] == '\\')) return rest_[++i];
    unsigned code = 0;
    const char* digits = rest_.data() + i + 2;
    if (i + 5 >= rest_.size() || rest_[i + 1] != 'u' ||
        std::from_chars(digits, digits + 4, code, 16).ptr != digits + 4 || code > 0x7f)
      throw DataError(fmt::format("\"{}\" has an escape that ledgers do not use", name));
    i += 5;
    return static_cast<char>(code);
  }

  std::string_view rest_;
  bool first_ = true;
};

// ---- records --------------------------------------------------------------------------------------------------------

constexpr std::string_view seal_mark = ",\"sha256\":\"";

// The seal is of all that stands before it.
std::string sealed(std::string body, std::string& seal) {
  seal = sha256_hex(body);
  return fmt::format("{}{}{}\"}}", body, seal_mark, seal);
}

std::string_view kind_text(LedgerRecord::Kind kind) {
  switch (kind) {
    case LedgerRecord::Kind::spend:
      return "spend";
    case LedgerRecord::Kind::release:
      return "release";
    default:
      return "torn";
  }
}

std::string stamp_text(const LedgerStamp& stamp) {
  return fmt::format(",\"when\":\"{}\",\"version\":{}", time_text(stamp.when), json_quoted(stamp.version));
}

void read_stamp(Line& line, LedgerStamp& stamp) {
  line.time(stamp.when);
  line.text("version", stamp.version);
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// A line holds what its own record says, to the byte.
void require_as_written(std::string_view line, std::string_view written) {
  if (line == written) return;
  const std::size_t at = written.rfind(seal_mark);
  if (line.substr(0, at) == written.substr(0, at)) throw DataError("its checksum is not that of what it says");
  throw DataError("it is not written as a ledger writes");
}

LedgerRecord::Kind kind_from(std::string_view text) {
  for (const auto kind : {LedgerRecord::Kind::spend, LedgerRecord::Kind::release, LedgerRecord::Kind::torn})
    if (kind_text(kind) == text) return kind;
  throw DataError("\"kind\" must be spend, release or torn");
}

void check_record(const LedgerRecord& record) {
  const bool spends = record.kind == LedgerRecord::Kind::spend;
  if (!is_mu(record.mu) && (spends || record.mu != 0)) throw DataError("\"mu\" must lie in [1e-9, 1e9]");
  if (record.kind == LedgerRecord::Kind::release && record.mu != 0)
    throw DataError("a release costs nothing: \"mu\" must be 0");
  if (spends && !(std::isfinite(record.epsilon) && record.epsilon >= 0))
    throw DataError("\"epsilon\" must be a number, not negative");
  if (!spends && !is_digest(record.digest)) throw DataError("\"digest\" is no SHA-256");
}

}  // namespace

std::string render(LedgerHeading& heading) {
  const LedgerBudget& budget = heading.budget;
  return sealed(
      fmt::format(R"({{"record":0,"kind":"budget","form":1,"id":"{}","data":{},"site":{},"neighbours":{},)"
                  R"("epsilon":{},"delta":{},"mu":{}{})",
                  heading.id, json_quoted(budget.data), json_quoted(budget.site), json_quoted(budget.neighbours),
                  budget.epsilon, budget.delta, budget.mu, stamp_text(heading.begun)),
      heading.sha256);
}

std::string render(LedgerRecord& record) {
  std::string body =
      fmt::format(R"({{"record":{},"mu":{},"kind":"{}")", record.number, record.mu, kind_text(record.kind));
  auto out = std::back_inserter(body);
  switch (record.kind) {
    case LedgerRecord::Kind::spend:
      fmt::format_to(out, R"(,"epsilon":{},"query":{},"command":{})", record.epsilon, json_quoted(record.query),
                     json_quoted(record.command));
      break;
    case LedgerRecord::Kind::release:
      fmt::format_to(out, R"(,"of":{},"digest":"{}")", record.of, record.digest);
      break;
    case LedgerRecord::Kind::torn:
      fmt::format_to(out, R"(,"bytes":{},"digest":"{}")", record.bytes, record.digest);
  }
  fmt::format_to(out, R"({},"before":"{}")", stamp_text(record.stamp), record.before);
  return sealed(std::move(body), record.sha256);
}

LedgerHeading parse_heading(std::string_view line) {
  LedgerHeading heading;
  LedgerBudget& budget = heading.budget;
  Line from(line);
  std::int64_t zero = -1, form = 0;
  std::string kind, seal;
  from.number("record", zero);
  from.text("kind", kind);
  if (zero != 0 || kind != "budget") throw DataError("the first record must be a budget");
  from.number("form", form);
  if (form != 1) throw DataError(fmt::format("it has the form {}, of another version of hearsay", form));
  from.text("id", heading.id);
  from.text("data", budget.data);
  from.text("site", budget.site);
  from.text("neighbours", budget.neighbours);
  from.number("epsilon", budget.epsilon);
  from.number("delta", budget.delta);
  from.number("mu", budget.mu);
  read_stamp(from, heading.begun);
  from.text("sha256", seal);
  from.end();
  require_as_written(line, render(heading));
  if (heading.id.size() != 32 || heading.id.find_first_not_of("0123456789abcdef") != heading.id.npos)
    throw DataError("\"id\" must be 32 hexadecimal digits");
  if (budget.data.empty() || budget.neighbours.empty())
    throw DataError("\"data\" and \"neighbours\" must not be empty");
  if (!is_mu(budget.mu)) throw DataError("\"mu\" must lie in [1e-9, 1e9]");
  if (!(std::isfinite(budget.epsilon) && budget.epsilon >= 0))
    throw DataError("\"epsilon\" must be a number, not negative");
  if (!(budget.delta >= 0 && budget.delta < 1)) throw DataError("\"delta\" must lie in [0, 1)");
  return heading;
}

LedgerRecord parse_record(std::string_view line) {
  LedgerRecord record;
  Line from(line);
  std::string kind, seal;
  from.number("record", record.number);
  from.number("mu", record.mu);
  from.text("kind", kind);
  record.kind = kind_from(kind);
  if (record.kind == LedgerRecord::Kind::spend) {
    from.number("epsilon", record.epsilon);
    from.text("query", record.query);
    from.text("command", record.command);
  } else {
    const bool release = record.kind == LedgerRecord::Kind::release;
    from.number(release ? "of" : "bytes", release ? record.of : record.bytes);
    from.text("digest", record.digest);
  }
  read_stamp(from, record.stamp);
  from.text("before", record.before);
  from.text("sha256", seal);
  from.end();
  require_as_written(line, render(record));
  check_record(record);
  return record;
}

double torn_amount(std::string_view torn) try {
  Line from(torn);
  std::int64_t number = 0;
  double mu = 0;
  from.number("record", number);
  from.number("mu", mu);
  from.key("kind");  // before that, digits may be missing
  return is_mu(mu) ? mu : 0;
} catch (const DataError&) {
  return 0;
}

std::size_t start_of_last_record(std::string_view line) {
  const std::size_t at = line.rfind("{\"record\":");
  return at == line.npos ? 0 : at;
}

std::string kept_text(std::string_view text, std::size_t most) {
  constexpr std::string_view mark = " ...";
  const bool clipped = text.size() > most;
  if (clipped) text = text.substr(0, most - mark.size());
  std::string kept;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    kept += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clipped ? kept.append(mark) : kept;
}

void MuLedger::spend(double mu) {
  if (mu > 0) squares_.add_square(mu);
}

bool MuLedger::fits(double mu) const {
  ExactSum over = squares_;
  over.add_square(mu);
  over.add_square(budget_, -1);
  return !over.positive();
}

double MuLedger::spent() const { return std::sqrt(squares_.rounded()); }

double MuLedger::left() const {
  ExactSum over = squares_;
  over.add_square(budget_, -1);
  double mu = std::sqrt(std::max(0.0, -over.rounded()));  // right to a few last bits
  while (mu >= least_mu && fits(std::nextafter(mu, 2 * most_mu))) mu = std::nextafter(mu, 2 * most_mu);
  while (mu >= least_mu && !fits(mu)) mu = std::nextafter(mu, 0.0);
  return mu >= least_mu ? mu : 0;
}

}  // namespace hearsay::io
