// What a LinkNetwork holds: the session, the links, and the blocks that were heard.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hearsay/csr.hpp"
#include "hearsay/link_network.hpp"

namespace hearsay {

class LinkNetwork::Impl {
 public:
  Impl(Links& links, GossipMatrix W, const LinkNetworkOptions& options);

  // Whoever uses the session or the links is inside. While nobody is, and the solver computes, a thread gives signs of
  // life and takes what comes.
  class Inside {
   public:
    explicit Inside(Impl& impl) : impl_(impl), lock_(impl.inside_) { impl_.session_.set_computing(false); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { impl_.session_.set_computing(true); }

   private:
    Impl& impl_;
    std::unique_lock<std::mutex> lock_;
  };

  void connect();
  std::vector<std::string> gather_everywhere(const std::string& own, const std::string& what);
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes);
  void run(const std::function<void()>& body);
  protocol::View agree_on_members();
  std::string told() const;
  void set_told(std::string_view told);
  void bear_witness(double off, double size);

  Links* links_;
  GossipMatrix whole_, W_;  // of everyone, and of those who take part
  GossipSpectrum spectrum_;
  LinkNetworkOptions options_;
  Index self_;                                     // of everyone, as all that follow
  std::vector<Index> members_;                     // who take part, ascending
  std::vector<Index> everyone_near_, neighbours_;  // who was there at the start, and who takes part
  std::uint32_t epoch_ = 0;
  protocol::Session session_;
  Traffic traffic_ = {};
  Block<double> unsent_ = {};
  std::mutex inside_;

  Index place_of(Index agent) const {
    return std::lower_bound(members_.begin(), members_.end(), agent) - members_.begin();
  }

 private:
  protocol::SessionOptions session_options() const;
  std::optional<protocol::Exclusion> exclusion() const;
  void take_rows();
  void join_members();
  void throw_change() const;
  bool rounds() const { return options_.precision != MessagePrecision::real64; }
  std::size_t bytes_each() const { return static_cast<std::size_t>(bytes_per_number(options_.precision)); }
  std::span<const std::byte> write_message(ConstBlockView<double> Z, ConstBlockView<double> votes);
  std::span<const std::byte> read_header(Index neighbour, Index numbers, Index votes) const;
  Index cast_votes(ConstBlockView<double> votes);
  void hear_witnesses();
  void hear(Index neighbour, Index row, Index numbers, Index votes);
  void push();
  void step();
  void take(LinkEvent event);
  void beat(const std::stop_token& stop);
  void ask_to_go_on();
  void await_round();
  void throw_failure() const;
  void say_goodbye(const protocol::Ending& ending);

  CsrMatrix<double> row_;       // of W, for this agent; columns: itself, then its neighbours
  Block<double> heard_;         // blocks: its own, then its neighbours'; where messages are rounded, as told
  Block<double> said_;          // votes, likewise
  Block<double> cast_;          // this agent's votes, and what the witnesses have said as far as it has heard
  Block<double> witnesses_;     // of each member two numbers
  Index witness_rounds_ = 0;    // until everyone has heard them all
  std::vector<double> change_;  // told in one message
  std::vector<std::byte> message_;
  static constexpr double first_retry = 0.001;  // seconds
  double retry_ = first_retry;
  double asked_ = 0;  // when
  std::condition_variable_any quiet_;
  std::exception_ptr trouble_ = {};  // of the thread
  std::jthread beats_ = {};          // the last, so that it ends first
};

}  // namespace hearsay
