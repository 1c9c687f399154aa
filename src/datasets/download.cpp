#include "datasets/download.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string_view>

namespace hearsay::io {
namespace {

// What the callbacks share. Exceptions must not cross libcurl, so they wait here.
struct Transfer {
  const std::string& url;
  const Progress& progress;
  std::string bytes = {};
  bool stopped = false;
  bool too_long = false;
  std::exception_ptr thrown = nullptr;
};

std::size_t on_bytes(const char* data, std::size_t, std::size_t count, void* context) noexcept {
  auto& transfer = *static_cast<Transfer*>(context);
  try {
    transfer.too_long = transfer.bytes.size() + count > longest_download;
    if (transfer.too_long) return 0;
    transfer.bytes.append(data, count);
    return count;
  } catch (...) {
    transfer.thrown = std::current_exception();
    return 0;
  }
}

int on_progress(void* context, curl_off_t expected, curl_off_t received, curl_off_t, curl_off_t) noexcept {
  auto& transfer = *static_cast<Transfer*>(context);
  try {
    transfer.stopped =
        !transfer.progress({.url = transfer.url, .bytes_received = received, .bytes_expected = expected});
  } catch (...) {
    transfer.thrown = std::current_exception();
  }
  return transfer.stopped || transfer.thrown ? 1 : 0;
}

class Curl {
 public:
  Curl() : handle_((initialise(), curl_easy_init()), &curl_easy_cleanup) {
    if (!handle_) throw CommunicationError("libcurl could not start");
  }

  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(handle_.get(), option, value);
    if (code != CURLE_OK) throw CommunicationError(fmt::format("libcurl: {}", curl_easy_strerror(code)));
  }

  CURLcode perform() { return curl_easy_perform(handle_.get()); }

  long status() const {
    long status = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

 private:
  static void initialise() {
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (once != CURLE_OK) throw CommunicationError(fmt::format("libcurl: {}", curl_easy_strerror(once)));
  }

  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_;
};

// A redirect may not lead from the network to a local file, nor from https to plain http.
const char* redirect_protocols(std::string_view url) { return url.starts_with("http:") ? "https,http" : "https"; }

}  // namespace

std::string download(const std::string& url, const Progress& progress, const FetchLimits& limits) {
  Transfer transfer{.url = url, .progress = progress};
  char reason[CURL_ERROR_SIZE] = "";

  Curl curl;
  curl.set(CURLOPT_URL, url.c_str());
  curl.set(CURLOPT_PROTOCOLS_STR, "https,http,file");
  curl.set(CURLOPT_REDIR_PROTOCOLS_STR, redirect_protocols(url));
  curl.set(CURLOPT_FOLLOWLOCATION, 1L);
  curl.set(CURLOPT_MAXREDIRS, most_redirects);
  curl.set(CURLOPT_FAILONERROR, 1L);
  curl.set(CURLOPT_CONNECTTIMEOUT, connect_seconds);
  curl.set(CURLOPT_TIMEOUT, static_cast<long>(limits.each_file.count()));  // a byte a second would never stall
  curl.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl.set(CURLOPT_LOW_SPEED_TIME, stall_seconds);
  curl.set(CURLOPT_NOSIGNAL, 1L);  // its time limits must not use the process's alarm
  curl.set(CURLOPT_USERAGENT, "hearsay");
  curl.set(CURLOPT_ERRORBUFFER, reason);
  curl.set(CURLOPT_WRITEFUNCTION, &on_bytes);
  curl.set(CURLOPT_WRITEDATA, &transfer);
  curl.set(CURLOPT_NOPROGRESS, progress ? 0L : 1L);
  curl.set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl.set(CURLOPT_XFERINFODATA, &transfer);

  const CURLcode code = curl.perform();
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (code == CURLE_OK) return std::move(transfer.bytes);
  if (transfer.stopped) throw DownloadStopped(fmt::format("{}: stopped after {} bytes", url, transfer.bytes.size()));
  if (code == CURLE_OPERATION_TIMEDOUT)
    throw CommunicationError(fmt::format("{}: {} bytes, and no more, in the time allowed: {}", url,
                                         transfer.bytes.size(), *reason != '\0' ? reason : curl_easy_strerror(code)));
  if (code == CURLE_HTTP_RETURNED_ERROR)
    throw CommunicationError(fmt::format("{}: HTTP status {}", url, curl.status()));
  if (transfer.too_long) throw CommunicationError(fmt::format("{}: longer than {} bytes", url, longest_download));
  throw CommunicationError(fmt::format("{}: {}", url, *reason != '\0' ? reason : curl_easy_strerror(code)));
}

}  // namespace hearsay::io
