#include <hearsay/decentralized_on_ranks.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/mpi.hpp>

#include <cstdio>

// The installed component from outside: four agents on however many processes, and the digest of one process.
int main(int argc, char** argv) {
  hearsay::mpi::World world(argc, argv);
  const auto W = hearsay::GossipMatrix::ring(4);
  std::vector<hearsay::CovarianceShard> all;
  for (int i = 0; i < 4; ++i) {
    hearsay::Block<double> rows = hearsay::Block<double>::Identity(3, 3);
    rows(0, 0) = 3 + i;
    all.emplace_back(rows, 1.0);
  }
  hearsay::LocalNetwork local(W);
  const auto expected = hearsay::decentralized_pca(local, hearsay::operators_of(all), {.rank = 1});

  hearsay::RankNetwork net(world, W);
  std::vector<hearsay::CovarianceShard> here;
  for (const auto agent : net.local()) here.push_back(all[static_cast<std::size_t>(agent)]);
  const auto result = hearsay::decentralized_pca(net, hearsay::operators_of(here), {.rank = 1});
  if (world.rank() == 0)
    std::printf("%s, %d ranks: %s\n", hearsay::mpi::library().c_str(), world.size(), name(result.status));
  return result.digest == expected.digest ? 0 : 1;
}
