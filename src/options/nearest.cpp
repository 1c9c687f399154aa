#include <algorithm>
#include <numeric>

#include "hearsay/options.hpp"

namespace hearsay {

namespace {

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment) that turn a into b.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t fewest = 1 + std::max<std::size_t>(1, word.size() / 3);
  for (const std::string_view candidate : candidates) {
    // A word cut short is as good as one edit.
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t count = begins ? 1 : edits(word, candidate);
    if (count < fewest) fewest = count, best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view guess = nearest(word, candidates);
  return guess.empty() ? std::string() : "; did you mean " + std::string(guess) + "?";
}

}  // namespace hearsay
