// One agent whose frames Python carries: bytes in, bytes out, the rest on a thread of its own.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <thread>

#include "bindings.hpp"
#include "hearsay/carried_agent.hpp"
#include "hearsay/error.hpp"

namespace hearsay::python {

namespace {

// Seconds between two looks at whether Ctrl-C was pressed.
constexpr double look_every = 0.1;

void look_for_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// The agent, and what its thread calls.
struct Running {
  nb::object callback = {};
  std::exception_ptr raised = {};
  std::optional<CarriedAgent> agent = {};  // the last member: its thread uses the others

  explicit Running(nb::object function) : callback(std::move(function)) {}
  ~Running() {
    const nb::gil_scoped_release no_gil;  // the callback may wait for it
    agent.reset();
  }

  // What the function raises is kept for result(); others hear its name alone, for a traceback is nobody's business but
  // this agent's.
  bool observe(const AgentProgress& now) {
    const nb::gil_scoped_acquire gil;
    try {
      return !callback(now.entry).is(nb::handle(Py_False));
    } catch (nb::python_error& error) {
      const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
      raised = std::current_exception();
      throw Error(fmt::format("its callback raised {}", type));
    }
  }
};

class Agent {
 public:
  Agent(Index self, AgentRows rows, FederationSettings federation, bool told_time, std::uint64_t nonce,
        nb::object callback)
      : running_(std::make_shared<Running>(std::move(callback))) {
    AgentHooks hooks{.nonce = nonce};
    if (!running_->callback.is_none())
      hooks.observe = [here = running_.get()](const AgentProgress& now) { return here->observe(now); };
    const auto clock = told_time ? HandLinks::Clock::told : HandLinks::Clock::own;
    running_->agent.emplace(self, std::move(rows), std::move(federation), std::move(hooks), clock);
  }

  // Where its own callback let go of it last, somebody else has to wait for the thread.
  ~Agent() {
    if (!running_ || !running_->agent || !running_->agent->on_its_thread()) return;
    std::thread([left = std::move(running_)]() mutable {
      const nb::gil_scoped_acquire gil;
      left.reset();
    }).detach();
  }

  void close() {
    require(!running_ || !running_->agent->on_its_thread(),
            "close(): cannot be called by the agent's own callback, which may return False in its place");
    if (running_) running_->agent->links().abandon();  // for a thread that waits in frames()
    running_.reset();
  }

  bool is_closed() const { return !running_; }
  bool done() const { return !running_ || running_->agent->links().done(); }

  void receive(Index from, const nb::bytes& frame) {
    const auto here = running();
    const std::span bytes(static_cast<const std::byte*>(frame.data()), frame.size());
    until([&](double seconds) { return here->agent->links().receive(from, bytes, seconds); });
  }

  // All that is there to be sent once the agent has come to rest; where that is nothing, as soon as there is
  // something, but no later than after so many seconds.
  nb::list frames(std::optional<double> seconds) {
    const auto here = running();
    HandLinks& links = here->agent->links();
    until([&](double slice) { return links.rests(slice); });
    std::vector<CarriedFrame> taken = links.take();
    for (double left = seconds.value_or(0); taken.empty() && !links.done() && (!seconds || left > 0);) {
      const double slice = seconds ? std::min(left, look_every) : look_every;
      {
        const nb::gil_scoped_release no_gil;
        links.await_frames(slice);
      }
      look_for_signals();
      taken = links.take();
      left -= slice;
    }
    nb::list out;
    for (const CarriedFrame& frame : taken)
      out.append(nb::make_tuple(frame.to, nb::bytes(frame.bytes.data(), frame.bytes.size())));
    return out;
  }

  void opened(Index peer) { running()->agent->links().opened(peer); }
  void closed(Index peer, const std::string& reason) { running()->agent->links().closed(peer, reason); }
  void tell(double seconds) { running()->agent->links().tell(seconds); }
  void stop() { running()->agent->stop(); }
  void leave() { running()->agent->leave(); }
  std::vector<Index> neighbours() const {
    const auto all = running()->agent->links().neighbours();
    return {all.begin(), all.end()};
  }
  double now() const { return running()->agent->links().now(); }

  nb::dict result() {
    const auto here = running();
    const AgentOutcome outcome = [&] {
      try {
        return here->agent->outcome();
      } catch (const Error&) {
        if (here->agent->links().done() && here->raised) std::rethrow_exception(here->raised);
        throw;
      }
    }();
    nb::list links;
    for (const protocol::PeerCounts& link : outcome.links)
      links.append(nb::make_tuple(link.peer, link.frames_sent, link.bytes_sent, link.frames_received,
                                  link.bytes_received, link.reconnections, link.waited));
    nb::dict out;
    out["number"] = outcome.self;
    out["result"] = dictionary_of(DecentralizedResult(outcome.result), false);
    out["features"] = nb::cast(outcome.features);
    out["columns_moved"] = outcome.columns_moved;
    out["samples"] = outcome.totals.samples;
    out["sizes"] = nb::cast(outcome.totals.sizes);
    out["mean"] = given(Vector<double>(outcome.totals.mean));
    out["tolerance"] = outcome.options.tolerance;
    out["run_id"] = outcome.run_id;
    out["unconfirmed"] = outcome.unconfirmed;
    out["links"] = links;
    out["seconds"] = outcome.seconds;
    return out;
  }

 private:
  std::shared_ptr<Running> running() const {
    require(running_ != nullptr, "the agent: was closed");
    return running_;
  }

  // Without the interpreter's lock, but with a look at Ctrl-C now and then.
  template <class Attempt>
  static void until(const Attempt& attempt) {
    while (true) {
      {
        const nb::gil_scoped_release no_gil;
        if (attempt(look_every)) return;
      }
      look_for_signals();
    }
  }

  std::shared_ptr<Running> running_;  // and a call in progress
};

FederationSettings federation_of(const std::vector<std::string>& names, const GossipMatrix& W, const Options& options,
                                 bool centred, const std::string& configuration, const std::vector<double>& patience) {
  const auto [network, settings] = decentralized_settings_from(options);
  return {
      .names = names,
      .W = W,
      .digest = configuration,
      .network = network,
      .settings = settings,
      .center = centred,
      .patience = {
          .greeting = patience.at(0), .round = patience.at(1), .link = patience.at(2), .heartbeat = patience.at(3)}};
}

}  // namespace

void bind_agent(nb::module_& m) {
  using nb::arg;
  nb::class_<Agent>(m, "Agent", "One agent whose frames the caller carries.")
      .def(
          "__init__",
          [](Agent* self, Index number, const MatrixIn<double>& rows, std::vector<std::string> columns,
             const std::vector<std::string>& names, const GossipMatrix& W, const Options& options, bool centred,
             const std::string& configuration, const std::vector<double>& patience, bool told_time, std::uint64_t nonce,
             nb::object callback) {
            FederationSettings federation = federation_of(names, W, options, centred, configuration, patience);
            new (self) Agent(number, {.rows = copied<double>(rows), .columns = std::move(columns)},
                             std::move(federation), told_time, nonce, std::move(callback));
          },
          arg("number"), arg("rows").noconvert(), arg("columns"), arg("names"), arg("matrix"), arg("options"),
          arg("centred"), arg("configuration"), arg("patience"), arg("told_time"), arg("nonce"), arg("callback").none())
      .def_prop_ro("neighbours", &Agent::neighbours)
      .def_prop_ro("done", &Agent::done)
      .def_prop_ro("is_closed", &Agent::is_closed)
      .def_prop_ro("now", &Agent::now)
      .def("receive", &Agent::receive, arg("neighbour"), arg("frame"))
      .def("frames", &Agent::frames, arg("timeout").none())
      .def("opened", &Agent::opened, arg("neighbour"))
      .def("closed", &Agent::closed, arg("neighbour"), arg("reason"))
      .def("tell", &Agent::tell, arg("seconds"))
      .def("stop", &Agent::stop)
      .def("leave", &Agent::leave)
      .def("close", &Agent::close)
      .def("result", &Agent::result);
}

}  // namespace hearsay::python
