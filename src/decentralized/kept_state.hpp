// A run in progress as bytes. What is kept lists its fields once, for writing and reading alike:
//
//   template <class Archive>
//   void fields(Archive& archive) { archive(X_), archive(first_), ... }
//
// Whoever can write the bytes can make others, so shapes are held against the run's before they are used.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/linalg.hpp"
#include "network/bytes.hpp"

namespace hearsay::detail {

inline constexpr const char* kept_state = "the state of a run";

template <class Archive, class Entry>
void entry_fields(Archive& archive, Entry& entry) {
  archive(entry.t), archive(entry.rounds), archive(entry.bytes), archive(entry.rounds_next), archive(entry.residual);
  archive(entry.disagreement), archive(entry.momentum), archive(entry.sin_theta);
}

class StateWriter {
 public:
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_same_v<T, bool>)
      writer_.put(static_cast<unsigned char>(value ? 1 : 0));
    else if constexpr (Plain<T>)
      writer_.put(value);
    else
      put(value);
  }
  const std::string& bytes() const { return writer_.bytes(); }

 private:
  void put(const Block<double>& block) { writer_.put(block); }
  void put(const Small<double>& matrix) { writer_.put(Block<double>(matrix)); }
  void put(const Vector<double>& vector) { writer_.put(Block<double>(vector)); }
  void put(const SmallEigen<double>& pairs) { put(pairs.values), put(pairs.vectors); }
  void put(const DecentralizedEntry& entry) { entry_fields(*this, entry); }
  template <class T>
  void put(const std::vector<T>& values) {
    writer_.put(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) (*this)(value);
  }

  ByteWriter writer_;
};

class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : reader_(bytes, kept_state) {}

  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = reader_.flag();
    else if constexpr (Plain<T>)
      value = reader_.get<T>();
    else
      get(value);
  }
  void require_end() const { reader_.require_end(); }

 private:
  void get(Block<double>& block) { block = reader_.block(); }
  void get(Small<double>& matrix) { matrix = reader_.block(); }
  void get(Vector<double>& vector) {
    const Block<double> block = reader_.block();
    if (block.cols() > 1) throw CommunicationError(std::string(kept_state) + " holds a block where a vector belongs");
    vector = Vector<double>(block.rows());
    if (block.size() > 0) vector = block.col(0);
  }
  void get(SmallEigen<double>& pairs) { get(pairs.values), get(pairs.vectors); }
  void get(DecentralizedEntry& entry) { entry_fields(*this, entry); }
  void get(std::vector<double>& values) {
    values.resize(reader_.count(sizeof(double)));
    for (double& value : values) value = reader_.get<double>();
  }
  // Of things that are made of several numbers each; there are as many as there were.
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(reader_.count(1));
    for (T& value : values) (*this)(value);
  }

  ByteReader reader_;
};

/// Throws DataError unless what was read can be.
inline void require_sound(bool sound, const char* what) {
  if (!sound) throw DataError(std::string(kept_state) + ": " + what + " cannot be");
}

}  // namespace hearsay::detail
