// The option table. One record per option, in the order in which the reference page and --help list them.
#include "hearsay/options.hpp"

#include "hearsay/error.hpp"

namespace hearsay {

namespace {

using enum OptionKind;
using enum OptionGroup;

constexpr OptionRecord table[] = {
    // name, aliases, metavar, kind, default, range, help, group, commands
    {"rank", "-k", "K", text, "", "from 1 to the dimension; of pca also a share between 0 and 1, or mle",
     "How many components to find: a number; for pca also as few as explain more than a share of the variance (0.95), "
     "or as many as Minka's criterion finds in all the eigenvalues (mle, up to 4000 features)",
     solver, in_solves | in_decentralized | in_plan | in_svd},
    {"which", "", "END", choice, "LA", "LA|SA|LM|BE",
     "Which eigenvalues: LA the largest, descending; SA the smallest, ascending; LM the largest in magnitude, by "
     "decreasing magnitude; BE half of them from each end, of an odd number one more from the high end, descending. "
     "The matrix may have negative eigenvalues",
     solver, in_eigs},
    {"algorithm", "", "NAME", choice, "adeepca", "depm|adepm|deepca|adeepca",
     "depm: gossiped power method; adepm: the same with momentum; deepca: tracks the product, so that rounds set no "
     "floor; adeepca: momentum and tracking",
     solver, in_decentralized},
    {"method", "", "NAME", choice, "auto", "auto|anpm|npm|krylov|direct|averaged",
     "anpm: the accelerated noisy power method; npm: the plain one (the same as --momentum none); krylov: a block "
     "Krylov space, for exact products; direct: the matrix is formed and all its eigenvalues found, up to dimension "
     "5000; averaged: for noisy products, anpm on a wide block, then averages of a narrow "
     "one, with an error bar; auto: averaged where products are noisy, krylov where they are exact and costly beside a "
     "vector, and nothing else is said about the iteration, of dense rows direct where that costs less, else anpm",
     solver, in_solves | in_svd},
    {"momentum", "", "RULE", choice, "auto", "auto|paper|optimal|none|VALUE",
     "auto: from the smallest Ritz value of the block; paper: from the smallest diagonal entry of X'AX; optimal: from "
     "lambda_(k+1), computed first; a number is the paper's beta, and 2 sqrt(beta) must lie below lambda_k",
     solver, in_solves | in_decentralized | in_svd},
    {"damping", "", "RULE", choice, "auto", "auto|centred|symmetric",
     "The unwanted interval: centred [0, b] needs no negative eigenvalue and takes about 1.4 times fewer iterations; "
     "symmetric [-b, b] is the paper's; auto: centred where the matrix is known to have no negative eigenvalue",
     solver, in_solves | in_decentralized | in_svd},
    {"tolerance", "", "EPS", real, "1e-10, in single precision 1e-5", "finite and positive; 0 where agents gossip",
     "Stop when ||A V - V V'AV||_F / ||A V||_F of the basis returned is at most this; agents stop together, and 0 "
     "makes them "
     "run "
     "all the iterations",
     solver, in_solves | in_decentralized | in_svd},
    {"accuracy", "", "EPS", real, "0", "at least 0, below 1",
     "Stop when sin(theta) is estimated to be at most this, under noise when the error bar is; without a tolerance of "
     "its own, the tolerance is the same number; 0: the tolerance decides alone",
     solver, in_solves | in_svd},
    {"products", "", "N", integer, "no limit", "at least 1",
     "Multiply at most so many columns by the matrix; under noise all of them are spent, and the more the better. "
     "without --max-iterations it is the only limit",
     solver, in_solves | in_svd},
    {"certify", "", "LEVEL", choice, "full", "none|residual|full",
     "How much to find out about the answer: full looks for what may have been missed, with products of its own; "
     "residual spends none on that; none says nothing beyond the residual",
     solver, in_solves | in_svd},
    {"max-iterations", "iterations", "N", integer, "1000", "at least 0",
     "Stop after so many iterations in any case; where --products is given, there is no such limit by itself", solver,
     in_solves | in_decentralized | in_plan | in_svd},
    {"oversample", "", "P", integer, "auto", "auto, or at least 0, and 1 where momentum adapts",
     "Extra columns in the block; auto: 1 under noise where nothing is averaged, on large sparse matrices 2 and as "
     "many more as make the block a "
     "multiple of 8 columns wide, else max(k, 4), and what is chosen may change on the way; among agents only adeepca "
     "takes more than 1, to begin with",
     solver, in_solves | in_decentralized | in_svd},
    {"qr-every", "", "N", integer, "auto", "auto, or at least 1",
     "Steps from one QR, and one look at the residual, to the next; auto: 1, the paper's, where products are noisy or "
     "costly beside a QR, else as many as the block's conditioning allows",
     solver, in_solves | in_svd},
    {"cooldown", "", "N", integer, "20", "at least 0",
     "Momentum-free steps after a noisy plateau, where nothing is averaged; they lower a white-noise floor", solver,
     in_solves},
    {"seed", "", "S", integer, "0", "at least 0", "Drives the random start block and nothing else", solver,
     in_solves | in_decentralized | in_svd},
    {"precision", "", "NAME", choice, "double", "double|single|mixed|auto|tf32|fp16",
     "The arithmetic; mixed does in single precision what single precision can certify and the rest in double. On a "
     "device, what products are made in: auto, which is its default, fp16, tf32, single or double; auto is the "
     "cheapest "
     "whose rounding allows the accuracy, and better ones where it does not",
     solver, in_solves | in_svd},

    {"device", "", "NAME", text, "cpu", "cpu|cuda|cuda:N|cuda,cpu|cuda:N,cpu",
     "Where to compute: cuda is the first CUDA device, cuda:1 the second; to a sine of --accuracy (1e-4 by itself), "
     "where hearsay was built with CUDA. With cpu after a comma, here where that cannot be",
     solver, in_eigs | in_pca | in_cluster | in_svd},

    {"agents", "", "N", integer, "as many as there are shards", "at least 1", "Agents in the network", network,
     in_decentralized | in_plan},
    {"split", "", "RULE", text, "even", "even|contiguous|by-label|by-node|FILE",
     "Who holds which rows: drawn evenly, cut in order, one agent per label, or the agent of each row from a file; "
     "by-node: DATA is a graph, and each agent one of its nodes. Several files, or a directory of them, are one shard "
     "each",
     network, in_decentralized | in_plan},
    {"topology", "", "GRAPH", text, "ring",
     "ring|path|star|complete|grid[:RxC]|torus[:RxC]|erdos:P|regular:D|data|FILE",
     "Who talks to whom: a graph by name, with probability P or degree D at random, an edge list, or (data) the graph "
     "that is analysed",
     network, in_decentralized | in_plan},
    {"extra-edges", "", "N", integer, "0", "at least 0", "Random edges added to the topology", network,
     in_decentralized | in_plan},
    {"weights", "", "RULE", text, "auto", "auto|ring|metropolis|lazy|FILE",
     "The gossip matrix: the paper's ring weights, Metropolis-Hastings on any graph, half of either (lazy), or an n x "
     "n "
     "matrix from a file; auto: ring weights on a ring, else Metropolis-Hastings",
     network, in_decentralized | in_plan},
    {"network-seed", "", "S", integer, "0", "at least 0", "Drives random graphs and random splits", network,
     in_decentralized | in_plan},
    {"nodes", "", "N", integer, "all", "at least 1", "Keep the first N nodes of the graph, with --split by-node",
     network, in_decentralized},
    {"gossip", "", "KIND", choice, "chebyshev", "plain|accelerated|chebyshev",
     "How rounds are combined: not at all, the paper's way, or the best polynomial on the measured spectrum", network,
     in_decentralized},
    {"rounds", "", "L", integer, "auto", "auto, or at least 1",
     "Gossip rounds in every iteration; auto measures what the noise condition asks for", network,
     in_decentralized | in_plan},
    {"message-precision", "", "NAME", choice, "double", "double|single|bfloat16",
     "What blocks are rounded to on their way; changes are sent, so that the rounding fades", network,
     in_decentralized | in_plan},

    {"faults", "", "FILE.json", file, "", "see docs/reference/faults.md", "Faults to suffer, as a script", faults,
     in_decentralized},
    {"drop", "", "P", real, "", "from 0 to 1", "Each link is down with this probability, in every round", faults,
     in_decentralized},
    {"loss", "", "P", real, "", "from 0 to 1", "Each message is lost with this probability", faults, in_decentralized},
    {"delay", "", "P:ROUNDS", text, "", "a probability and a number of rounds",
     "Each message is so many rounds late with this probability; one that is later than the patience of 2 is lost",
     faults, in_decentralized},
    {"crash", "", "AGENT@T", text, "", "an agent from 0 and an iteration from 1; may be repeated",
     "The agent is gone, and its data with it, before that iteration", faults, in_decentralized},
    {"rejoin", "", "AGENT@T", text, "", "an agent from 0 and an iteration from 1; may be repeated",
     "It is back with its data", faults, in_decentralized},
    {"fault-seed", "", "S", integer, "0", "at least 0", "Drives the faults and nothing else", faults, in_decentralized},

    {"noise", "", "MODEL", choice, "none", "none|gaussian:SIGMA|sphere:XI|adversarial:XI",
     "Adds errors to every product: independent N(0, SIGMA^2) entries, or a block of spectral norm XI in a random or "
     "in the worst direction",
     noise, in_solves},
    {"noise-norm", "", "XI", real, "", "finite and at least 0",
     "Your word that no product's error exceeds this in spectral norm: it is added to the error bar, over the gap, for "
     "errors that are not independent",
     noise, in_solves},
    {"turn", "", "RULE", choice, "auto", "auto|none|signs|rotations",
     "Turns the block before each product and back after it, so that errors which are alike every time average out: by "
     "random signs, or random rotations, which rounding needs; auto: rotations where products are said to be "
     "approximate",
     noise, in_solves},
    {"noise-seed", "", "S", integer, "0", "at least 0",
     "Drives the noise, and which rows --batch draws, and nothing else", noise, in_solves},

    {"center", "centre", "", flag, "true", "",
     "Subtract the mean of every feature; --no-center leaves the data as they are", input,
     in_pca | in_decentralized | in_plan},
    {"standardize", "standardise", "", flag, "false", "",
     "Divide every feature by its standard deviation (divisor m - 1), so that units do not matter; constant features "
     "are named and left at zero",
     input, in_pca},
    {"missing", "", "POLICY", choice, "refuse", "refuse|drop-rows|mean|em",
     "Cells that are empty, NA or NaN: an error that names the first; their rows left out; the mean of their column; "
     "or "
     "filled in from the components, again and again until they come to rest (em). Of project: by the mean, or the "
     "components, of the analysis",
     input, in_pca | in_project},
    {"row-weights", "", "FILE", file, "", "a number per row, finite and not negative",
     "A row of weight 2 counts as two rows, one of weight 0 not at all: a .npy or .csv file of one column. The "
     "covariance is divided by their sum less one",
     input, in_pca},
    {"weights-column", "", "N|NAME|last", text, "", "a number counted from 1, a name of the header, or last",
     "A column of the data that holds the weights of the rows, and is no feature; counted without the label column",
     input, in_pca},
    {"components-from", "", "FILE", file, "", "a result as JSON, or a d x k array: .npy, .csv",
     "The basis to project on: the result that pca --json wrote, which brings mean, scale and column names and names "
     "its "
     "--components; or that basis alone, with --mean-from and --scale-from",
     input, in_project},
    {"mean-from", "", "FILE", file, "", "d numbers: .npy or .csv",
     "What to subtract from every row, where the basis comes without it; nothing is subtracted otherwise. With --dp: "
     "the public mean of --dp-center given",
     input, in_pca | in_decentralized | in_project},
    {"scale-from", "", "FILE", file, "", "d positive numbers: .npy or .csv",
     "What to divide every feature by, where the basis comes without it", input, in_project},
    {"label-column", "", "N|NAME|last", text, "", "a number counted from 1, a name of the header, or last",
     "A column that is no feature, and is left out; --split by-label goes by it", input,
     in_pca | in_decentralized | in_plan | in_svd | in_project},
    {"dataset", "", "PLACE", text, "", "X, layers/counts, group/matrix",
     "Which matrix of an HDF5 or .npz file to take, where it holds more than one; of AnnData X unless another is named",
     input, in_pca | in_svd | in_project},
    {"columns", "", "RULE", choice, "by-name", "by-name|by-position",
     "Which columns of two shards, or of new data and the analysis, are the same feature: those of the same name in "
     "their headers, in the order of the first, or those in the same place",
     input, in_decentralized | in_plan | in_project},
    {"shift", "", "SIGMA", real, "0", "finite",
     "Solve A + SIGMA I; the eigenvalues reported are those of A. The power iteration finds a shift by itself where it "
     "meets a negative eigenvalue; a momentum given as a number, an audit and a checkpoint need it from you",
     input, in_eigs},
    {"psd", "", "", flag, "false", "", "Take it as known that the matrix (with its shift) has no negative eigenvalue",
     input, in_eigs},
    {"start", "", "FILE.npy", file, "", "a d x p array, finite", "A warm start; missing columns are random", input,
     in_solves | in_svd},
    {"stream", "", "", flag, "false", "",
     "Read the file block by block instead of loading it: once where the covariance fits the memory allowed, else once "
     "for every product. A file that is larger than the memory allowed is streamed anyway",
     input, in_pca | in_project},
    {"passes", "", "N", integer, "as many as are needed", "at least 1; at least 2 where columns or rows are treated",
     "Of a stream: read the data at most so often, and return what was found with its measured error", input, in_pca},
    {"block-rows", "", "N", integer, "some megabytes", "at least 1",
     "Rows read at once with --stream; the result does not depend on it", input, in_pca | in_project},
    {"raw-shape", "", "ROWSxCOLUMNS", text, "", "whole numbers of at least 1; COLUMNS alone takes all rows there are",
     "The file is numbers and nothing else, row by row, so many of them", input, in_pca | in_project},
    {"raw-type", "", "TYPE", text, "f4", "f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 or b1; < or > before it",
     "What the numbers of a raw file are, as NumPy names it: f4 is single precision; > before it means high bytes "
     "first",
     input, in_pca | in_project},
    {"raw-skip", "", "BYTES", integer, "0", "at least 0", "Bytes before the first number of a raw file", input,
     in_pca | in_project},
    {"batch", "", "ROWS", integer, "all rows", "above the rank, at most the number of rows",
     "Multiply by the covariance of so many rows at a time, a noisy product: drawn at random, or with --stream as they "
     "come. Ends after three passes over the data, unless --products or --max-iterations says otherwise; the answer "
     "has an error bar",
     input, in_pca},
    {"largest-component", "", "", flag, "false", "", "Keep only the largest connected component of the graph", input,
     in_cluster},

    {"dp", "", "EPS,DELTA", text, "", "EPS above 0, at most 100; DELTA positive, at most 0.5",
     "Differential privacy: release the covariance once, with noise for this budget, and components of that; what else "
     "is told is made of the release. Of plan: what such a release will be worth",
     privacy, in_pca | in_decentralized | in_plan},
    {"row-norm", "", "B", real, "", "positive",
     "Shorten every row to this norm, which must be chosen without a look at the data: the noise grows with its square",
     privacy, in_pca | in_decentralized | in_plan},
    {"neighbours", "neighbors", "KIND", choice, "add-remove", "add-remove|replace",
     "Which data sets must look alike: with a row more or less, or with a row in another's place, which takes more "
     "noise",
     privacy, in_pca | in_decentralized | in_plan},
    {"dp-center", "dp-centre", "KIND", choice, "none", "none|given|dp-mean",
     "What is subtracted from every row before it is shortened: nothing; a public mean (--mean-from); or a mean that "
     "is released too, for a tenth of the squared budget, and needs --public-rows",
     privacy, in_pca | in_decentralized | in_plan},
    {"public-rows", "", "N", integer, "", "from 1 to 67108864",
     "How many rows there are, where everybody may know: turns sums of squares into variances", privacy,
     in_pca | in_decentralized | in_plan},
    {"release", "", "FORM", choice, "auto", "auto|stored|lazy|fresh",
     "How the noisy covariance is released: d x d numbers at once; its noise drawn as products with it are asked for, "
     "which reads the rows for each; or three products with fresh noise each, which is less accurate. By itself the "
     "first, or the second where four times d x d numbers are more than half of the memory",
     privacy, in_pca},
    {"ledger", "", "FILE", file, "the input with .ledger behind it", "",
     "What was spent of the budget, written before a row is read; begun where it is not there yet. Agents with files "
     "of "
     "their own have a ledger each: {agent} in the name stands for the number",
     privacy, in_pca | in_decentralized},
    {"budget", "", "EPS,DELTA", text, "that of --dp", "as --dp",
     "All that may ever be spent on these data, stated when the ledger is begun", privacy, in_pca | in_decentralized},
    {"site", "", "NAME", text, "", "", "Where these data lie, for a ledger of one site among many", privacy,
     in_pca | in_decentralized},
    {"insecure-seed", "", "S", integer, "", "at least 0",
     "Noise that can be repeated, for tests: nothing that is written is private, and says so", privacy,
     in_pca | in_decentralized},
    {"trust", "", "WHOM", choice, "none", "none|neighbours|secure",
     "Whom agents trust with their rows: nobody, so that each adds its full noise before anything is sent; each other, "
     "so that each adds a part; or sums under masks, which show no summand",
     privacy, in_decentralized},
    {"colluders", "", "N", integer, "1", "from 0 to one below the agents",
     "With --trust secure: so many agents may put together what they know, and the budget still holds against them",
     privacy, in_decentralized},
    {"spectrum", "", "LIST|i^-P", text, "", "variances, descending; or a power above 0",
     "A guess at the variances, for --dp: numbers with commas between them, what follows being zero; or i^-1, of which "
     "the sum is what rows of norm --row-norm have",
     privacy, in_plan},

    {"reference", "", "FILE.npy", file, "", "a d x k array; of more columns the first k count",
     "A known answer: sin(theta) against it is reported for every iteration; among agents in one process `exact` pools "
     "the data to compute it",
     theory, in_solves | in_decentralized},
    {"audit", "", "EPSILON", real, "", "between 0 and 1",
     "Hold every step against the theory's noise conditions and envelope for this accuracy; needs --reference above "
     "5000 dimensions",
     theory, in_pca | in_eigs},

    {"clusters", "", "C", integer, "k", "at least 1", "How many clusters to make of the embedding", clustering,
     in_cluster},
    {"restarts", "", "N", integer, "10", "at least 1", "Independent starts of k-means; the best is kept", clustering,
     in_cluster},

    {"checkpoint", "", "FILE", file, "", "", "Save the solve here as it goes", checkpoint, in_solves | in_svd},
    {"checkpoint-every", "", "N", integer, "100", "at least 1", "Iterations between two checkpoints", checkpoint,
     in_solves | in_svd},
    {"resume", "", "", flag, "false", "", "Go on from the checkpoint; the result is that of an uninterrupted run",
     checkpoint, in_solves | in_svd},

    {"components", "", "FILE", file, "", "ends in .npy or .csv",
     "Write the d x k basis: columns by decreasing eigenvalue, the largest entry of each positive; of the "
     "first agent, or of every one where the name has {agent} in it",
     output, in_pca | in_eigs | in_decentralized},
    {"left", "", "FILE", file, "", "ends in .npy or .csv", "Write the m x k left singular vectors, a column each",
     output, in_svd},
    {"right", "", "FILE", file, "", "ends in .npy or .csv",
     "Write the n x k right singular vectors: a column each, its largest entry positive", output, in_svd},
    {"scores", "", "FILE", file, "", "ends in .npy or .csv", "Write the m x k coordinates of the samples", output,
     in_pca | in_project},
    {"whiten", "", "", flag, "false", "", "Scores of variance one: each divided by the root of its eigenvalue", output,
     in_pca | in_project},
    {"embedding", "", "FILE", file, "", "ends in .npy or .csv",
     "Write the embedding, a row per node: the eigenvectors, each row scaled to length one", output, in_cluster},
    {"labels", "", "FILE.csv", file, "", "ends in .csv", "Write a line 'node,cluster' per node", output, in_cluster},
    {"json", "", "FILE|-", file, "", "", "Write the result as JSON; - prints it, and nothing else, on standard output",
     output, in_solves | in_decentralized | in_plan | in_svd | in_project},
    {"report", "", "FILE.html", file, "", "ends in .html or .svg",
     "Write a page with pictures: eigenvalues, convergence, scores, components, network, certificate, provenance; "
     ".svg: "
     "the pictures alone",
     output, in_solves | in_decentralized | in_svd},
    {"trace", "", "FILE.csv", file, "", "ends in .csv",
     "Write a line per iteration: rounds, bytes, residual, agreement", output, in_decentralized},
    {"out", "", "DIR", file, "figures", "", "The directory for figures, data, claims and the page; made if need be",
     output, in_experiments},
    {"quick", "", "", flag, "false", "",
     "A smaller version of the experiment, as it says itself: fewer seeds, smaller dimensions", running,
     in_experiments},
    {"quiet", "-q", "", flag, "false", "", "No progress line", output,
     in_solves | in_decentralized | in_experiments | in_svd},

    {"data", "", "FILE", file, "", "", "Take the eigenvalues of the covariance of these data", input, in_plan},
    {"matrix", "", "FILE", file, "", "", "Take the eigenvalues of this symmetric matrix", input, in_plan},
    {"dimension", "-d", "D", integer, "", "above the rank", "The dimension of the matrix", theory, in_plan},
    {"lambda-1", "", "L", real, "lambda-k", "at least lambda-k", "The largest eigenvalue", theory, in_plan},
    {"lambda-k", "", "L", real, "", "positive", "The smallest eigenvalue wanted", theory, in_plan},
    {"lambda-next", "", "L", real, "", "from 0 to below lambda-k", "The largest eigenvalue not wanted", theory,
     in_plan},
    {"epsilon", "", "EPS", real, "0.01", "between 0 and 1", "The sine of the largest angle to reach", theory, in_plan},
    {"start-tangent", "", "H0", real, "that of a random start", "positive", "tan(theta_k) at the start", theory,
     in_plan},
    {"noise-level", "", "XI", real, "", "at least 0", "A bound on the spectral norm of the noise", theory, in_plan},
    {"noise-sigma", "", "SIGMA", real, "", "at least 0",
     "The standard deviation of independent errors in every entry of a product: says how many products averages need",
     theory, in_plan},
    {"small-beta", "", "BETA", real, "", "above 0, at most lambda-next^2 / 4", "Adds a row for this smaller momentum",
     theory, in_plan},
    {"gossip-gap", "", "GAMMA", real, "that of the topology", "above 0, at most 1",
     "The spectral gap of the gossip matrix, where no topology is given", theory, in_plan},
    {"max-norm", "", "M", real, "that of the shards, or lambda-1", "at least lambda-k",
     "The largest norm of an agent's own matrix", theory, in_plan},
    {"degree", "", "DEG", real, "that of the topology, or 2", "at least 0",
     "Neighbours of an agent, for the bytes it sends", theory, in_plan},

    {"one-per-rank", "", "", flag, "false", "", "Refuse to put two agents' data into one process", running,
     in_decentralized},
    {"timeout", "", "SECONDS", real, "600", "positive, at most 1e6",
     "On several ranks, how long one waits for the others before the whole job ends with exit code 4; without it 60 "
     "for "
     "the start. A rank that reads or multiplies for long is waited for too",
     running, in_decentralized | in_pca},
    {"threads", "", "N", integer, "all", "at least 1", "Threads to use; results do not depend on it", running,
     in_solves | in_decentralized | in_plan | in_experiments | in_svd | in_project},
    {"memory", "", "SIZE", text, "0.9 of what the machine, its control group and its limits allow",
     "bytes, or a number with K, M, G or T behind it; at least 16M",
     "Refuse what would need more memory than this, before it is taken; lines, columns and blocks are held to it",
     running, in_solves | in_decentralized | in_plan | in_experiments | in_svd | in_project},
};

}  // namespace

std::span<const OptionRecord> option_table() { return table; }

const OptionRecord& find_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionRecord& record : table) {
    if (record.name == name) return record;
    names.push_back(record.name);
  }
  throw InvalidArgument("option " + std::string(name) + ": is not known" + did_you_mean(name, names));
}

std::string_view title(OptionGroup group) {
  switch (group) {
    case solver:
      return "Solver";
    case network:
      return "Network";
    case faults:
      return "Faults";
    case noise:
      return "Noise";
    case input:
      return "Input";
    case privacy:
      return "Privacy";
    case theory:
      return "Theory";
    case clustering:
      return "Clustering";
    case OptionGroup::checkpoint:
      return "Checkpoints";
    case output:
      return "Output";
    case running:
      return "Running";
  }
  return "";
}

}  // namespace hearsay
