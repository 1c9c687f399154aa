// GoogleTest on every rank of mpiexec: all run the same tests in the same order. A failure on any rank is printed with
// that rank, and makes the whole job fail.
#include <gtest/gtest.h>
#include <hearsay/mpi.hpp>

#include <cstdio>
#include <exception>
#include <memory>

#include "mpi/world.hpp"
#include "unit/ranks/on_ranks.hpp"

namespace hearsay::test {
namespace {

mpi::World* the_world = nullptr;

// Of ranks other than the first: failures alone.
class FailurePrinter final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", the_world->rank(),
                 result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(), result.message());
  }
};

}  // namespace

mpi::World& world() { return *the_world; }

void on_ranks(const std::function<void(Transport&)>& body) {
  // Messages in one piece, and in pieces so short that every one has many.
  mpi::Communicator in_pieces(MPI_COMM_WORLD, 1000);
  for (Transport* ranks : {static_cast<Transport*>(the_world), static_cast<Transport*>(&in_pieces)}) try {
      body(*ranks);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d left the test: %s\n", the_world->rank(), error.what());
      the_world->abort(1);  // the others would wait for it
    }
}

}  // namespace hearsay::test

int main(int argc, char** argv) {
  hearsay::mpi::World world(argc, argv);
  hearsay::test::the_world = &world;
  testing::InitGoogleTest(&argc, argv);
  if (world.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new hearsay::test::FailurePrinter);
  }
  const int failed = RUN_ALL_TESTS();
  const bool anywhere = world.max(failed) != 0;
  if (failed != 0) std::fprintf(stderr, "rank %d of %d: tests failed\n", world.rank(), world.size());
  return anywhere ? 1 : 0;
}
