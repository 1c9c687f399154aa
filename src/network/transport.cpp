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

[[noreturn]] void raise(Failure::Kind kind, const std::string& message) {
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

std::string to_bytes(const Failure& failure) {
  ByteWriter writer;
  writer.put(failure.kind);
  writer.put(failure.origin);
  writer.put(std::string_view(failure.message));
  return writer.bytes();
}

Failure failure_from(std::string_view bytes) {
  ByteReader reader(bytes);
  Failure failure;
  failure.kind = reader.get<Failure::Kind>();
  failure.origin = reader.get<int>();
  failure.message = reader.text();
  return failure;
}

PeerFailure::PeerFailure(Failure failure)
    : CommunicationError(fmt::format("rank {}: {}", failure.origin, failure.message)), failure_(std::move(failure)) {}

Failure caught(int rank, const std::function<void()>& body) {
  using Kind = Failure::Kind;
  try {
    body();
    return {.kind = Kind::none, .origin = rank};
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

void settle(Transport& ranks, const Failure& failure) {
  std::vector<Failure> failures;
  for (const std::string& bytes : ranks.gather(to_bytes(failure))) failures.push_back(failure_from(bytes));
  Failure agreed;
  if (ranks.rank() == 0) agreed = verdict(failures);
  agreed = failure_from(ranks.broadcast(to_bytes(agreed)));
  if (agreed.any()) raise(agreed.kind, agreed.message);
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

void Transport::everywhere(const std::function<void()>& body) { detail::settle(*this, detail::caught(rank(), body)); }

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
