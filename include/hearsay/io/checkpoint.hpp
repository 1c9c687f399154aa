// A solve in progress, as a file: written beside, synced and renamed into place, with a checksum over all of it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearsay/checkpoints.hpp"
#include "hearsay/export.hpp"
#include "hearsay/power.hpp"

namespace hearsay::io {

/// `configuration` describes the problem and the options; resuming under another one is refused.
template <class S>
HEARSAY_API void write_checkpoint(const std::filesystem::path& path, const PowerState<S>& state,
                                  std::string_view configuration);

/// Throws DataError for a file that is damaged, or whose shapes and numbers are those of no solve, and InvalidArgument
/// for one of another configuration or number type. The solver then holds the state against its own problem.
template <class S>
HEARSAY_API PowerState<S> read_checkpoint(const std::filesystem::path& path, std::string_view configuration);
template <class S>
HEARSAY_API PowerState<S> parse_checkpoint(std::string_view bytes, const std::string& name,
                                           std::string_view configuration);

/// A solve's states in one file, the latest alone.
class HEARSAY_API CheckpointFile : public Checkpoints {
 public:
  enum class Begin {
    afresh,           ///< what the file holds is written over
    where_it_stopped  ///< the file must be there
  };
  explicit CheckpointFile(std::filesystem::path path, std::string configuration = {}, Begin begin = Begin::afresh);

  void save(const PowerState<double>& state) override;
  void save(const PowerState<float>& state) override;
  bool load(PowerState<double>& state) override;
  bool load(PowerState<float>& state) override;

 private:
  std::filesystem::path path_;
  std::string configuration_;
  Begin begin_;
};

}  // namespace hearsay::io
