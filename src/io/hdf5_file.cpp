#include "io/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/memory.hpp"

namespace hearsay::io {
namespace {

// One call at a time, whatever the library was built for, and nothing of what it has to say on standard error.
class Hdf5Call {
 public:
  Hdf5Call() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &client_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Hdf5Call(const Hdf5Call&) = delete;
  Hdf5Call& operator=(const Hdf5Call&) = delete;
  ~Hdf5Call() { H5Eset_auto2(H5E_DEFAULT, print_, client_); }

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex one;
    return one;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* client_ = nullptr;
};

class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ < 0) return;
    const Hdf5Call call;
    close_(id_);
  }
  operator hid_t() const { return id_; }
  bool good() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// What the library says first, where it failed.
std::string innermost_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned place, const H5E_error2_t* error, void* out) {
        if (place == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return herr_t{0};
      },
      &text);
  return text.empty() ? "libhdf5 does not say why" : text;
}

[[noreturn]] void refuse_hdf5(std::string_view where, std::string_view what) {
  throw DataError(fmt::format("{}: {}", where, what));
}

std::string place_in(const std::string& file, const std::string& place) { return fmt::format("{}: {}", file, place); }

// A way of opening things, links or data sets, that ends where a link leads to another file.
Hdf5Handle inside_only(hid_t kind) {
  Hdf5Handle access(H5Pcreate(kind), H5Pclose);
  const H5L_elink_traverse_t stay = [](const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
    return herr_t{-1};
  };
  if (!access.good() || H5Pset_elink_cb(access, stay, nullptr) < 0) throw Error("libhdf5: has no memory left");
  return access;
}

template <class T>
hid_t memory_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
}

struct ClosedText {
  char* text = nullptr;
  ~ClosedText() { H5free_memory(text); }
};

// The one text of an attribute, of fixed or variable length.
std::optional<std::string> text_of(hid_t attribute) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  if (!type.good() || !space.good() || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    return std::nullopt;
  if (H5Tis_variable_str(type) > 0) {
    ClosedText read;
    const Hdf5Handle memory(H5Tget_native_type(type, H5T_DIR_DEFAULT), H5Tclose);
    if (!memory.good() || H5Aread(attribute, memory, static_cast<void*>(&read.text)) < 0 || read.text == nullptr)
      return std::nullopt;
    return std::string(read.text);
  }
  constexpr std::size_t longest = 1 << 16;
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > longest) return std::nullopt;
  std::string text(size, '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return std::nullopt;
  return text.substr(0, text.find('\0'));
}

}  // namespace

// ---- Numbers

struct Hdf5Numbers::State {
  State(std::shared_ptr<const void> file_of, std::string at, Hdf5Handle opened)
      : file(std::move(file_of)), where(std::move(at)), set(std::move(opened)) {}

  std::shared_ptr<const void> file;  // is closed after this
  std::string where;
  Hdf5Handle set;
  int dimensions = 0;
  std::array<hsize_t, 2> shape{1, 1};
  H5T_class_t kind = H5T_FLOAT;
  std::size_t item_bytes = 8;
  std::uint64_t stored = 0;
};

Index Hdf5Numbers::rows() const { return static_cast<Index>(state_->shape[0]); }
Index Hdf5Numbers::cols() const { return static_cast<Index>(state_->shape[1]); }
int Hdf5Numbers::dimensions() const { return state_->dimensions; }
bool Hdf5Numbers::whole() const { return state_->kind == H5T_INTEGER; }
bool Hdf5Numbers::single() const { return state_->kind == H5T_FLOAT && state_->item_bytes <= sizeof(float); }
const std::string& Hdf5Numbers::where() const { return state_->where; }
std::uint64_t Hdf5Numbers::stored_bytes() const { return state_->stored; }

template <class T>
void Hdf5Numbers::read(Index first, Index count, T* out) const {
  if (count == 0) return;
  const Hdf5Call call;
  const std::array<hsize_t, 2> begin{static_cast<hsize_t>(first), 0},
      extent{static_cast<hsize_t>(count), state_->shape[1]};
  const Hdf5Handle in_file(H5Dget_space(state_->set), H5Sclose);
  const Hdf5Handle in_memory(H5Screate_simple(state_->dimensions, extent.data(), nullptr), H5Sclose);
  if (!in_file.good() || !in_memory.good() ||
      H5Sselect_hyperslab(in_file, H5S_SELECT_SET, begin.data(), nullptr, extent.data(), nullptr) < 0 ||
      H5Dread(state_->set, memory_type<T>(), in_memory, in_file, H5P_DEFAULT, out) < 0)
    refuse_hdf5(state_->where,
                fmt::format("rows {} to {} cannot be read: {}", first + 1, first + count, innermost_error()));
}

template void Hdf5Numbers::read<float>(Index, Index, float*) const;
template void Hdf5Numbers::read<double>(Index, Index, double*) const;
template void Hdf5Numbers::read<std::int32_t>(Index, Index, std::int32_t*) const;
template void Hdf5Numbers::read<std::int64_t>(Index, Index, std::int64_t*) const;

// ---- The file

struct Hdf5File::State {
  State(std::string path, std::uint64_t size, Hdf5Handle opened)
      : name(std::move(path)), bytes(size), file(std::move(opened)), links(inside_only(H5P_LINK_ACCESS)) {}

  // Every step to a place, link by link: "a", "a/b", "a/b/c". False where one is missing.
  bool leads_to(const std::string& place) const {
    if (place.empty() || place == "/") return true;
    for (std::size_t end = place.find('/', 1);; end = place.find('/', end + 1)) {
      const std::string step = place.substr(0, end);
      H5L_info_t link;
      if (H5Lexists(file, step.c_str(), links) <= 0 || H5Lget_info(file, step.c_str(), &link, links) < 0) return false;
      if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT)
        refuse_hdf5(place_in(name, step), "leads to another file, which is not followed");
      if (H5Oexists_by_name(file, step.c_str(), links) <= 0) return false;
      if (end == std::string::npos) return true;
    }
  }

  std::string name;
  std::uint64_t bytes;
  Hdf5Handle file, links;
};

Hdf5File::Hdf5File(const std::filesystem::path& path) {
  require_regular_file(path);
  const Hdf5Call call;
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.good())
    refuse_hdf5(path.string(), fmt::format("is no HDF5 file, or not all of one: {}", innermost_error()));
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  state_ = std::make_shared<const State>(path.string(), unknown ? 0 : bytes, std::move(file));
}

const std::string& Hdf5File::name() const { return state_->name; }

Hdf5File::Kind Hdf5File::kind(const std::string& place) const {
  const Hdf5Call call;
  if (!state_->leads_to(place)) return Kind::nothing;
  const Hdf5Handle object(H5Oopen(state_->file, place.empty() ? "/" : place.c_str(), state_->links), H5Oclose);
  switch (object.good() ? H5Iget_type(object) : H5I_BADID) {
    case H5I_GROUP:
      return Kind::group;
    case H5I_DATASET:
      return Kind::data_set;
    default:
      return Kind::nothing;
  }
}

std::optional<std::string> Hdf5File::text_attribute(const std::string& place, const char* attribute) const {
  const Hdf5Call call;
  if (kind(place) == Kind::nothing || H5Aexists_by_name(state_->file, place.c_str(), attribute, state_->links) <= 0)
    return std::nullopt;
  const Hdf5Handle opened(H5Aopen_by_name(state_->file, place.c_str(), attribute, H5P_DEFAULT, state_->links),
                          H5Aclose);
  return opened.good() ? text_of(opened) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> Hdf5File::shape_attribute(const std::string& place,
                                                                   const char* attribute) const {
  const Hdf5Call call;
  if (kind(place) == Kind::nothing || H5Aexists_by_name(state_->file, place.c_str(), attribute, state_->links) <= 0)
    return std::nullopt;
  const Hdf5Handle opened(H5Aopen_by_name(state_->file, place.c_str(), attribute, H5P_DEFAULT, state_->links),
                          H5Aclose);
  if (!opened.good()) return std::nullopt;
  const Hdf5Handle type(H5Aget_type(opened), H5Tclose), space(H5Aget_space(opened), H5Sclose);
  if (!type.good() || !space.good() || H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 2)
    return std::nullopt;
  std::vector<std::int64_t> shape(2);
  if (H5Aread(opened, H5T_NATIVE_INT64, shape.data()) < 0) return std::nullopt;
  return shape;
}

namespace {

// Chunks of compressed data are unpacked whole: the cache holds all those that one row touches.
std::uint64_t band_bytes(hid_t layout, int dimensions, const std::array<hsize_t, 2>& shape, std::size_t item_bytes) {
  std::array<hsize_t, 2> chunk{1, 1};
  if (H5Pget_layout(layout) != H5D_CHUNKED || H5Pget_chunk(layout, dimensions, chunk.data()) != dimensions) return 0;
  std::uint64_t bytes = item_bytes;
  const hsize_t across = (shape[1] + chunk[1] - 1) / std::max<hsize_t>(chunk[1], 1);
  for (const hsize_t factor : {chunk[0], chunk[1], across})
    if (__builtin_mul_overflow(bytes, factor, &bytes)) return ~std::uint64_t{0};
  return bytes;
}

void require_own_storage(hid_t layout, const std::string& where) {
  if (H5Pget_layout(layout) == H5D_VIRTUAL)
    refuse_hdf5(where, "is virtual: its numbers lie in other files, which are not followed");
  if (H5Pget_layout(layout) != H5D_CHUNKED && H5Pget_external_count(layout) > 0)
    refuse_hdf5(where, "has its numbers in other files, which are not followed");
}

// Promises are held against what is stored, as with gzip: a few bytes must not make us set up billions of numbers.
void require_true_size(const std::array<hsize_t, 2>& shape, std::size_t item_bytes, std::uint64_t stored,
                       std::uint64_t file_bytes, const std::string& where) {
  constexpr std::uint64_t most_times = 200, always = 64 << 20;
  std::uint64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(shape[0], shape[1], &bytes) ||
                        __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(item_bytes), &bytes) ||
                        bytes > (std::uint64_t{1} << 60);
  if (stored > file_bytes)
    refuse_hdf5(where, fmt::format("claims {} bytes of storage; the file has {}", stored, file_bytes));
  if (overflow || bytes > std::max(always, most_times * stored))
    refuse_hdf5(where,
                fmt::format("promises {} x {} numbers, and stores {} bytes of them", shape[0], shape[1], stored));
}

}  // namespace

Hdf5Numbers Hdf5File::numbers(const std::string& place) const {
  const Hdf5Call call;
  const std::string where = place_in(state_->name, place);
  if (kind(place) != Kind::data_set) refuse_hdf5(where, "is missing: there must be a data set of numbers");
  const auto opened = [&](hid_t access) {
    Hdf5Handle set(H5Dopen2(state_->file, place.c_str(), access), H5Dclose);
    if (!set.good()) refuse_hdf5(where, fmt::format("cannot be opened: {}", innermost_error()));
    return set;
  };
  std::array<hsize_t, 2> shape{1, 1};
  std::uint64_t band = 0;
  int dimensions = 0;
  const Hdf5Handle access = inside_only(H5P_DATASET_ACCESS);
  {
    const Hdf5Handle set = opened(access);
    const Hdf5Handle space(H5Dget_space(set), H5Sclose), layout(H5Dget_create_plist(set), H5Pclose);
    const Hdf5Handle type(H5Dget_type(set), H5Tclose);
    if (!space.good() || !layout.good() || !type.good())
      refuse_hdf5(where, fmt::format("cannot be looked at: {}", innermost_error()));
    require_own_storage(layout, where);
    dimensions = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || dimensions < 1 || dimensions > 2)
      refuse_hdf5(where, fmt::format("has {} dimensions; a matrix has 2, or 1 for a single column", dimensions));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    band = band_bytes(layout, dimensions, shape, H5Tget_size(type));
    require_memory(band, 1, where);
  }
  constexpr std::uint64_t usual = 1 << 20;
  if (band > usual) H5Pset_chunk_cache(access, 4099, static_cast<std::size_t>(band), 1.0);

  auto state = std::make_shared<Hdf5Numbers::State>(state_, where, opened(access));
  const Hdf5Handle type(H5Dget_type(state->set), H5Tclose);
  state->dimensions = dimensions;
  state->shape = shape;
  state->kind = H5Tget_class(type);
  state->item_bytes = H5Tget_size(type);
  state->stored = H5Dget_storage_size(state->set);
  if (state->kind != H5T_FLOAT && state->kind != H5T_INTEGER)
    refuse_hdf5(where, "does not hold numbers: integers and floating point can be read");
  require_true_size(shape, state->item_bytes, state->stored, state_->bytes, where);
  Hdf5Numbers made;
  made.state_ = std::move(state);
  return made;
}

namespace {

// So many texts at a time: what they point to is given back before the next are read.
void read_variable_texts(hid_t set, hid_t type, Index count, std::vector<std::string>& texts,
                         const std::string& where) {
  constexpr Index at_once = 4096;
  const Hdf5Handle memory(H5Tget_native_type(type, H5T_DIR_DEFAULT), H5Tclose);
  std::vector<char*> read(static_cast<std::size_t>(std::min(at_once, count)));
  std::uint64_t bytes = 0;
  for (Index first = 0; first < count; first += at_once) {
    const hsize_t begin = static_cast<hsize_t>(first), extent = static_cast<hsize_t>(std::min(at_once, count - first));
    const Hdf5Handle in_file(H5Dget_space(set), H5Sclose), in_memory(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    std::fill(read.begin(), read.end(), nullptr);
    if (H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &begin, nullptr, &extent, nullptr) < 0 ||
        H5Dread(set, memory, in_memory, in_file, H5P_DEFAULT, read.data()) < 0)
      refuse_hdf5(where, fmt::format("cannot be read: {}", innermost_error()));
    try {
      for (hsize_t i = 0; i < extent; ++i)
        texts.emplace_back(read[i] == nullptr ? "" : read[i]), bytes += texts.back().size();
      require_memory(bytes, 1, where);
    } catch (...) {
      H5Dvlen_reclaim(memory, in_memory, H5P_DEFAULT, read.data());
      throw;
    }
    H5Dvlen_reclaim(memory, in_memory, H5P_DEFAULT, read.data());
  }
}

void read_fixed_texts(hid_t set, hid_t type, Index count, std::vector<std::string>& texts, const std::string& where) {
  const std::size_t size = H5Tget_size(type);
  require_memory(static_cast<std::uint64_t>(count), size, where);
  std::string all(static_cast<std::size_t>(count) * size, '\0');
  if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0)
    refuse_hdf5(where, fmt::format("cannot be read: {}", innermost_error()));
  for (Index i = 0; i < count; ++i) {
    const std::string_view text = std::string_view(all).substr(static_cast<std::size_t>(i) * size, size);
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
}

}  // namespace

std::optional<std::vector<std::string>> Hdf5File::texts(const std::string& place) const {
  const Hdf5Call call;
  if (kind(place) != Kind::data_set) return std::nullopt;
  const std::string where = place_in(state_->name, place);
  const Hdf5Handle access = inside_only(H5P_DATASET_ACCESS);
  const Hdf5Handle set(H5Dopen2(state_->file, place.c_str(), access), H5Dclose);
  if (!set.good()) return std::nullopt;
  const Hdf5Handle type(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose);
  const Hdf5Handle layout(H5Dget_create_plist(set), H5Pclose);
  if (!type.good() || !space.good() || !layout.good() || H5Tget_class(type) != H5T_STRING ||
      H5Sget_simple_extent_ndims(space) != 1)
    return std::nullopt;
  require_own_storage(layout, where);
  std::array<hsize_t, 2> shape{0, 1};
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  require_true_size(shape, H5Tget_size(type), H5Dget_storage_size(set), state_->bytes, where);
  require_memory(shape[0], sizeof(std::string) + sizeof(char*), where);
  require_memory(band_bytes(layout, 1, shape, H5Tget_size(type)), 1, where);
  std::vector<std::string> texts;
  texts.reserve(shape[0]);
  if (H5Tis_variable_str(type) > 0)
    read_variable_texts(set, type, static_cast<Index>(shape[0]), texts, where);
  else
    read_fixed_texts(set, type, static_cast<Index>(shape[0]), texts, where);
  return texts;
}

std::vector<std::string> Hdf5File::data_sets(std::size_t most) const {
  struct Found {
    std::vector<std::string> names = {};
    std::size_t most = 0, seen = 0;
  } found{.most = most};
  const Hdf5Call call;
  // Links, so that nothing outside of the file is opened; hard ones alone.
  H5Lvisit(
      state_->file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t group, const char* name, const H5L_info_t* link, void* out) {
        constexpr std::size_t most_links = 10'000;
        auto& so_far = *static_cast<Found*>(out);
        if (so_far.names.size() >= so_far.most || ++so_far.seen > most_links) return herr_t{1};
        if (link->type != H5L_TYPE_HARD) return herr_t{0};
        const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
        if (!object.good() || H5Iget_type(object) != H5I_DATASET) return herr_t{0};
        try {
          so_far.names.emplace_back(name);
        } catch (...) {  // nothing may be thrown through a library in C
          return herr_t{-1};
        }
        return herr_t{0};
      },
      &found);
  return std::move(found.names);
}

void leave_hdf5_open_at_exit() {
  static const herr_t once = H5dont_atexit();  // refuses where the library is in use already
  (void)once;
}

}  // namespace hearsay::io
