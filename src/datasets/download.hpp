#pragma once

#include <string>

#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"

namespace hearsay::io {

/// The caller's own wish, after which no other address is tried.
class DownloadStopped : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

/// The body of one answer, redirects followed. Throws CommunicationError, which names the URL and, for HTTP, the
/// status.
std::string download(const std::string& url, const Progress& progress, const FetchLimits& limits);

}  // namespace hearsay::io
