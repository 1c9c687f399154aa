#include "formats/json_places.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace hearsay::app {

namespace {

// Walks over a text that is known to be JSON, and nested no deeper than the parser allows.
class PlaceFinder {
 public:
  PlaceFinder(std::string_view text, std::map<std::string, int, std::less<>>& lines) : text_(text), lines_(lines) {}

  void value(const std::string& path) {
    space();
    lines_.emplace(path, line_);
    if (at('{'))
      object(path);
    else if (at('['))
      list(path);
    else if (at('"'))
      text();
    else
      while (here_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[here_]) == std::string_view::npos)
        ++here_;
  }

 private:
  bool at(char letter) const { return here_ < text_.size() && text_[here_] == letter; }

  void space() {
    for (; here_ < text_.size() && std::string_view(" \t\r\n").find(text_[here_]) != std::string_view::npos; ++here_)
      if (text_[here_] == '\n') ++line_;
  }

  std::string text() {
    const std::size_t begin = here_++;
    while (here_ < text_.size() && text_[here_] != '"') here_ += text_[here_] == '\\' ? 2 : 1;
    ++here_;
    const auto end = std::min(here_, text_.size());
    const auto parsed = nlohmann::json::parse(text_.substr(begin, end - begin), nullptr, false);
    return parsed.is_string() ? parsed.get<std::string>() : std::string();
  }

  void object(const std::string& path) {
    for (++here_, space(); here_ < text_.size() && !at('}'); space()) {
      if (at(',')) {
        ++here_;
        continue;
      }
      if (!at('"')) return;
      const std::string key = text();
      space();
      ++here_;  // the colon
      value(path.empty() ? key : path + "." + key);
    }
    ++here_;
  }

  void list(const std::string& path) {
    std::size_t index = 0;
    for (++here_, space(); here_ < text_.size() && !at(']'); space()) {
      if (at(','))
        ++here_;
      else
        value(path + "[" + std::to_string(index++) + "]");
    }
    ++here_;
  }

  std::string_view text_;
  std::map<std::string, int, std::less<>>& lines_;
  std::size_t here_ = 0;
  int line_ = 1;
};

}  // namespace

JsonPlaces::JsonPlaces(std::string_view text) { PlaceFinder(text, lines_).value(""); }

int JsonPlaces::line_of(std::string path) const {
  while (true) {
    if (const auto found = lines_.find(path); found != lines_.end()) return found->second;
    if (path.empty()) return 1;
    const std::size_t end = path.find_last_of(".[");
    path.erase(end == std::string::npos ? 0 : end);
  }
}

}  // namespace hearsay::app
