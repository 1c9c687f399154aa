// Keys and certificates as the agents of a federation need them, in PEM: an authority for those who have none,
// requests, what a certificate says, and whether it leads to an authority. OpenSSL does the work.
#pragma once

#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::app {

/// A new private key, on the curve P-256.
std::string new_key();

/// A request for a certificate of this identity ("DNS:name" or "URI:text"), signed by the key.
std::string certificate_request(const std::string& key, const std::string& name, const std::string& identity);

/// The two ends of a validity, in seconds since 1970.
struct Validity {
  std::time_t begin = 0, end = 0;
};

/// A certificate that may sign others, and itself.
std::string authority_certificate(const std::string& key, const std::string& name, Validity validity);

/// What is asked for in a request. Throws DataError where it is none, or is not signed by the key that it names.
struct RequestFacts {
  std::string name = {};
  std::vector<std::string> identities = {};  ///< "DNS:..." and "URI:..." and what else it asks for
};
RequestFacts read_request(const std::string& request, std::string_view file);

/// The certificate that a request asks for, for this identity and no other, for both ends of a connection.
std::string signed_certificate(const std::string& request, const std::string& authority,
                               const std::string& authority_key, const std::string& name, const std::string& identity,
                               Validity validity);

struct CertificateFacts {
  std::string subject = {}, issuer = {}, serial = {};
  std::vector<std::string> identities = {};
  Validity validity = {};
};

/// Of the first certificate in the text. Throws DataError, which names the file.
CertificateFacts read_certificate(const std::string& certificate, std::string_view file);

/// Whether the private key is that of the certificate. Throws DataError where it is no key.
bool fits(const std::string& key, const std::string& certificate, std::string_view file);

/// Why the certificate (with what lies between, behind it) does not lead to the authority at that time; empty where it
/// does, and may stand at both ends of a connection.
std::string chain_problem(const std::string& certificate, const std::string& authority, std::time_t when);

/// "2026-11-18 09:30 UTC"
std::string date_text(std::time_t when);

/// Writes a new file that its owner alone may read. Throws Error where one of that name is there: a key that others
/// rely on must not be lost.
void write_secret(const std::filesystem::path& path, const std::string& text);

}  // namespace hearsay::app
