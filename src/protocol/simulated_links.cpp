// Every agent's body runs on a thread of its own, because it blocks; but a baton goes round, and only who holds it
// runs. It is handed on in poll(): to the agent whose next event or deadline comes first, and the clock goes on to
// then.
#include "hearsay/simulated_links.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "network/entries.hpp"

namespace hearsay {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class World {
 public:
  World(Index agents, const Simulation& simulation)
      : simulation_(&simulation),
        agents_(static_cast<std::size_t>(agents)),
        turned_(static_cast<std::size_t>(agents)) {}

  double now() const { return now_; }  // changes only while the caller does not run

  void begin(Index agent) {
    std::unique_lock lock(mutex_);
    if (++ready_ == agents_.size()) hand_on();  // nobody runs before all are there
    await_turn(lock, agent);
  }

  // After its death, when its time has come.
  void begin_again(Index agent, std::span<const Index> neighbours) {
    std::unique_lock lock(mutex_);
    await_turn(lock, agent);
    Agent& own = of(agent);
    own.events.clear();
    own.waits = own.ended = false;
    own.revived = true;
    for (const Index neighbour : neighbours)
      if (!broken(agent, neighbour)) arrive(neighbour, now_, {.kind = LinkEvent::Kind::opened, .peer = agent});
  }

  bool has_revival(Index agent) const {
    const auto i = static_cast<std::size_t>(agent);
    return i < simulation_->revives_at.size() && simulation_->revives_at[i] < never;
  }

  void open(Index agent, std::span<const Index> neighbours) {
    for (const Index neighbour : neighbours) {
      arrive(agent, now_, {.kind = LinkEvent::Kind::opened, .peer = neighbour});
      if (of(neighbour).ended) arrive(agent, now_, closed_by(neighbour));
    }
  }

  bool send(Index from, Index to, std::vector<std::byte> frame) {
    live(from);
    if (of(to).ended || broken(from, to)) return false;
    Link& link = links_[{from, to}];
    const SentFrame sent{.from = from, .to = to, .number = link.sent++, .time = now_, .bytes = frame};
    const Delivery delivery = simulation_->deliver ? simulation_->deliver(sent) : Delivery{};
    if (delivery.breaks_link) {
      break_link(from, to, delivery.heals_after);
      return true;  // as far as the sender can tell
    }
    if (!delivery.instead.empty()) frame = delivery.instead;
    for (const double after : delivery.after) {
      double time = now_ + after;
      if (delivery.in_order) time = link.last = std::max(time, link.last);
      arrive(to, time, {.kind = LinkEvent::Kind::frame, .peer = from, .frame = frame});
    }
    return true;
  }

  LinkEvent poll(Index agent, double deadline) {
    std::unique_lock lock(mutex_);
    live(agent);
    Agent& own = of(agent);
    if (next_time(own) > now_ && deadline > now_) {
      own.deadline = deadline;
      own.waits = true;
      hand_on();
      await_turn(lock, agent);
      live(agent);
    }
    if (next_time(own) > now_) return {};
    LinkEvent event = std::move(own.events.begin()->second);
    own.events.erase(own.events.begin());
    return event;
  }

  void end(Index agent, std::span<const Index> neighbours) {
    const std::unique_lock lock(mutex_);
    of(agent).ended = true;
    for (const Index neighbour : neighbours)
      if (!died(agent) || simulation_->death_closes_links) {
        const double last = links_[{agent, neighbour}].last;  // after all that is still on its way
        arrive(neighbour, std::max(now_, last), closed_by(agent));
      }
    of(agent).waits = died(agent) && has_revival(agent);
    hand_on();
  }

 private:
  struct Agent {
    std::multimap<double, LinkEvent> events;  // by when they arrive, and then in the order they were made
    double deadline = 0;
    bool waits = true, ended = false, revived = false;
  };
  struct Link {
    std::int64_t sent = 0;
    double last = 0;  // arrival
  };

  Agent& of(Index agent) { return agents_[static_cast<std::size_t>(agent)]; }
  static double next_time(const Agent& agent) { return agent.events.empty() ? never : agent.events.begin()->first; }

  static LinkEvent closed_by(Index agent) {
    return {.kind = LinkEvent::Kind::closed, .peer = agent, .reason = "the agent has left"};
  }

  double death_of(Index agent) const {
    const auto i = static_cast<std::size_t>(agent);
    return i < simulation_->dies_at.size() && !agents_[i].revived ? simulation_->dies_at[i] : never;
  }
  bool died(Index agent) const { return now_ >= death_of(agent); }
  void live(Index agent) const {
    if (died(agent)) throw AgentDied{};
  }

  void arrive(Index to, double time, LinkEvent event) {
    if (!of(to).ended) of(to).events.emplace(time, std::move(event));
  }

  bool broken(Index a, Index b) {
    const auto found = healed_at_.find(std::minmax(a, b));
    return found != healed_at_.end() && now_ < found->second;
  }

  // What is on its way between the two is lost with it.
  void break_link(Index a, Index b, double heals_after) {
    healed_at_[std::minmax(a, b)] = now_ + heals_after;
    for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)}) {
      std::erase_if(of(here).events, [&, other = there](const auto& event) { return event.second.peer == other; });
      arrive(here, now_, {.kind = LinkEvent::Kind::closed, .peer = there, .reason = "the link broke"});
      if (heals_after < never) arrive(here, now_ + heals_after, {.kind = LinkEvent::Kind::opened, .peer = there});
    }
  }

  // To who is woken first: by an event, by its deadline, or to die.
  void hand_on() {
    turn_ = -1;
    double first = never;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      const Agent& agent = agents_[i];
      if (!agent.waits) continue;
      const double wakes = agent.ended ? simulation_->revives_at[i]
                                       : std::min({next_time(agent), agent.deadline, death_of(static_cast<Index>(i))});
      if (turn_ >= 0 && wakes >= first) continue;
      first = wakes;
      turn_ = static_cast<Index>(i);
    }
    if (turn_ >= 0 && first < never) now_ = std::max(now_, first);
    if (turn_ >= 0) turned_[static_cast<std::size_t>(turn_)].notify_one();
  }

  void await_turn(std::unique_lock<std::mutex>& lock, Index agent) {
    turned_[static_cast<std::size_t>(agent)].wait(lock, [&] { return turn_ == agent; });
    of(agent).waits = false;
  }

  const Simulation* simulation_;
  std::mutex mutex_;
  std::vector<Agent> agents_;
  std::deque<std::condition_variable> turned_;                // by agent
  std::map<std::pair<Index, Index>, Link> links_;             // from, to
  std::map<std::pair<Index, Index>, double> healed_at_ = {};  // the lesser first
  double now_ = 0;
  Index turn_ = -1;
  std::size_t ready_ = 0;
};

class SimulatedLinks final : public Links {
 public:
  SimulatedLinks(World& world, Index self, std::vector<Index> neighbours, bool again)
      : world_(&world), self_(self), neighbours_(std::move(neighbours)) {
    if (again)
      world_->begin_again(self_, neighbours_);
    else
      world_->begin(self_);
    world_->open(self_, neighbours_);
  }
  ~SimulatedLinks() override { world_->end(self_, neighbours_); }

  Index self() const override { return self_; }
  std::span<const Index> neighbours() const override { return neighbours_; }
  bool send(Index peer, std::vector<std::byte> frame, double) override {
    return world_->send(self_, peer, std::move(frame));
  }
  LinkEvent poll(double deadline) override { return world_->poll(self_, deadline); }
  double now() const override { return world_->now(); }

 private:
  World* world_;
  Index self_;
  std::vector<Index> neighbours_;
};

}  // namespace

std::vector<std::exception_ptr> run_on_simulated_links(const GossipMatrix& W, const Simulation& simulation,
                                                       const std::function<void(Links&)>& body) {
  World world(W.agents(), simulation);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(W.agents()));
  {
    std::vector<std::jthread> threads;
    for (Index agent = 0; agent < W.agents(); ++agent) {
      threads.emplace_back([&, agent] {
        std::exception_ptr& end = thrown[static_cast<std::size_t>(agent)];
        const auto dies = [&](bool again) {
          end = nullptr;
          try {
            SimulatedLinks links(world, agent, detail::neighbours_of(W.matrix(), agent), again);
            body(links);
          } catch (const AgentDied&) {
            end = std::current_exception();
            return true;
          } catch (...) {
            end = std::current_exception();
          }
          return false;
        };
        if (dies(false) && world.has_revival(agent)) dies(true);
      });
    }
  }
  return thrown;
}

}  // namespace hearsay
