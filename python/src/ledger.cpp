// Privacy ledgers: the file and its rules are those of hearsay::io, compiled into the extension; SHA-256 is Python's
// own, so that the package needs no OpenSSL.
#include "hearsay/io/ledger.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/privacy.hpp"
#include "hearsay/version.hpp"

namespace hearsay::io {

std::string sha256_hex(std::string_view bytes) {
  namespace nb = nanobind;
  const nb::gil_scoped_acquire gil;
  const nb::object sha = nb::module_::import_("hashlib").attr("sha256");
  return nb::cast<std::string>(sha(nb::bytes(bytes.data(), bytes.size())).attr("hexdigest")());
}

}  // namespace hearsay::io

namespace hearsay::python {

namespace {

using Path = std::filesystem::path;

io::LedgerStamp stamp_of(std::int64_t when) { return {.when = when, .version = version}; }

double epsilon_at(double mu, double delta) { return mu > 0 ? gaussian_epsilon(mu, delta) : 0.0; }

nb::dict record_of(const io::LedgerRecord& record) {
  nb::dict out;
  const bool spend = record.kind == io::LedgerRecord::Kind::spend, torn = record.kind == io::LedgerRecord::Kind::torn;
  out["record"] = record.number;
  out["kind"] = spend ? "spend" : torn ? "torn" : "release";
  out["mu"] = record.mu;
  if (spend) {
    out["epsilon"] = record.epsilon;
    out["query"] = record.query;
    out["command"] = record.command;
  } else {
    out[torn ? "bytes" : "of"] = torn ? record.bytes : record.of;
    out["digest"] = record.digest;
  }
  out["when"] = record.stamp.when;
  out["version"] = record.stamp.version;
  out["sha256"] = record.sha256;
  return out;
}

nb::dict shown(const Path& path) {
  io::LedgerContents contents;
  {
    const nb::gil_scoped_release no_gil;
    contents = io::read_ledger(path);
  }
  const io::LedgerBudget& budget = contents.budget;
  nb::dict out;
  nb::list records;
  for (const io::LedgerRecord& record : contents.records) records.append(record_of(record));
  out["id"] = contents.id;
  out["data"] = budget.data;
  out["site"] = budget.site;
  out["neighbours"] = budget.neighbours;
  out["epsilon"] = budget.epsilon;
  out["delta"] = budget.delta;
  out["mu"] = budget.mu;
  out["mu_spent"] = contents.spent_mu;
  out["mu_left"] = contents.left_mu;
  out["epsilon_spent"] = contents.spent_mu == budget.mu ? budget.epsilon : epsilon_at(contents.spent_mu, budget.delta);
  out["sha256"] = contents.head;
  out["records"] = records;
  return out;
}

void begin(const Path& path, const std::string& data, const std::string& site, const std::string& neighbours,
           double epsilon, double delta, std::int64_t when) {
  (void)io::Ledger::begin(path,
                          {.data = data,
                           .site = site,
                           .neighbours = neighbours,
                           .epsilon = epsilon,
                           .delta = delta,
                           .mu = gaussian_mu({epsilon, delta})},
                          stamp_of(when));
}

// (id of the ledger, record, its seal)
using Receipt = std::tuple<std::string, std::int64_t, std::string>;

Receipt reserve(const Path& path, double mu, const std::string& neighbours, const std::string& query,
                const std::string& command, std::int64_t when) {
  io::Ledger ledger(path);
  const io::LedgerReceipt receipt = ledger.reserve({.mu = mu,
                                                    .epsilon = epsilon_at(mu, ledger.contents().budget.delta),
                                                    .neighbours = neighbours,
                                                    .query = query,
                                                    .command = command,
                                                    .stamp = stamp_of(when)},
                                                   epsilon_at);
  return {receipt.ledger, receipt.record, receipt.sha256};
}

void released(const Path& path, const Receipt& receipt, const std::string& digest, std::int64_t when) {
  io::Ledger(path).released(
      {.ledger = std::get<0>(receipt), .record = std::get<1>(receipt), .sha256 = std::get<2>(receipt)}, digest,
      stamp_of(when));
}

}  // namespace

void bind_ledger(nb::module_& m) {
  using nb::arg;
  const nb::call_guard<nb::gil_scoped_release> no_gil;
  m.def("ledger_show", &shown, arg("path"));
  m.def("ledger_begin", &begin, no_gil, arg("path"), arg("data"), arg("site"), arg("neighbours"), arg("epsilon"),
        arg("delta"), arg("when"));
  m.def("ledger_reserve", &reserve, no_gil, arg("path"), arg("mu"), arg("neighbours"), arg("query"), arg("command"),
        arg("when"));
  m.def("ledger_released", &released, no_gil, arg("path"), arg("receipt"), arg("digest"), arg("when"));
}

}  // namespace hearsay::python
