// Links between threads of one process: bounded queues. For tests, and for many agents on one machine.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/links.hpp"
#include "hearsay/network.hpp"

namespace hearsay {

/// Runs the body once for each agent of W, on a thread of its own, with links to its neighbours, and returns when all
/// have ended: what each of them threw, or null. An agent whose body has ended is gone, and its links with it. A link
/// keeps at most `buffer` bytes of frames that were not polled yet, and one frame at least.
[[nodiscard]] HEARSAY_API std::vector<std::exception_ptr> run_on_thread_links(const GossipMatrix& W,
                                                                              const std::function<void(Links&)>& body,
                                                                              std::size_t buffer = std::size_t{4}
                                                                                                   << 20);

}  // namespace hearsay
