#include "pki/pki.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>

#include "hearsay/error.hpp"

namespace hearsay::app {

namespace {

template <auto free_it>
struct Freed {
  template <class T>
  void operator()(T* thing) const {
    free_it(thing);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Name = std::unique_ptr<X509_NAME, Freed<X509_NAME_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Store = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;

struct FreedChain {
  void operator()(STACK_OF(X509) * chain) const { sk_X509_pop_free(chain, X509_free); }
};
using Chain = std::unique_ptr<STACK_OF(X509), FreedChain>;
struct FreedExtensions {
  void operator()(STACK_OF(X509_EXTENSION) * list) const { sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free); }
};
using Extensions = std::unique_ptr<STACK_OF(X509_EXTENSION), FreedExtensions>;

std::string last_problem() {
  char text[256] = "unknown";
  const unsigned long code = ERR_peek_last_error();
  if (code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

// What fails here is OpenSSL's, and nothing that a user can mend.
void done_or_throw(bool ok, std::string_view what) {
  if (!ok) throw Error(fmt::format("{}: OpenSSL cannot: {}", what, last_problem()));
}

// Where there was no memory for OpenSSL's own state, its functions crash.
void require_library() { done_or_throw(OSSL_LIB_CTX_get0_global_default() != nullptr, "memory"); }

Bio reading(const std::string& text) {
  require_library();
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(std::min<std::size_t>(text.size(), 1 << 24))));
  done_or_throw(bio != nullptr, "memory");
  return bio;
}

template <class Write>
std::string pem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  done_or_throw(bio != nullptr && write(bio.get()) == 1, "PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

// A key with a password would ask for it on the terminal.
int no_password(char*, int, int, void*) { return -1; }

Key key_of(const std::string& text, std::string_view file) {
  Key key(PEM_read_bio_PrivateKey(reading(text).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!key) throw DataError(fmt::format("{}: must be a private key in PEM, without a password", file));
  return key;
}

Certificate certificate_of(const std::string& text, std::string_view file) {
  Certificate certificate(PEM_read_bio_X509(reading(text).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!certificate) throw DataError(fmt::format("{}: must be a certificate in PEM", file));
  return certificate;
}

Chain chain_of(const std::string& text) {
  Chain chain(sk_X509_new_null());
  const Bio bio = reading(text);
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)) sk_X509_push(chain.get(), next);
  ERR_clear_error();
  return chain;
}

Request request_of(const std::string& text, std::string_view file) {
  Request request(PEM_read_bio_X509_REQ(reading(text).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!request) throw DataError(fmt::format("{}: must be a certificate request in PEM", file));
  return request;
}

Name name_of(const std::string& common_name) {
  Name name(X509_NAME_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(common_name.data());
  const int length = static_cast<int>(std::min<std::size_t>(common_name.size(), 64));  // what the standard allows
  done_or_throw(name && X509_NAME_add_entry_by_txt(name.get(), "CN", MBSTRING_UTF8, bytes, length, -1, 0) == 1, "name");
  return name;
}

// As bytes, and not by a text that OpenSSL would parse: a name with a comma must not become two.
Extension alternative_name(const std::string& identity) {
  const bool dns = identity.starts_with("DNS:");
  if (!dns && !identity.starts_with("URI:"))
    throw InvalidArgument(fmt::format("identity = {}: must be DNS:name or URI:text", identity));
  const std::string value = identity.substr(4);
  Names names(sk_GENERAL_NAME_new_null());
  GENERAL_NAME* entry = GENERAL_NAME_new();
  ASN1_IA5STRING* text = ASN1_IA5STRING_new();
  done_or_throw(names && entry && text && ASN1_STRING_set(text, value.data(), static_cast<int>(value.size())) == 1,
                "alternative name");
  GENERAL_NAME_set0_value(entry, dns ? GEN_DNS : GEN_URI, text);
  sk_GENERAL_NAME_push(names.get(), entry);
  Extension made(X509V3_EXT_i2d(NID_subject_alt_name, 0, names.get()));
  done_or_throw(made != nullptr, "alternative name");
  return made;
}

Extension extension(int kind, const char* value) {
  Extension made(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  done_or_throw(made != nullptr, value);
  return made;
}

void add(X509& certificate, const Extension& extension) {
  done_or_throw(X509_add_ext(&certificate, extension.get(), -1) == 1, "extension");
}

// The identifiers by which a chain is built, the same way in every certificate of ours.
void add_key_identifiers(X509& certificate, X509& issuer) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  for (const auto& [kind, value] :
       {std::pair{NID_subject_key_identifier, "hash"}, std::pair{NID_authority_key_identifier, "keyid"}}) {
    const Extension made(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    done_or_throw(made != nullptr, value);
    add(certificate, made);
  }
}

Certificate blank_certificate(Validity validity, const Name& subject, EVP_PKEY* key) {
  Certificate certificate(X509_new());
  const Number serial(BN_new());
  done_or_throw(certificate && serial && BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
                    X509_set_version(certificate.get(), 2) == 1 &&
                    BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) != nullptr &&
                    ASN1_TIME_set(X509_getm_notBefore(certificate.get()), validity.begin) != nullptr &&
                    ASN1_TIME_set(X509_getm_notAfter(certificate.get()), validity.end) != nullptr &&
                    X509_set_subject_name(certificate.get(), subject.get()) == 1 &&
                    X509_set_pubkey(certificate.get(), key) == 1,
                "certificate");
  return certificate;
}

std::string text_of(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string common_name(const X509_NAME* name) {
  char text[256] = "";
  X509_NAME_get_text_by_NID(const_cast<X509_NAME*>(name), NID_commonName, text, sizeof text);
  return text;
}

std::vector<std::string> identities_of(const GENERAL_NAMES* names) {
  std::vector<std::string> texts;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    int kind = 0;
    const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &kind);
    if (kind != GEN_DNS && kind != GEN_URI) {
      texts.push_back("a name of another kind");
      continue;
    }
    const auto* text = static_cast<const ASN1_STRING*>(value);
    texts.push_back(fmt::format("{}:{}", kind == GEN_DNS ? "DNS" : "URI",
                                std::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                                 static_cast<std::size_t>(ASN1_STRING_length(text)))));
  }
  return texts;
}

std::time_t time_of(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

[[noreturn]] void refuse_file(const std::filesystem::path& path, int problem) {
  throw Error(fmt::format("{}: cannot be written: {}", path.string(), std::generic_category().message(problem)));
}

}  // namespace

std::string new_key() {
  require_library();
  const Key key(EVP_EC_gen("P-256"));
  done_or_throw(key != nullptr, "key");
  return pem(
      [&](BIO* bio) { return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string certificate_request(const std::string& key_text, const std::string& name, const std::string& identity) {
  const Key key = key_of(key_text, "key");
  const Request request(X509_REQ_new());
  Extensions extensions(sk_X509_EXTENSION_new_null());
  Extension alternative = alternative_name(identity);
  done_or_throw(extensions && sk_X509_EXTENSION_push(extensions.get(), alternative.get()) > 0, "request");
  alternative.release();
  done_or_throw(request && X509_REQ_set_version(request.get(), 0) == 1 &&
                    X509_REQ_set_subject_name(request.get(), name_of(name).get()) == 1 &&
                    X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
                    X509_REQ_add_extensions(request.get(), extensions.get()) == 1 &&
                    X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0,
                "certificate request");
  return pem([&](BIO* bio) { return PEM_write_bio_X509_REQ(bio, request.get()); });
}

std::string authority_certificate(const std::string& key_text, const std::string& name, Validity validity) {
  const Key key = key_of(key_text, "key");
  const Name subject = name_of(name);
  const Certificate certificate = blank_certificate(validity, subject, key.get());
  X509_set_issuer_name(certificate.get(), subject.get());
  add(*certificate, extension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  add(*certificate, extension(NID_key_usage, "critical,keyCertSign,cRLSign"));
  add_key_identifiers(*certificate, *certificate);
  done_or_throw(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "signature");
  return pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
}

RequestFacts read_request(const std::string& text, std::string_view file) {
  const Request request = request_of(text, file);
  if (X509_REQ_verify(request.get(), X509_REQ_get0_pubkey(request.get())) != 1) {
    ERR_clear_error();
    throw DataError(fmt::format("{}: must be signed by the key that it is a request for", file));
  }
  const Extensions extensions(X509_REQ_get_extensions(request.get()));
  const Names names(
      static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions.get(), NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  return {.name = common_name(X509_REQ_get_subject_name(request.get())), .identities = identities_of(names.get())};
}

std::string signed_certificate(const std::string& request_text, const std::string& authority_text,
                               const std::string& authority_key, const std::string& name, const std::string& identity,
                               Validity validity) {
  const Request request = request_of(request_text, "request");
  const Certificate authority = certificate_of(authority_text, "authority");
  const Key key = key_of(authority_key, "authority's key");
  const Certificate certificate = blank_certificate(validity, name_of(name), X509_REQ_get0_pubkey(request.get()));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.get()));
  add(*certificate, extension(NID_basic_constraints, "critical,CA:FALSE"));
  add(*certificate, extension(NID_key_usage, "critical,digitalSignature"));
  add(*certificate, extension(NID_ext_key_usage, "serverAuth,clientAuth"));
  add(*certificate, alternative_name(identity));
  add_key_identifiers(*certificate, *authority);
  done_or_throw(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "signature");
  return pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
}

CertificateFacts read_certificate(const std::string& text, std::string_view file) {
  const Certificate certificate = certificate_of(text, file);
  const Names names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  const Number number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate.get()), nullptr));
  char* digits = number ? BN_bn2hex(number.get()) : nullptr;
  CertificateFacts facts{
      .subject = text_of(X509_get_subject_name(certificate.get())),
      .issuer = text_of(X509_get_issuer_name(certificate.get())),
      .serial = digits != nullptr ? digits : "",
      .identities = identities_of(names.get()),
      .validity = {time_of(X509_get0_notBefore(certificate.get())), time_of(X509_get0_notAfter(certificate.get()))}};
  OPENSSL_free(digits);
  return facts;
}

bool fits(const std::string& key, const std::string& certificate, std::string_view file) {
  const bool same =
      X509_check_private_key(certificate_of(certificate, "certificate").get(), key_of(key, file).get()) == 1;
  ERR_clear_error();
  return same;
}

std::string chain_problem(const std::string& text, const std::string& authority_text, std::time_t when) {
  const Certificate certificate = certificate_of(text, "certificate");
  const Chain between = chain_of(text), authorities = chain_of(authority_text);
  if (sk_X509_num(authorities.get()) == 0) return "the authority's file holds no certificate";
  const Store store(X509_STORE_new());
  done_or_throw(store != nullptr, "chain");
  for (int i = 0; i < sk_X509_num(authorities.get()); ++i)
    done_or_throw(X509_STORE_add_cert(store.get(), sk_X509_value(authorities.get(), i)) == 1, "chain");
  for (const int purpose : {X509_PURPOSE_SSL_SERVER, X509_PURPOSE_SSL_CLIENT}) {
    const StoreContext context(X509_STORE_CTX_new());
    done_or_throw(context && X509_STORE_CTX_init(context.get(), store.get(), certificate.get(), between.get()) == 1,
                  "chain");
    X509_STORE_CTX_set_time(context.get(), 0, when);
    X509_STORE_CTX_set_purpose(context.get(), purpose);
    if (X509_verify_cert(context.get()) == 1) continue;
    const int error = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return X509_verify_cert_error_string(error);
  }
  return {};
}

std::string date_text(std::time_t when) {
  std::tm parts{};
  gmtime_r(&when, &parts);
  char text[64] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

// Whole under its name or not there: it is written under another, and then linked.
void write_secret(const std::filesystem::path& path, const std::string& text) {
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkstemp(temporary.data());  // which lets the owner alone read it
  if (file < 0) refuse_file(path, errno);
  int problem = 0;
  for (std::size_t written = 0; problem == 0 && written < text.size();) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) problem = errno;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  if (problem == 0 && fsync(file) != 0) problem = errno;
  ::close(file);
  if (problem == 0 && link(temporary.c_str(), path.c_str()) != 0) problem = errno;
  unlink(temporary.c_str());
  if (problem == EEXIST)
    throw InvalidArgument(fmt::format("{}: is there already, and is not overwritten", path.string()));
  if (problem != 0) refuse_file(path, problem);
}

}  // namespace hearsay::app
