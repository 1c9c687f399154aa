#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <thread>

#include "mpi/world.hpp"
#include "support/expect_error.hpp"

namespace hearsay {
namespace {

using test::world;

TEST(World, KnowsItsLibrary) {
  const std::string library = mpi::library();

#ifdef OPEN_MPI
  EXPECT_EQ(library.rfind("Open MPI v", 0), 0U) << library;
#else
  EXPECT_EQ(library.rfind("MPICH ", 0), 0U) << library;
#endif
}

TEST(World, SharesTheProcessorsAmongItsRanks) {
  EXPECT_GE(world().threads_per_rank(), 1);
  if (world().size() > static_cast<int>(std::thread::hardware_concurrency())) {
    EXPECT_EQ(world().threads_per_rank(), 1);
  }
}

TEST(World, TellsTheLineThatStartsEnoughRanks) {
  const Index wanted = world().size() + 7;

  test::expect_error<InvalidArgument>([&] { mpi::require_ranks(world(), wanted, "hearsay-mpi decentralized a.csv"); },
                                      {"must be at least " + std::to_string(wanted), "mpirun ",
                                       "-n " + std::to_string(wanted) + " hearsay-mpi decentralized a.csv"});
  mpi::require_ranks(world(), world().size(), "");
#ifdef OPEN_MPI
  EXPECT_NE(mpi::mpirun_line(3, "x").find("--oversubscribe -n 3 x"), std::string::npos);
#else
  EXPECT_EQ(mpi::mpirun_line(3, "x"), "mpirun -n 3 x");
#endif
}

TEST(Communicator, IsNotConfusedByItsDuplicates) {
  mpi::Communicator other(MPI_COMM_WORLD);

  EXPECT_EQ(other.size(), world().size());
  EXPECT_EQ(other.broadcast(other.rank() == 0 ? "here" : ""), "here");
  EXPECT_EQ(world().sum(1), world().size());
}

TEST(Communicator, RefusesPiecesThatMpiCannotCount) {
  EXPECT_THROW(mpi::Communicator(MPI_COMM_WORLD, 0), InvalidArgument);
  EXPECT_THROW(mpi::Communicator(MPI_COMM_WORLD, mpi::default_piece_bytes + 1), InvalidArgument);
}

TEST(Communicator, TellsOfAMessageThatDidNotFit) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<std::byte> bytes(world().rank() == 0 ? 20 : 10);
  if (world().rank() > 1) return;
  if (world().rank() == 0)
    world().send(1, bytes);
  else
    world().receive(0, bytes);

  EXPECT_GE(world().wait().bytes, 20U);
}

}  // namespace
}  // namespace hearsay
