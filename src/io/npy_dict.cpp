#include "io/npy_dict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "hearsay/error.hpp"

namespace hearsay::io {
namespace {

class DictParser {
 public:
  DictParser(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  NpyDict parse() {
    NpyDict dict;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr")
        dict.descr = descr();
      else if (key == "fortran_order")
        dict.fortran_order = boolean();
      else if (key == "shape")
        dict.shape = shape();
      else
        fail("an unknown key");
      if (!seen.insert(key).second) fail("a key twice");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) fail("something behind the closing brace");
    if (seen.size() != 3) fail("not all of descr, fortran_order and shape");
    return dict;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw DataError(fmt::format("{}: the .npy header is malformed: it has {}", name_, what));
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("no '{}' where one belongs", c));
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string string() {
    skip_blanks();
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    expect(quote);
    const std::size_t close = rest_.find(quote);
    if (close == std::string_view::npos) fail("a string that does not end");
    std::string text(rest_.substr(0, close));
    rest_.remove_prefix(close + 1);
    return text;
  }

  std::string descr() {
    skip_blanks();
    if (rest_.starts_with('['))
      throw DataError(
          fmt::format("{}: has records for entries (a structured dtype); plain numbers can be read", name_));
    return string();
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail("a fortran_order that is neither True nor False");
    return false;
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(size());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::int64_t size() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) fail("a size that is no whole number, is negative or too large");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    accept_word("L");  // as Python 2 wrote them
    return value;
  }

  std::string_view rest_;
  std::string_view name_;
};

}  // namespace

NpyDict parse_npy_dict(std::string_view text, std::string_view name) { return DictParser(text, name).parse(); }

}  // namespace hearsay::io
