// Who may talk to whom: TLS 1.3 with certificates on both sides.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>

#include <memory>
#include <span>
#include <string>

#include "hearsay/grpc.hpp"

namespace hearsay::over_grpc {

/// Before anything else of gRPC's is used in the process.
void allow_tls_1_3_only();

using Certificates = std::shared_ptr<grpc::experimental::CertificateProviderInterface>;
Certificates watched(const TlsFiles& files, unsigned reload_seconds);

/// Of the end that dials: the other must be this peer.
std::shared_ptr<grpc::ChannelCredentials> towards(const GrpcPeer& peer, const Certificates& certificates);
/// Of the end that is dialled. Which edge a caller may be on is asked of each call.
std::shared_ptr<grpc::ServerCredentials> for_callers(const Certificates& certificates);

/// Whether a certificate with these alternative names is of that identity.
bool answers_to(const std::string& identity, std::span<const std::string> dns_names,
                std::span<const std::string> uri_names);

/// "DNS:a, URI:b", or "nobody in particular".
std::string spelled(std::span<const std::string> dns_names, std::span<const std::string> uri_names);

}  // namespace hearsay::over_grpc
