// One round of gossip among the agents of this process.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"

namespace hearsay::detail {

/// out <- mixed W Z + self Z + previous Z_prev, threaded. Each number is one sum in one order, whoever computes it.
void mix_rows(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
              BlockView<double> out);

/// The same where the neighbours know of Z only what messages of this precision have told them. Telling begins anew
/// when the blocks change their shape.
void mix_messages(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z,
                  ConstBlockView<double> Z_prev, MessagePrecision precision, Telling& telling, BlockView<double> out);

/// Each row of the votes becomes the largest among its own and its neighbours'. No weight, no neighbour.
void maximise(const CsrMatrix<double>& W, BlockView<double> votes);

}  // namespace hearsay::detail
