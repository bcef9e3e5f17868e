#include "common/transport/grpc/token_file.h"

#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/own_files/own_file.h"
#include "common/status_util.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr char kWhat[] = "token file";

absl::StatusOr<Secret> ReadStandardInput() {
  std::string text;
  std::array<char, 4096> part{};
  text.reserve(kMaxTokenFileBytes + part.size());  // no copy of it is left where it was shorter
  const absl::Cleanup wipe = [&] {
    explicit_bzero(part.data(), part.size());
    Secret::Wipe(text);
  };
  while (text.size() <= kMaxTokenFileBytes) {
    const ssize_t got = read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus("standard input (--token-file -)", errno);
    if (got == 0) break;
    text.append(part.data(), static_cast<size_t>(got));
  }
  return Secret(std::move(text));
}

absl::Status WriteAll(int fd, std::string_view text, const std::string& name) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t moved = write(fd, text.data() + done, text.size() - done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return ErrnoStatus(name, errno);
    done += static_cast<size_t>(moved);
  }
  // A worker on another host must never see half of the file.
  return fsync(fd) == 0 ? absl::OkStatus() : ErrnoStatus(name, errno);
}

}  // namespace

absl::StatusOr<JoinCredentials> ReadTokenFile(const std::string& file, SecretReaders readers) {
  const bool is_input = file == "-";
  Secret text;
  if (is_input) {
    IOBENCH_ASSIGN_OR_RETURN(text, ReadStandardInput());
  } else {
    IOBENCH_ASSIGN_OR_RETURN(text, ReadSecretFile(kWhat, file, kMaxTokenFileBytes, readers));
  }
  auto credentials = ParseJoinCredentials(text);
  if (credentials.ok()) return credentials;
  return Annotate(credentials.status(),
                  is_input ? "token on standard input" : absl::StrCat(kWhat, " ", file));
}

absl::Status WriteTokenFile(const std::string& file, const JoinCredentials& credentials) {
  const std::string name = absl::StrCat(kWhat, " ", file);
  const absl::StatusOr<OwnFile> place = OwnFile::At(file);
  if (!place.ok()) return Annotate(place.status(), kWhat);
  absl::StatusOr<UniqueFd> created = place->CreatePartial(kSecretMode);
  if (!created.ok()) return Annotate(created.status(), kWhat);
  UniqueFd fd = *std::move(created);
  absl::Status status = WriteAll(fd.get(), SerializeJoinCredentials(credentials), name);
  if (close(fd.Release()) != 0 && status.ok()) status = ErrnoStatus(name, errno);
  if (status.ok()) status = Annotate(place->Publish(), kWhat);
  if (!status.ok()) place->RemovePartial();
  return status;
}

}  // namespace iobench
