// The world that main() made.
#pragma once

#include <hearsay/mpi.hpp>

namespace hearsay::test {

mpi::World& world();

}  // namespace hearsay::test
