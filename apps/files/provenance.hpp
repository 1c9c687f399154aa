// Where a result comes from: enough to find out later whether it still belongs to its data.
#pragma once

#include <filesystem>

#include "commands/job.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// Every input with its size and SHA-256, the arguments and options as given, version and build, kernels, seed. A pipe,
/// or a file of another rank, has no digest: null. To be called when the other outputs are written: they are named too.
Json provenance_json(const Job& job);

/// {"bytes": 123, "sha256": "..."} of the bytes as they are stored; nulls where they cannot be read again.
Json file_facts(const std::filesystem::path& path);

}  // namespace hearsay::app
