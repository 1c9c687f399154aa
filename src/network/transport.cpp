#include "hearsay/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "hearsay/error.hpp"
#include "network/bytes.hpp"
#include "network/failure.hpp"

namespace hearsay {
namespace detail {
namespace {

// The failure of the first rank, which is named unless all that took part say the same.
Failure verdict(const std::vector<Failure>& failures) {
  const Failure* first = nullptr;
  bool alike = true;
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    const Failure& failure = failures[rank];
    if (failure.origin == Failure::nobody) continue;
    if (failure.any() && (first == nullptr || failure.origin < first->origin)) first = &failure;
    alike = alike && failure.any() && failure.origin == static_cast<int>(rank) && failure.kind == first->kind &&
            failure.message == first->message;
  }
  if (first == nullptr) return {};
  return {.kind = first->kind,
          .origin = first->origin,
          .message = alike ? first->message : fmt::format("rank {}: {}", first->origin, first->message)};
}

}  // namespace

void raise(Failure::Kind kind, const std::string& message) {
  switch (kind) {
    case Failure::Kind::invalid_argument:
      throw InvalidArgument(message);
    case Failure::Kind::data_error:
      throw DataError(message);
    case Failure::Kind::communication_error:
      throw CommunicationError(message);
    case Failure::Kind::error:
    case Failure::Kind::none:
      break;
  }
  throw Error(message);
}

std::string to_bytes(const Failure& failure) {
  ByteWriter writer;
  writer.put(failure.kind);
  writer.put(failure.origin);
  writer.put(std::string_view(failure.message));
  return writer.bytes();
}

Failure failure_from(std::string_view bytes, const char* whose) {
  ByteReader reader(bytes, whose);
  Failure failure;
  failure.kind = reader.choice(Failure::Kind::communication_error);
  failure.origin = reader.get<int>();
  failure.message = reader.text();
  reader.require_end();
  return failure;
}

PeerFailure::PeerFailure(Failure failure)
    : CommunicationError(fmt::format("rank {}: {}", failure.origin, failure.message)), failure_(std::move(failure)) {}

Failure caught(int rank, const std::function<void()>& body) {
  using Kind = Failure::Kind;
  try {
    body();
    return {.kind = Kind::none, .origin = rank};
  } catch (const LinkError&) {
    throw;  // there is nobody to agree with
  } catch (const PeerFailure& error) {
    return error.failure();
  } catch (const InvalidArgument& error) {
    return {.kind = Kind::invalid_argument, .origin = rank, .message = error.what()};
  } catch (const DataError& error) {
    return {.kind = Kind::data_error, .origin = rank, .message = error.what()};
  } catch (const CommunicationError& error) {
    return {.kind = Kind::communication_error, .origin = rank, .message = error.what()};
  } catch (const std::exception& error) {
    return {.kind = Kind::error, .origin = rank, .message = error.what()};
  } catch (...) {
    return {.kind = Kind::error, .origin = rank, .message = "an exception that is no std::exception"};
  }
}

void throw_alike(Transport& ranks, const Failure& failure) {
  std::vector<Failure> failures;
  for (const std::string& bytes : ranks.gather(to_bytes(failure))) failures.push_back(failure_from(bytes));
  Failure agreed;
  if (ranks.rank() == 0) agreed = verdict(failures);
  agreed = failure_from(ranks.broadcast(to_bytes(agreed)));
  if (agreed.any()) raise(agreed.kind, agreed.message);
}

std::vector<Fact> facts_from(std::string_view bytes) {
  std::vector<Fact> facts;
  for (ByteReader reader(bytes); !reader.at_end();) {
    Fact& fact = facts.emplace_back();
    fact.what = reader.text();
    fact.value = reader.text();
  }
  return facts;
}

std::string difference(const std::vector<Fact>& first, const std::vector<Fact>& other, std::size_t rank) {
  const auto value_in = [](const std::vector<Fact>& facts, const std::string& what) -> std::string {
    const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.what == what; });
    return found == facts.end() ? "nothing" : found->value.empty() ? "none" : found->value;
  };
  std::string differences;
  for (const auto* facts : {&first, &other})
    for (const Fact& fact : *facts) {
      const std::string a = value_in(first, fact.what), b = value_in(other, fact.what);
      if (a == b || (facts == &other && value_in(first, fact.what) != "nothing")) continue;
      differences +=
          fmt::format("{}{} is {} there, and {} on rank 0", differences.empty() ? "" : "; ", fact.what, b, a);
    }
  return fmt::format("rank {}: {}: must be the same on every rank", rank,
                     differences.empty() ? "lists its facts in another order" : differences);
}

}  // namespace detail

std::vector<std::string> Transport::gather_everywhere(const std::string& bytes) {
  detail::ByteWriter writer;
  for (const std::string& said : gather(bytes)) writer.put(std::string_view(said));
  const std::string all = broadcast(writer.bytes());
  std::vector<std::string> by_rank;
  for (detail::ByteReader reader(all); !reader.at_end();) by_rank.push_back(reader.text());
  return by_rank;
}

double Transport::sum(double value) {
  double total = 0;
  detail::ByteWriter writer;
  writer.put(value);
  for (const std::string& said : gather_everywhere(writer.bytes())) total += detail::ByteReader(said).get<double>();
  return total;
}

double Transport::max(double value) {
  double largest = -std::numeric_limits<double>::infinity();
  detail::ByteWriter writer;
  writer.put(value);
  for (const std::string& said : gather_everywhere(writer.bytes())) {
    const double other = detail::ByteReader(said).get<double>();
    if (std::isnan(other)) return other;
    largest = std::max(largest, other);
  }
  return largest;
}

void Transport::everywhere(const std::function<void()>& body) {
  detail::throw_alike(*this, detail::caught(rank(), body));
}

void Transport::set_timeout(double seconds) {
  require(seconds > 0, fmt::format("timeout = {}: must be positive", seconds));
  timeout_ = seconds;
}

void Transport::require_alike(std::span<const Fact> facts) {
  detail::ByteWriter here;
  for (const Fact& fact : facts) {
    here.put(std::string_view(fact.what));
    here.put(std::string_view(fact.value));
  }
  const std::vector<std::string> said = gather(here.bytes());
  std::string difference;
  for (std::size_t other = 1; other < said.size() && difference.empty(); ++other)
    if (said[other] != said[0])
      difference = detail::difference(detail::facts_from(said[0]), detail::facts_from(said[other]), other);
  difference = broadcast(difference);
  if (!difference.empty()) throw InvalidArgument(difference);
}

namespace {

[[noreturn]] void nobody(int peer) {
  throw InvalidArgument(fmt::format("rank {}: there is only rank 0, and nobody to exchange messages with", peer));
}

}  // namespace

void AloneTransport::send(int to, std::span<const std::byte>) { nobody(to); }
void AloneTransport::receive(int from, std::span<std::byte>) { nobody(from); }
Transport::Event AloneTransport::wait() { throw InvalidArgument("wait: nothing is under way, and never will be"); }
std::vector<std::byte> AloneTransport::take(int from) { nobody(from); }

}  // namespace hearsay
