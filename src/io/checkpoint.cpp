// The file form of a solve in progress: a magic line, the number type, the configuration, the fields of PowerState in
// order (little-endian, as this machine holds them; X_prev only where it means something), and the SHA-256 of
// everything before it. The checksum tells damage and no more: whoever can write the file can make one. So what is read
// is believed only where it can be true.
#include "hearsay/io/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "io/text.hpp"
#include "solver/state.hpp"

namespace hearsay::io {

static_assert(std::endian::native == std::endian::little, "checkpoints are written in little-endian order");

namespace {

constexpr std::string_view magic = "hearsay checkpoint 5\n";
constexpr std::string_view any_version = "hearsay checkpoint ";
constexpr std::size_t digest_length = 64;

class Writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number<std::uint64_t>(value.size());
    bytes_.append(value);
  }
  template <class Matrix>
  void matrix(const Matrix& value) {
    number<std::int64_t>(value.rows());
    number<std::int64_t>(value.cols());
    bytes_.append(reinterpret_cast<const char*>(value.data()),
                  static_cast<std::size_t>(value.size()) * sizeof(typename Matrix::Scalar));
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  Reader(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  template <class T>
  T number() {
    if constexpr (std::is_same_v<T, bool>) {
      const auto byte = number<std::uint8_t>();
      if (byte > 1) throw DataError(fmt::format("{}: the checkpoint holds {} where 0 or 1 belongs", name_, byte));
      return byte == 1;
    } else {
      T value;
      std::memcpy(&value, take(sizeof value), sizeof value);
      return value;
    }
  }
  std::string_view text() {
    const auto length = number<std::uint64_t>();
    return {take(length), static_cast<std::size_t>(length)};
  }
  template <class Matrix>
  void matrix(Matrix& value) {
    const auto rows = number<std::int64_t>(), cols = number<std::int64_t>();
    if (rows < 0 || cols < 0 ||
        (cols > 0 &&
         static_cast<std::uint64_t>(rows) > room(sizeof(typename Matrix::Scalar)) / static_cast<std::uint64_t>(cols)))
      fail();
    if (Matrix::ColsAtCompileTime == 1 && cols != 1) fail();
    value.resize(rows, cols);
    const auto size = static_cast<std::size_t>(value.size()) * sizeof(typename Matrix::Scalar);
    const char* from = take(size);
    if (size > 0) std::memcpy(value.data(), from, size);
  }

  /// How many items of so many bytes can follow.
  std::uint64_t room(std::size_t bytes_each) const { return bytes_.size() / bytes_each; }

  void end() const {
    if (!bytes_.empty())
      throw DataError(fmt::format("{}: the checkpoint has {} bytes behind its end", name_, bytes_.size()));
  }
  [[noreturn]] void fail() const { throw DataError(fmt::format("{}: the checkpoint is shorter than it says", name_)); }

 private:
  const char* take(std::uint64_t count) {
    if (count > bytes_.size()) fail();
    const char* front = bytes_.data();
    bytes_.remove_prefix(static_cast<std::size_t>(count));
    return front;
  }

  std::string_view bytes_;
  std::string name_;
};

// Every field once, for reading and writing alike.
template <class Archive, class State>
void fields(Archive& archive, State& s) {
  archive(s.t), archive(s.has_previous), archive(s.no_gap), archive(s.cooldown_left), archive(s.exponent),
      archive(s.operator_position);
  archive(s.products), archive(s.passes), archive(s.householder_steps), archive(s.last_recheck),
      archive(s.best_residual), archive(s.best_sine);
  archive(s.X), archive(s.R), archive(s.best_basis);
  archive(s.start_norm), archive(s.start_columns), archive(s.frobenius), archive(s.proven_count);
  archive(s.proven_above), archive(s.probe_passes), archive(s.probe_products), archive(s.filter);
  archive(s.averaging.reference), archive(s.averaging.edge), archive(s.averaging.epoch_length);
  archive(s.averaging.began), archive(s.averaging.next_look), archive(s.averaging.products_needed);
}

template <class Archive, class Sums>
void epoch_fields(Archive& archive, Sums& e) {
  archive(e.n), archive(e.S_sum), archive(e.G), archive(e.W), archive(e.scatter), archive(e.scatter_sq);
  archive(e.asymmetry_sq);
}
constexpr std::size_t least_epoch_bytes = 6 * sizeof(Index);

template <class Archive, class Entry>
void entry_fields(Archive& archive, Entry& e) {
  archive(e.t), archive(e.momentum), archive(e.edge), archive(e.residual), archive(e.noise), archive(e.theta_1);
  archive(e.theta_k);
  archive(e.theta_next), archive(e.sin_theta), archive(e.sin_theta_estimate);
}
constexpr std::size_t entry_bytes = sizeof(Index) + 9 * sizeof(double);

// "rank=2 there, rank=1 here": the words that the two do not share.
std::string difference(std::string_view there, std::string_view here) {
  const auto words = [](std::string_view text) {
    std::vector<std::string_view> list;
    while (!text.empty()) {
      const std::size_t length = std::min(text.find(' '), text.size());
      if (length > 0) list.push_back(text.substr(0, length));
      text.remove_prefix(std::min(length + 1, text.size()));
    }
    return list;
  };
  const auto only_in = [](const auto& list, const auto& other) {
    std::string text;
    for (const std::string_view word : list)
      if (std::find(other.begin(), other.end(), word) == other.end())
        text += fmt::format("{}{}", text.empty() ? "" : " ", word);
    return text.empty() ? std::string("nothing more") : text;
  };
  const auto a = words(there), b = words(here);
  const std::string not_here = only_in(a, b), not_there = only_in(b, a);
  return fmt::format("{} there, {} here", shown(not_here), shown(not_there));
}

}  // namespace

template <class S>
void write_checkpoint(const std::filesystem::path& path, const PowerState<S>& state, std::string_view configuration) {
  Writer writer;
  writer.bytes().append(magic);
  writer.number<std::uint8_t>(sizeof(S));
  writer.text(configuration);
  const auto put = [&writer](const auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      writer.number(value);
    else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>)
      writer.matrix(Eigen::Map<const Vector<double>>(value.data(), static_cast<Index>(value.size())));
    else
      writer.matrix(value);
  };
  fields(put, state);
  if (state.has_previous) writer.matrix(state.X_prev);
  writer.number<std::uint64_t>(state.history.size());
  for (const HistoryEntry& entry : state.history) entry_fields(put, entry);
  writer.number<std::uint64_t>(state.averaging.epochs.size());
  for (const EpochSums<S>& epoch : state.averaging.epochs) epoch_fields(put, epoch);

  const std::string digest = sha256_hex(writer.bytes());
  AtomicFile file(path);
  file.write(writer.bytes());
  file.write(digest);
  file.commit();
}

namespace {

// What the checksum covers.
std::string_view body_of(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(any_version) && !bytes.starts_with(magic))
    throw DataError(fmt::format("{}: is a checkpoint of another version, {}; this program reads version {}", name,
                                shown(bytes.substr(any_version.size(), 1)),
                                magic.substr(any_version.size(), magic.size() - any_version.size() - 1)));
  if (bytes.size() < magic.size() + digest_length || !bytes.starts_with(magic))
    throw DataError(fmt::format("{}: not a hearsay checkpoint", name));
  const std::string_view body = bytes.substr(0, bytes.size() - digest_length);
  if (sha256_hex(body) != bytes.substr(body.size()))
    throw DataError(fmt::format("{}: the checksum does not match; the file is damaged or cut short", name));
  return body;
}

}  // namespace

template <class S>
PowerState<S> parse_checkpoint(std::string_view bytes, const std::string& name, std::string_view configuration) {
  Reader reader(body_of(bytes, name).substr(magic.size()), name);
  const auto scalar_size = reader.number<std::uint8_t>();
  require(scalar_size == sizeof(S),
          fmt::format("{}: is of a solve with {}-byte numbers, and this one has {}-byte numbers", name, scalar_size,
                      sizeof(S)));
  const std::string_view written_for = reader.text();
  require(written_for == configuration,
          fmt::format("{}: is of another solve: {}", name, difference(written_for, configuration)));

  PowerState<S> state;
  const auto get = [&reader](auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      value = reader.number<std::decay_t<decltype(value)>>();
    else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>) {
      Vector<double> numbers;
      reader.matrix(numbers);
      value.assign(numbers.data(), numbers.data() + numbers.size());
    } else
      reader.matrix(value);
  };
  fields(get, state);
  if (state.has_previous)
    reader.matrix(state.X_prev);
  else
    state.X_prev.setZero(state.X.rows(), state.X.cols());
  const auto entries = reader.number<std::uint64_t>();
  if (entries > reader.room(entry_bytes)) reader.fail();
  for (std::uint64_t i = 0; i < entries; ++i) {
    HistoryEntry entry;
    entry_fields(get, entry);
    state.history.push_back(entry);
  }
  const auto epochs = reader.number<std::uint64_t>();
  if (epochs > reader.room(least_epoch_bytes)) reader.fail();
  for (std::uint64_t i = 0; i < epochs; ++i) epoch_fields(get, state.averaging.epochs.emplace_back());
  reader.end();
  if (const std::string fault = detail::fault_of<S>(state); !fault.empty())
    throw DataError(fmt::format("{}: is no state of a solve: {}", name, fault));
  return state;
}

template <class S>
PowerState<S> read_checkpoint(const std::filesystem::path& path, std::string_view configuration) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))  // a pipe would wait for ever
    throw DataError(fmt::format("{}: must be a file to go on from, and is none", path.string()));
  if (!InputFile(path).head().starts_with(any_version))  // before all of it is read, whatever it is
    throw DataError(fmt::format("{}: not a hearsay checkpoint", path.string()));
  return parse_checkpoint<S>(read_whole(path), path.string(), configuration);
}

template void write_checkpoint<float>(const std::filesystem::path&, const PowerState<float>&, std::string_view);
template void write_checkpoint<double>(const std::filesystem::path&, const PowerState<double>&, std::string_view);
template PowerState<float> parse_checkpoint<float>(std::string_view, const std::string&, std::string_view);
template PowerState<double> parse_checkpoint<double>(std::string_view, const std::string&, std::string_view);
template PowerState<float> read_checkpoint<float>(const std::filesystem::path&, std::string_view);
template PowerState<double> read_checkpoint<double>(const std::filesystem::path&, std::string_view);

CheckpointFile::CheckpointFile(std::filesystem::path path, std::string configuration, Begin begin)
    : path_(std::move(path)), configuration_(std::move(configuration)), begin_(begin) {}

void CheckpointFile::save(const PowerState<double>& state) { write_checkpoint<double>(path_, state, configuration_); }
void CheckpointFile::save(const PowerState<float>& state) { write_checkpoint<float>(path_, state, configuration_); }

bool CheckpointFile::load(PowerState<double>& state) {
  if (begin_ == Begin::where_it_stopped) state = read_checkpoint<double>(path_, configuration_);
  return begin_ == Begin::where_it_stopped;
}

bool CheckpointFile::load(PowerState<float>& state) {
  if (begin_ == Begin::where_it_stopped) state = read_checkpoint<float>(path_, configuration_);
  return begin_ == Begin::where_it_stopped;
}

}  // namespace hearsay::io
