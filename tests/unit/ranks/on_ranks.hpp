// The same test bodies on threads and on processes.
#pragma once

#include <hearsay/transport.hpp>

#include <functional>
#include <vector>

namespace hearsay::test {

/// Runs the body as each of 1, 2, 3, 5 and 8 ranks that are threads of this process; or once, as the rank that mpiexec
/// made of it. Bodies ask for their size.
void on_ranks(const std::function<void(Transport&)>& body);

}  // namespace hearsay::test
