#include "common/transport/grpc/join_credentials.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/transport/grpc/join_security.h"
#include "common/transport/guard/openssl_types.h"
#include "common/transport/grpc/tls_probe.h"
#include "common/transport/grpc/token_file.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

using Catch::Contains;

class Directory {
 public:
  std::string File(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const std::string file = directory_ / name;
    std::ofstream(file) << text;
    REQUIRE(chmod(file.c_str(), mode) == 0);
    return file;
  }

 private:
  const TempDir directory_;
};

TEST_CASE("a token file holds what it was given") {
  const TlsIdentity identity = *MakeRunIdentity({"node01"});
  const JoinCredentials both = {*MakeToken(),
                                identity.certificate_pem + MakeRunIdentity({})->certificate_pem};
  CHECK(*ParseJoinCredentials(SerializeJoinCredentials(both)) == both);
  const JoinCredentials alone = {"sixteen-letters!", ""};
  CHECK(*ParseJoinCredentials(SerializeJoinCredentials(alone)) == alone);
  // As an editor may leave it, or openssl x509 -text.
  const auto edited =
      ParseJoinCredentials(alone.token.text() + "\r\n\r\nCertificate:\r\n" + identity.certificate_pem + "\n");
  REQUIRE(edited.ok());
  CHECK(edited->token == alone.token);
  CHECK(edited->certificates_pem == identity.certificate_pem);
}

TEST_CASE("a token file that cannot be right is refused without showing its token") {
  const TlsIdentity identity = *MakeRunIdentity({});
  std::string damaged = identity.certificate_pem;
  damaged.erase(damaged.size() / 2, 3);
  const std::string token = "a-good-token-of-many-letters";
  const std::pair<std::string, const char*> kBad[] = {
      {"", "but has 0"},
      {"short", "but has 5"},
      {std::string(600, 'x'), "but has 600"},
      {"a token with blanks in it", "characters that a token cannot have"},
      {"a-token-with-an-\xc3\xa9-in-it", "characters that a token cannot have"},
      {token + "\n" + damaged, "certificate number 1 is damaged"},
      {token + "\n" + identity.certificate_pem + "-----BEGIN CERTIFICATE-----\nMIIB",
       "certificate number 2 is damaged"},
      {token + "\n" + identity.certificate_pem + identity.key_pem.text(), "private key"},
      {std::string(70'000, 'x'), "more than 64 KiB"},
  };
  for (const auto& [text, words] : kBad) {
    INFO(words);
    const auto parsed = ParseJoinCredentials(text);
    CHECK(absl::IsInvalidArgument(parsed.status()));
    CHECK_THAT(std::string(parsed.status().message()), Contains(words) && !Contains("good-token"));
  }
}

TEST_CASE("tokens are random, long, and compared as a whole") {
  const std::string token = MakeToken()->text();
  CHECK(token.size() == 43);
  CHECK(token != MakeToken()->text());
  CHECK(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
        std::string::npos);
  CHECK(TokensMatch(token, token));
  CHECK_FALSE(TokensMatch(token, token + "x"));
  CHECK_FALSE(TokensMatch(token, token.substr(1)));
  CHECK_FALSE(TokensMatch(token, ""));
  CHECK_FALSE(TokensMatch("", ""));
}

TEST_CASE("a token file that others can read, or that another user wrote, is refused") {
  const Directory directory;
  const std::string text = MakeToken()->text() + "\n";
  const auto read = [&](mode_t mode, SecretReaders readers) {
    return ReadTokenFile(directory.File(absl::StrCat("of-", mode), text, mode), readers).status();
  };
  for (const mode_t mode : {0600, 0400, 0700}) CHECK(read(mode, SecretReaders::kOwner).ok());
  for (const mode_t mode : {0640, 0440}) {
    CHECK_THAT(std::string(read(mode, SecretReaders::kOwner).message()),
               Contains("its group can read it") && Contains("chmod 600, or --token-group"));
    CHECK(read(mode, SecretReaders::kGroup).ok());
  }
  for (const mode_t mode : {0644, 0604, 0660, 0620, 0610, 0602, 0601}) {
    CAPTURE(mode);
    CHECK(absl::IsPermissionDenied(read(mode, SecretReaders::kGroup)));
    CHECK_THAT(std::string(read(mode, SecretReaders::kOwner).message()),
               Contains(directory.File(absl::StrCat("of-", mode), text, mode)) && Contains("others have access") &&
                   Contains("use chmod 600"));
  }
  CHECK(absl::IsNotFound(ReadTokenFile("/nonexistent/token", SecretReaders::kOwner).status()));
  if (::geteuid() == 0) {  // only root can give a file away
    const std::string others = directory.File("others", text, 0600);
    REQUIRE(::chown(others.c_str(), 4711, static_cast<gid_t>(-1)) == 0);
    CHECK_THAT(std::string(ReadTokenFile(others, SecretReaders::kGroup).status().message()),
               Contains("belongs to user 4711") && Contains("use a file of your own or of root"));
  }
}

TEST_CASE("a token file is written for its user alone, and replaced as a whole") {
  const Directory directory;
  const std::string file = directory.File("token", "old", 0644);
  const JoinCredentials credentials = {*MakeToken(), MakeRunIdentity({})->certificate_pem};
  REQUIRE(WriteTokenFile(file, credentials).ok());
  struct stat facts {};
  REQUIRE(stat(file.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0600);
  CHECK(*ReadTokenFile(file, SecretReaders::kOwner) == credentials);
  CHECK_FALSE(WriteTokenFile("/nonexistent/token", credentials).ok());
  CHECK(std::distance(std::filesystem::directory_iterator(std::filesystem::path(file).parent_path()), {}) ==
        1);
}

TEST_CASE("only a certificate made for a run is asked for the name that all of them have") {
  const std::string of_run =
      MakeRunIdentity({"node01", "10.0.0.1", "fe80::1", "not a name,IP:1.2.3.4"})->certificate_pem;
  CHECK(NameInRunCertificate(of_run) == kPinnedName);
  CHECK(NameInRunCertificate(of_run + of_run).empty());
  CHECK(NameInRunCertificate("").empty());
}

TEST_CASE("a certificate made for a run is valid for longer than any run lasts") {
  const TlsIdentity identity = *MakeRunIdentity({});
  const OwnedCertificate certificate = NextCertificate(ReadingBio(identity.certificate_pem).get());
  REQUIRE((certificate != nullptr));
  int days = 0, seconds = 0;
  REQUIRE(ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate.get())) == 1);
  CHECK(days > 10'000'000 / 86'400);  // the longest --soak
}

TEST_CASE("what protects a connection follows from the address and the options") {
  const auto decide = [](const char* address, const JoinSecurityOptions& options) {
    return MakeJoinSecurity(*ParseGrpcAddress(address), options);
  };
  CHECK_FALSE(decide("127.0.0.1:0", {})->tls);
  CHECK(decide("127.0.0.1:0", {})->token.empty());
  CHECK_FALSE(decide("unix:/x", {})->tls);
  for (const char* const address : {"unix:/x", "127.0.0.1:0", "[::1]:0", "localhost:0", ":0"}) {
    INFO(address);
    const auto with_token = decide(address, {.needs_token = true});
    REQUIRE(with_token.ok());
    CHECK(with_token->token.size() == 43);
    CHECK(with_token->tls);
    CHECK(with_token->for_workers.certificates_pem == with_token->identity.certificate_pem);
  }
  const auto open = decide(":9400", {});
  CHECK(absl::IsFailedPrecondition(open.status()));
  CHECK_THAT(std::string(open.status().message()),
             Contains(":9400") && Contains("--token-file") && Contains("--tls-ca") && Contains("--insecure"));
  const auto with_token = decide("0.0.0.0:9400", {.token = "0123456789abcdef"});
  REQUIRE(with_token.ok());
  CHECK(with_token->tls);
  CHECK(with_token->made_for_run);
  CHECK(with_token->for_workers == JoinCredentials{"0123456789abcdef", with_token->identity.certificate_pem});
  CHECK(absl::IsInvalidArgument(decide(":1", {.token = "short"}).status()));
  const auto insecure = decide(":1", {.insecure = true, .needs_token = true});
  CHECK(insecure->insecure);
  CHECK_FALSE(insecure->tls);
  CHECK(insecure->token.empty());
  CHECK(absl::IsInvalidArgument(decide(":1", {.insecure = true, .token = "0123456789abcdef"}).status()));
  CHECK(absl::IsInvalidArgument(decide(":1", {.tls = {.ca = "/ca"}, .needs_token = true}).status()));
}

TEST_CASE("files for TLS that do not belong together are named by their options") {
  const Directory directory;
  const TlsIdentity one = *MakeRunIdentity({});
  const TlsIdentity two = *MakeRunIdentity({});
  const std::string certificate = directory.File("cert", one.certificate_pem);
  const std::string key = directory.File("key", one.key_pem.text());
  const std::string empty = directory.File("empty", "");
  CHECK(ReadTlsFiles({certificate, key, certificate})->key_pem == one.key_pem);
  CHECK(ReadTlsFiles({certificate, directory.File("of-group", one.key_pem.text(), 0640), ""}).ok());
  const std::pair<TlsFiles, const char*> kBad[] = {
      {{certificate, directory.File("of-all", one.key_pem.text(), 0644), ""}, "others have access to it"},
      {{certificate, "", ""}, "needs --tls-key"},
      {{"", key, ""}, "needs --tls-cert"},
      {{certificate, directory.File("other", two.key_pem.text()), ""}, "is not the key of"},
      {{empty, key, ""}, "no certificate in PEM"},
      {{certificate, empty, ""}, "no private key in PEM"},
      {{"", "", empty}, "--tls-ca"},
      {{"", "", "/nonexistent"}, "--tls-ca"},
      {{certificate, key, "", empty}, "needs --tls-ca"},
      {{certificate, key, certificate, certificate}, "no revocation list in PEM"},
  };
  for (const auto& [files, words] : kBad) {
    INFO(words);
    CHECK_THAT(std::string(ReadTlsFiles(files).status().message()), Contains(words));
  }
}

}  // namespace
}  // namespace iobench
