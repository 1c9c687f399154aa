// Every number of the solvers that was chosen rather than derived, in one place, with its reason. What was measured
// says where; what was not is a matter of taste within a factor of two or so, and nothing that is said of a result
// rests on it: the certificate is derived (certificate.hpp).
#pragma once

#include "hearsay/block.hpp"

namespace hearsay::detail::tuning {

// ---- When a residual counts as what

// In units of epsilon: what A X U says of a residual below this is measured with a product of its own.
inline constexpr double near_rounding = 1e4;
// In units of epsilon times ||A||_F: a Rayleigh quotient this far below zero may be rounding.
inline constexpr double negative_by_rounding = 1e3;
// In standard deviations of X'AX: the same for noise, which is at least so much of the matrix where it is said to be
// there.
inline constexpr double negative_by_noise = 30;
inline constexpr double least_noise = 1e-12;
// In units of epsilon times a bound on ||A||: the same where the block has seen little of the matrix.
inline constexpr double negative_by_norm = 100;
// A rounding error that was measured on one turn of the basis is taken to be so many times as large.
inline constexpr double rounding_beyond_measured = 3;
// Of the norm of the matrix: residuals are relative to no less than this. Eigenvalues at one end of a spectrum may be
// zero beside those at the other, as a graph's Laplacian has them, and no residual is small beside zero.
inline constexpr double least_beside_norm = 1e-3;
// Passes with eight random columns that look for the low end of a matrix; how far beyond what they show a shift goes
// where products are noisy and nothing is proved; shifts that are tried before the matrix is refused.
inline constexpr Index shift_passes = 6;
inline constexpr double shift_beyond_noisy = 1.2;
inline constexpr int most_shifts = 6;
// Relative: two eigenvalues that differ by less agree to rounding, in words.
inline constexpr double agree_to_rounding = 1e-13;
// Relative to theta_k: the least gap that a rate is predicted from.
inline constexpr double least_gap = 1e-15;

// ---- Stopping (stopping.cpp)

// Iterations whose median is the noise now: long enough for a median, short enough to follow a change.
inline constexpr std::size_t noise_window = 15;
// Products are said to be noisy after so many iterations, by so many roundings.
inline constexpr std::size_t least_history_for_noise = 5;
inline constexpr double noise_above_rounding = 100;
// The residual has stopped falling when a quarter of the run, but at least ten entries, gained less than a fifth.
inline constexpr std::size_t least_window = 10;
inline constexpr double no_progress = 0.8;
// How much of the time that a random start needs, by the rate, must have passed; and the iterations that stand for it
// where the k-th Ritz value is not positive.
inline constexpr double transient_margin = 1.1;
inline constexpr Index transient_without_rate = 30;
// A gap below so many standard deviations of the noise counts as that many.
inline constexpr double gap_in_noise = 3;
// A random start has a tangent of about sqrt(d k); one in a thousand has three times that.
inline constexpr double unlucky_start = 3;
// At the rounding floor: so many entries, and a residual below 0.01 sqrt(epsilon) or 100 epsilon sqrt(d).
inline constexpr std::size_t least_history_for_floor = 20;
inline constexpr double floor_in_root_epsilon = 0.01;
inline constexpr double floor_in_epsilon = 100;

// ---- Averages of noisy products (averaging.cpp; measured by ./dev bars)

// Looks before a transient can be over.
inline constexpr std::size_t least_transient = 3;
// Steps of the first epoch; epochs kept.
inline constexpr Index first_epoch = 4;
inline constexpr std::size_t epochs_kept = 3;
// The oldest epoch is left out where it disagrees with the next so many times as much as that one with the last; asked
// only when the last is no less than this share of the one before.
inline constexpr double epoch_disagrees = 3;
inline constexpr double least_epoch_share = 0.5;
// Drift: means of so many steps at least, whose entries differ by a chi squared per degree of freedom f of more than
// 1 + this/sqrt(f), where the transient is long over; stationary solves pass it 6 times in 100 (./dev bars).
inline constexpr Index least_part_for_drift = 64;
inline constexpr double drift_shows = 20;
// Blocks whose mean squared cosine to the answer is below this have nothing to do with it.
inline constexpr double least_cosine_squared = 0.2;
// Steps on each side of a cut between epochs.
inline constexpr Index least_part = 4;
// Steps averaged where no accuracy and no budget is given: so many, or as many as the transient took. With 60 the
// default solve of the paper's instance is below the floor of the last block at a third to a fifth of its products.
inline constexpr Index least_averaged = 60;
// Steps before the first look at a bar that is to meet an accuracy.
inline constexpr Index first_look = 20;
// A sine above which the averages and the last block have nothing to do with each other.
inline constexpr double unresolved_block = 0.5;
// A mean asymmetry so many times what independent errors leave is a bias.
inline constexpr double bias_shows = 3;
// The next look at the bar: a little after it should meet the accuracy, but a tenth later than the last at least.
inline constexpr double beyond_needed = 1.05, least_growth = 1.1;

// ---- The power iteration: what is measured

// Iterations from one look at a claim that did not hold to the next: each may cost a product.
inline constexpr Index recheck_after = 5;
// A fixed momentum is refused after so many iterations without progress.
inline constexpr Index hopeless_after = 500;
// All columns from the k-th on lie in one cluster, as far as their residuals tell: by this fraction of the residuals
// where the residual has come down to `cluster_residual` and stopped falling, or by a tenth of it after
// `cluster_patience` steps.
inline constexpr double cluster_residual = 1e-2;
inline constexpr double cluster_gap = 0.01;
inline constexpr double cluster_gap_at_once = 1e-3;
inline constexpr Index cluster_patience = 20;
// and a gap of this fraction is one after all.
inline constexpr double cluster_ends = 0.1;
// Where the Ritz values of the whole block cannot be told apart, the edge is put at this fraction of the least.
inline constexpr double edge_without_gap = 0.5;

// ---- The power iteration: what a step may save (measured on bench/peers' sparse workloads)

// Numbers of a block below which nothing is worth saving.
inline constexpr Index large_block = 50000;
// A QR with what is measured beside it costs about 10 d p multiply-adds; it is costly from half of the product on.
inline constexpr double qr_multiply_adds = 10;
inline constexpr double costly_beside_product = 0.5;
// The longest stride between two QRs that is ever chosen; qr_every may ask for more.
inline constexpr Index longest_stride = 16;
// How far the columns of a block may drift apart between two QRs: two passes of CholeskyQR put right 1e8 in double and
// 1e4 in single precision, and the edge is only known from Ritz values.
inline constexpr double condition_double = 1e6, condition_single = 1e2;
// The logarithm of how much a block may grow or shrink on the way, far inside the range of the number type.
inline constexpr double range_double = 100, range_single = 12;
inline constexpr double least_log = 0.1;  // for a growth of about 1, which never gets there
// A stride is at most twice the last, or so many where the recurrence has just begun anew.
inline constexpr Index stride_growth = 2;
inline constexpr Index stride_afresh = 6;
// A product costs about p + 4 columns, by whole cache lines of 8.
inline constexpr Index line = 8;
inline constexpr Index product_overhead = 4;
// A narrower block must promise to get there with so much of the work; it is not asked before the Ritz values mean
// something, and two columns beyond k are kept.
inline constexpr double worth_narrowing = 0.85;
inline constexpr Index narrow_after = 4;
inline constexpr Index least_extra = 2;
// A wider one: a third more, or a line, where the rate is below this and the end further away than so many steps.
inline constexpr Index widen_by = 3;
inline constexpr double slow_rate = 0.35;
inline constexpr double far_from_goal = 16;
// The Ritz values have settled: the residual is below this, and the k-th moved by less than a twentieth.
inline constexpr double settled_residual = 1e-2;
inline constexpr double settled_ritz = 0.05;
// The edge of the first step after random columns joined, low enough for them to rise.
inline constexpr double edge_after_widening = 0.9;

// ---- Columns (choices.cpp, krylov.cpp)

// Beside the rank, where nothing else decides.
inline constexpr Index least_oversample = 4;
// A Krylov block: by fours, between these; the least where products are so cheap (in multiply-adds per number of k
// columns) that orthogonality costs more.
inline constexpr Index narrowest_block = 8, widest_block = 16, block_step = 4;
inline constexpr double cheap_product = 4;
// Blocks for a sparse matrix, of so many entries a row at most, where few eigenvectors are wanted: the cache line that
// an entry fetches is as dear for four columns as for eight, and a block that gains as much with half of the columns
// needs half of the orthogonality. On random sparse matrices of dimension 4000 to 1e-8 and on ego-Facebook's low end
// four take 0.7 to 0.8 of the time of eight; six lose their half line. With k = 30 eight win, and three or less cannot
// tell a few eigenvalues that agree from more of them. Small matrices are soon spanned by any block.
inline constexpr Index sparse_block = 4, most_for_sparse_block = 2 * sparse_block, least_for_sparse_block = 500;
// k = 10 to 1e-8, graphs of 1,000 to 20,000 nodes: four take 0.66 to 0.78 of the time of eight; to 1e-4 1.0 to 1.4 of
// it.
inline constexpr Index most_for_long_sparse_block = 10;
inline constexpr double long_solve = 1e-6;
inline constexpr double sparse_row = 64;
// and that many of them, about as many columns: ten take 5% more products.
inline constexpr Index sparse_blocks_of_space = 14;
// The columns of a Krylov space: so many blocks beyond what is kept, but at least twice that. Ten of them take a third
// fewer products than five where the space is restarted often (random sparse matrices and a graph's Laplacian of
// dimension 4000, to 1e-8: 952 for 1536 and 2320 for 3152); up to this dimension they cost less than 150 MB at k = 6.
inline constexpr Index blocks_of_space = 5, blocks_of_roomy_space = 10;
inline constexpr Index roomy_dimension = 200000;
// Blocks that may go beyond it where the end is near: a restart would cost more.
inline constexpr Index spare_blocks = 3;
// principal_subspace() takes a Krylov space where keeping it orthogonal costs up to so many times what its products
// count: a sparse product runs at a fraction of the speed. At 9, ten communities of 2,000 nodes take 5.0 ms to 1e-4
// and 6.3 to 1e-8 by Krylov, 7.1 and 10 by the power iteration; of 20,000 nodes they take the same.
inline constexpr double orthogonality_beside_product = 9;

// ---- The direct way

// All eigenvalues of a matrix of up to this dimension: 600 MB and some minutes.
inline constexpr Index largest_direct = 5000;

// ---- A Krylov space

// The cosine left between a new column and the space: what the residual relation then loses is below what is asked for.
inline constexpr double cosine_in_root_epsilon = 0.01, cosine_in_tolerance = 1e-5;
// Relative to what the product found in the space: the space is exhausted.
inline constexpr double exhausted_in_epsilon = 1e3, exhausted_in_tolerance = 0.01;
// Combining n columns into one rounds by so many epsilon sqrt(n).
inline constexpr double combining = 8;
// Looks: when this much of the way is expected to be done, at least 1 and at most 8 blocks later. Where a product is
// cheap (sparse_row) a look costs as much as a block or more, and it is one block after all of the way, 16 at most: the
// adjacency of ego-Facebook to 1e-8 takes 5 looks in place of 8, the same blocks and a quarter less time; a dense
// matrix of dimension 2000 would take up to a quarter more.
inline constexpr double look_after = 0.7, most_blocks_to_look = 8, most_cheap_blocks_to_look = 16;
// All eigenpairs of an n x n matrix take about 9 n^3 multiply-adds, and proofs three times that (a space of 100
// columns: 1 ms beside blocks of 80 us at d = 1000). So many blocks come between two looks, four at most.
inline constexpr double look_multiply_adds = 36, most_blocks_for_a_look = 4;
// The first blocks tell too slow a pace; of narrow ones few are needed (k = 1, a random graph of 10,000 nodes to 1e-4:
// 10 blocks, where 16 at once are half too many).
inline constexpr double most_narrow_blocks_to_look = 8;
// Wanted Ritz values that agree to five times what is asked for, within these, may be copies of which more are missing.
inline constexpr double copies_in_goal = 5, copies_at_least = 1e-3, copies_at_most = 2e-2;
// Multiply-adds below which a second thread is not awake in time; and rows, for the start block.
inline constexpr double small_solve = 4e7;
inline constexpr Index small_start = 100000;

// ---- Proof that nothing was missed

// Random columns that go with a start that was given, and that a look for what was missed draws: eight of them miss a
// direction once in a million times by a factor of about ten (certificate.cpp).
inline constexpr Index proof_columns = 8;
// The share of a solve that a proof may cost: a tenth, or two passes.
inline constexpr Index proof_share = 10, least_proof_passes = 2;
// A start that was given proves nothing by itself: so many passes, or blocks, may go into it.
inline constexpr Index most_probe_passes = 200;
inline constexpr Index most_blocks_for_a_start = 100;
// A look for how far below zero the spectrum reaches ends where that is less than this part of the k-th eigenvalue.
inline constexpr double deep_beside_wanted = 0.5;
// Times that what was missed may join the block.
inline constexpr int most_joins = 10;
// Where the gap below the k-th is too small, the next few are tried.
inline constexpr Index counts_to_try = 5;
// Where between two Ritz values the line is drawn, nearer to the upper one at the second try.
inline constexpr double parts_of_gap[] = {0.5, 0.9};
// The line above everything: so many residuals, and a thousandth, above the first Ritz value.
inline constexpr double above_all_residuals = 20, above_all = 1e-3;
// Proofs cost a small eigenproblem each: the next try comes after a quarter of the blocks since the first.
inline constexpr Index proof_interval = 4;
// Blocks for which the Ritz value after the k-th is waited for before the two are said to agree.
inline constexpr Index most_blocks_for_the_next = 50;
// And for the proof that a gap which all residuals leave clear is one: the communities of a graph, k = 10 of 2,000
// nodes, were ambiguous at 1e-4 in blocks of 8, and are proved 2 to 4 blocks later.
inline constexpr Index most_blocks_for_a_clear_gap = 10;
inline constexpr double clear_in_residuals = 8;

// ---- Mixed precision

// In units of single precision's epsilon: the residual that single precision leaves, and from where on a look that
// gained less than three tenths is the last.
inline constexpr double single_floor = 2, near_single_floor = 50, no_gain_in_single = 0.7;
// Rounding the matrix moves its eigenvalues by at most epsilon ||A||_F; the norm is known to a factor of two or so.
inline constexpr double rounding_of_matrix = 4;

}  // namespace hearsay::detail::tuning
