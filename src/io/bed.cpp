#include "hearsay/io/bed.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <span>
#include <system_error>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "io/file_kind.hpp"
#include "io/mapped_file.hpp"
#include "io/text.hpp"

namespace hearsay::io {
namespace {

constexpr std::size_t fields_of_a_line = 6;
constexpr std::uint64_t header_bytes = 3;

// The fields of one line of a .bim or .fam, which are as many in both.
std::array<std::string_view, fields_of_a_line> fields_of(std::string_view line, const LineReader& lines,
                                                         std::string_view kind) {
  std::array<std::string_view, fields_of_a_line> fields;
  std::size_t found = 0;
  while (true) {
    const std::string_view field = next_field(line);
    if (field.empty()) break;
    if (found < fields.size()) fields[found] = field;
    ++found;
  }
  if (found != fields.size())
    fail_at(lines.name(), lines.number(), 0,
            fmt::format("has {} fields; a line of a .{} file has {}", found, kind, fields.size()));
  return fields;
}

// What a line becomes takes more memory than the line; both are bounded by the file.
template <class Item, class Make>
std::vector<Item> read_lines(const std::filesystem::path& path, std::string_view kind, const Make& make) {
  InputFile file(path);
  LineReader lines(source_of(file));
  std::vector<Item> items;
  std::string_view line;
  while (lines.next_filled(line)) {
    if (items.size() == items.capacity()) {
      require_memory(items.size() + 1, 2 * sizeof(Item), lines.name());
      items.reserve(2 * items.size() + 64);
    }
    items.push_back(make(fields_of(line, lines, kind)));
  }
  if (items.empty()) throw DataError(fmt::format("{}: has no lines", lines.name()));
  return items;
}

void require_beside(const std::filesystem::path& path, const std::filesystem::path& bed, std::string_view what) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown)) return;
  throw DataError(
      fmt::format("{}: is missing: beside {} there must be a file of its {}", path.string(), bed.string(), what));
}

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

void require_header(const MappedFile& file) {
  const auto bytes = file.bytes();
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), header_bytes));
  if (start.size() >= 2 && start[0] == 0x1f && start[1] == 0x8b)
    throw DataError(
        fmt::format("{}: is compressed; a .bed file is read where it lies, so unpack it first", file.name()));
  if (start.size() < header_bytes || start[0] != 0x6c || start[1] != 0x1b)
    throw DataError(
        fmt::format("{}: begins with {}; a PLINK .bed file begins with 6c 1b 01", file.name(), hexadecimal(start)));
  if (start[2] == 0)
    throw DataError(
        fmt::format("{}: byte 3 is 00: its calls lie sample by sample; write it SNP by SNP, as "
                    "plink's make-bed does",
                    file.name()));
  if (start[2] != 1) throw DataError(fmt::format("{}: byte 3 is {:02x}, and must be 01", file.name(), start[2]));
}

void require_length(const MappedFile& file, std::uint64_t snps, std::uint64_t samples, const BedPaths& paths) {
  const std::uint64_t needed = header_bytes + snps * ((samples + 3) / 4);
  if (file.bytes().size() != needed)
    throw DataError(fmt::format("{}: has {} bytes; the {} SNPs of {} and the {} samples of {} take {}", file.name(),
                                file.bytes().size(), snps, paths.bim.string(), samples, paths.fam.string(), needed));
}

}  // namespace

BedPaths bed_paths(const std::filesystem::path& bed) {
  BedPaths paths{.bed = bed, .bim = bed, .fam = bed};
  paths.bim.replace_extension(".bim");
  paths.fam.replace_extension(".fam");
  return paths;
}

bool is_bed(const std::filesystem::path& path) {
  std::error_code unknown;
  if (const auto known = kind_by_name(path)) return known == FileKind::bed;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::array<char, bed_magic.size()> start{};
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) && std::string_view(start.data(), start.size()) == bed_magic;
}

std::vector<Sample> read_fam(const std::filesystem::path& path) {
  return read_lines<Sample>(path, "fam", [](const auto& fields) {
    return Sample{.family = std::string(fields[0]), .id = std::string(fields[1])};
  });
}

std::vector<Snp> read_bim(const std::filesystem::path& path) {
  return read_lines<Snp>(path, "bim", [](const auto& fields) {
    return Snp{.chromosome = std::string(fields[0]),
               .id = std::string(fields[1]),
               .position = std::string(fields[3]),
               .first_allele = std::string(fields[4]),
               .second_allele = std::string(fields[5])};
  });
}

struct BedFile::State {
  explicit State(const BedPaths& paths) : file(paths.bed) {
    require_header(file);
    require_beside(paths.bim, paths.bed, "SNPs");
    require_beside(paths.fam, paths.bed, "samples");
    samples = read_fam(paths.fam);
    snps = read_bim(paths.bim);
    require_length(file, snps.size(), samples.size(), paths);
  }

  MappedFile file;
  std::vector<Sample> samples;
  std::vector<Snp> snps;
};

BedFile::BedFile(const BedPaths& paths) : state_(std::make_unique<State>(paths)) {}
BedFile::BedFile(BedFile&&) noexcept = default;
BedFile& BedFile::operator=(BedFile&&) noexcept = default;
BedFile::~BedFile() = default;

GenotypeView BedFile::view() const {
  return {.samples = static_cast<Index>(state_->samples.size()),
          .snps = static_cast<Index>(state_->snps.size()),
          .calls = state_->file.bytes().data() + header_bytes,
          .name = state_->file.name()};
}

void BedFile::require_whole() const { state_->file.require_whole(); }

const std::vector<Sample>& BedFile::samples() const { return state_->samples; }
const std::vector<Snp>& BedFile::snps() const { return state_->snps; }

}  // namespace hearsay::io
