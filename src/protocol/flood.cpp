#include "protocol/flood.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay::protocol {

Flood::Flood(Index agents, Index self, std::string own, std::size_t longest, std::span<const Index> numbers)
    : words_(static_cast<std::size_t>(agents)),
      fresh_{self},
      numbers_(numbers.begin(), numbers.end()),
      self_(self),
      longest_(longest) {
  require(own.size() <= longest,
          fmt::format("what agent {} says has {} bytes: must be {} at most", number_of(self), own.size(), longest));
  words_[static_cast<std::size_t>(self)] = {.text = std::move(own), .heard = true};
}

std::vector<std::byte> Flood::message_for(Index neighbour) const {
  detail::ByteWriter writer;
  for (const Index agent : fresh_) {
    const Word& word = words_[static_cast<std::size_t>(agent)];
    if (word.from == neighbour) continue;
    writer.put(static_cast<std::int64_t>(agent));
    writer.put(std::string_view(word.text));
  }
  const auto* first = reinterpret_cast<const std::byte*>(writer.bytes().data());
  return {first, first + writer.bytes().size()};
}

void Flood::take(Index neighbour, std::span<const std::byte> message) {
  detail::ByteReader reader({reinterpret_cast<const char*>(message.data()), message.size()},
                            "a message between agents");
  while (!reader.at_end()) {
    const auto agent = reader.get<std::int64_t>();
    if (agent < 0 || agent >= static_cast<std::int64_t>(words_.size()))
      throw CommunicationError(fmt::format("agent {} handed on words of agent {}: must lie in [0, {})",
                                           number_of(neighbour), agent, words_.size()));
    std::string text = reader.text();
    if (text.size() > longest_)
      throw CommunicationError(fmt::format("agent {} handed on {} bytes of agent {}: must be {} at most",
                                           number_of(neighbour), text.size(), number_of(agent), longest_));
    Word& word = words_[static_cast<std::size_t>(agent)];
    if (word.heard && word.text != text)
      throw CommunicationError(fmt::format("agent {} handed on words of agent {} that are not those heard of it {}",
                                           number_of(neighbour), number_of(agent), agent == self_ ? "here" : "before"));
    if (word.heard) continue;
    word = {.text = std::move(text), .heard = true, .from = neighbour};
    incoming_.push_back(static_cast<Index>(agent));
  }
}

void Flood::end_round() {
  fresh_ = std::exchange(incoming_, {});
  std::sort(fresh_.begin(), fresh_.end());
}

std::vector<std::string> Flood::all() const {
  std::vector<Index> missing;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (!words_[i].heard) missing.push_back(number_of(static_cast<Index>(i)));
    texts.push_back(words_[i].text);
  }
  if (!missing.empty())
    throw CommunicationError(fmt::format("nothing was heard of agent {}", fmt::join(missing, ", ")));
  return texts;
}

std::size_t largest_flood_message(Index agents, std::size_t longest) {
  return static_cast<std::size_t>(agents) * (2 * sizeof(std::uint64_t) + longest);
}

}  // namespace hearsay::protocol
