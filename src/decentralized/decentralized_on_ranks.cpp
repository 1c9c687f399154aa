// A run on ranks, and its results brought together: at rank 0 what one process would have returned.
#include <fmt/format.h>

#include "decentralized/assembly.hpp"
#include "decentralized/result_message.hpp"
#include "decentralized/scaling.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay {

using detail::ByteReader;
using detail::ByteWriter;

DecentralizedResult decentralized_pca(RankNetwork& net, std::span<const OperatorRef<double>> A,
                                      const DecentralizedOptions& options, const DecentralizedHooks& hooks) {
  Transport& ranks = net.ranks();
  DecentralizedResult result;
  net.run([&] {
    if (net.local_agents() > 0)
      result = detail::scaled_decentralized_pca(NetworkRef(net), A, options, hooks);
    else
      require(A.empty(), fmt::format("{} operators: must be 0, for no agent lives on rank {}", A.size(), ranks.rank()));
  });

  ByteWriter here;
  detail::put_agents(here, NetworkRef(net), result);
  detail::put_summary(here, result);
  ByteWriter agreed;
  const std::vector<std::string> said = ranks.gather(here.bytes());
  ranks.everywhere([&] {
    if (ranks.rank() != 0) return;
    detail::assemble(said, net.agents(), options, result);
    detail::unscale_or_tell(result);  // for everyone, by what all agents found
    detail::put_summary(agreed, result);
  });
  const std::string summary = ranks.broadcast(agreed.bytes());
  ByteReader reader(summary);
  const int scaled = result.exponent;
  const ErrorBar own = result.bar;
  detail::get_summary(reader, result);
  detail::take_larger(result.bar, own);
  if (net.local_agents() > 0 && result.verification.evidence != Knowledge::bound) result.bar = {};  // it heard no words
  if (ranks.rank() != 0 && result.exponent != scaled) detail::multiply_by_power(result, scaled);
  return result;
}

}  // namespace hearsay
