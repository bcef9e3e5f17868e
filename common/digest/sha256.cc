#include "common/digest/sha256.h"

#include <openssl/evp.h>

#include <memory>

#include "absl/strings/escaping.h"
#include "common/digest/file_parts.h"
#include "common/status_util.h"

namespace iobench {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void Add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string Hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_bytes = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &digest_bytes);
    return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), digest_bytes));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string Sha256Of(std::initializer_list<std::string_view> pieces) {
  Sha256 sha256;
  for (const std::string_view piece : pieces) sha256.Add(piece);
  return sha256.Hex();
}

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  Sha256 sha256;
  IOBENCH_RETURN_IF_ERROR(ReadInParts(path, [&sha256](std::string_view part) { sha256.Add(part); }));
  return sha256.Hex();
}

const std::string& Sha256OfProgram() {
  static const std::string sha256 = Sha256OfFile("/proc/self/exe").value_or("");
  return sha256;
}

}  // namespace iobench
