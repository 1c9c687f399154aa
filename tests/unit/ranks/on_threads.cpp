#include "on_ranks.hpp"

namespace hearsay::test {

void on_ranks(const std::function<void(Transport&)>& body) {
  for (const int ranks : {1, 2, 3, 5, 8}) run_on_threads(ranks, body);
}

}  // namespace hearsay::test
