#include <hearsay/io/bed.hpp>

#include <algorithm>

#include "file.hpp"
#include "fuzz.hpp"

// A .fam, a .bim and a .bed, cut apart at two zero bytes: opened, or refused. What was opened has as many calls as its
// lines promise, and the counts of each SNP add up to the samples.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hearsay;
  return fuzz::run(data, size, [](std::string_view bytes) {
    const std::size_t first = std::min(bytes.find('\0'), bytes.size());
    const std::size_t second = std::min(bytes.find('\0', first + 1), bytes.size());
    const auto part = [&](std::size_t begin, std::size_t end) {
      return begin < end ? bytes.substr(begin, end - begin) : std::string_view();
    };
    const fuzz::MemoryFile fam(part(0, first)), bim(part(first + 1, second)), bed(part(second + 1, bytes.size()));
    const io::BedFile file({.bed = bed.path(), .bim = bim.path(), .fam = fam.path()});
    const GenotypeView view = file.view();
    fuzz::check(view.samples == static_cast<Index>(file.samples().size()));
    fuzz::check(view.snps == static_cast<Index>(file.snps().size()));
    const GenotypeCounts counts = count_calls(view);
    std::int64_t missing = 0;
    for (const CallCounts& snp : counts.of_snp) {
      fuzz::check(snp.called() + snp.missing == static_cast<std::uint32_t>(view.samples));
      missing += snp.missing;
    }
    fuzz::check(missing == counts.missing && counts.samples_missing <= missing);
  });
}
