#include "grpc/credentials.hpp"

#include <fmt/format.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace hearsay::over_grpc {

namespace {

namespace tls = grpc::experimental;

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::vector<std::string> copied(const std::vector<grpc::string_ref>& names) {
  std::vector<std::string> texts;
  for (const grpc::string_ref& name : names) texts.emplace_back(name.data(), name.size());
  return texts;
}

// The chain was checked by the handshake. Here: that it is the chain of the agent that was meant.
class IsThePeer final : public tls::ExternalCertificateVerifier {
 public:
  explicit IsThePeer(GrpcPeer peer) : peer_(std::move(peer)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    const auto dns_names = copied(request->dns_names()), uri_names = copied(request->uri_names());
    *status = answers_to(peer_.identity, dns_names, uri_names)
                  ? grpc::Status::OK
                  : grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                                 fmt::format("who answers at {} is {}, and agent {} ({}) must be {}", peer_.address,
                                             spelled(dns_names, uri_names), peer_.agent, peer_.name, peer_.identity));
    return true;  // at once
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  GrpcPeer peer_;
};

// The handshake checks the chain, and each call its caller's name.
class AnyOfTheAuthority final : public tls::ExternalCertificateVerifier {
 public:
  bool Verify(tls::TlsCustomVerificationCheckRequest*, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    *status = grpc::Status::OK;
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}
};

template <class Options>
void use(Options& options, const Certificates& certificates) {
  options.set_certificate_provider(certificates);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_check_call_host(false);  // a name in the roster, not that of a host
#if HEARSAY_GRPC_MIN_TLS_VERSION
  options.set_min_tls_version(grpc_tls_version::TLS1_3);
#endif
}

}  // namespace

// gRPC 1.51 has no call that sets the least version: it accepts 1.2 as well. It takes the ciphers of 1.2 from the
// environment, though, once, and those of 1.3 are others: one that needs a key shared beforehand, of which there is
// none here, leaves 1.2 without any cipher. Later versions have the call (use(), above).
void allow_tls_1_3_only() {
  static std::once_flag once;
  std::call_once(once, [] { setenv("GRPC_SSL_CIPHER_SUITES", "PSK-AES256-GCM-SHA384", 1); });
}

Certificates watched(const TlsFiles& files, unsigned reload_seconds) {
  return std::make_shared<tls::FileWatcherCertificateProvider>(files.key.string(), files.certificate.string(),
                                                               files.authority.string(), reload_seconds);
}

std::shared_ptr<grpc::ChannelCredentials> towards(const GrpcPeer& peer, const Certificates& certificates) {
  tls::TlsChannelCredentialsOptions options;
  use(options, certificates);
  options.set_verify_server_certs(true);
  options.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<IsThePeer>(peer));
  return tls::TlsCredentials(options);
}

std::shared_ptr<grpc::ServerCredentials> for_callers(const Certificates& certificates) {
  tls::TlsServerCredentialsOptions options(certificates);
  use(options, certificates);
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<AnyOfTheAuthority>());
  return tls::TlsServerCredentials(options);
}

bool answers_to(const std::string& identity, std::span<const std::string> dns_names,
                std::span<const std::string> uri_names) {
  const std::string_view name = std::string_view(identity).substr(std::min<std::size_t>(4, identity.size()));
  if (identity.starts_with("DNS:"))
    return std::any_of(dns_names.begin(), dns_names.end(), [name](const auto& own) { return same_name(own, name); });
  return identity.starts_with("URI:") && std::find(uri_names.begin(), uri_names.end(), name) != uri_names.end();
}

std::string spelled(std::span<const std::string> dns_names, std::span<const std::string> uri_names) {
  std::string text;
  for (const std::string& name : dns_names) text += fmt::format("{}DNS:{}", text.empty() ? "" : ", ", name);
  for (const std::string& name : uri_names) text += fmt::format("{}URI:{}", text.empty() ? "" : ", ", name);
  return text.empty() ? "nobody in particular" : text;
}

}  // namespace hearsay::over_grpc
