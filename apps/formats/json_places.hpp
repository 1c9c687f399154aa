// Where in a JSON text each value lies, for messages that name the line: the parser forgets it.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hearsay::app {

class JsonPlaces {
 public:
  /// Of a text that parse_json has accepted.
  explicit JsonPlaces(std::string_view text);

  /// Of the value at "agents[2].address", or of the nearest thing around it that is there; counted from 1.
  int line_of(std::string path) const;

 private:
  std::map<std::string, int, std::less<>> lines_;
};

}  // namespace hearsay::app
