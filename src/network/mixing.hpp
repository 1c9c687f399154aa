// One round of gossip among the agents of this process.
#pragma once

#include <cstdint>
#include <span>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/message.hpp"
#include "hearsay/network.hpp"

namespace hearsay::detail {

// Columns are mixed in panels, so that a neighbour's numbers are still in the shared cache when the next agent asks for
// them: 32 KiB a row, 32 MiB for a thousand agents. Narrower panels measure slower, because a row is then read in
// pieces. Every engine cuts at the same columns, because the kernels may treat the last few of a panel in a way of
// their own.
constexpr Index panel_columns = 4096;

/// out <- mixed W Z + self Z + previous Z_prev, threaded. Each number is one sum in one order, whoever computes it.
void mix_rows(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
              BlockView<double> out);

/// The same for some of the rows; the others of `out` stay as they are.
void mix_rows(const CsrMatrix<double>& W, std::span<const Index> rows, const MixStep& step, ConstBlockView<double> Z,
              ConstBlockView<double> Z_prev, BlockView<double> out);

/// What the neighbours know of each agent's block, and the rest of it.
struct Telling {
  Block<double> told = {}, unsent = {};
};

/// The same where the neighbours know of Z only what messages of this precision have told them. Telling begins anew
/// when the blocks change their shape.
void mix_messages(const CsrMatrix<double>& W, const MixStep& step, ConstBlockView<double> Z,
                  ConstBlockView<double> Z_prev, MessagePrecision precision, Telling& telling, BlockView<double> out);

/// Each row of the votes becomes the largest among its own and its neighbours'. No weight, no neighbour.
void maximise(const CsrMatrix<double>& W, BlockView<double> votes);

}  // namespace hearsay::detail
