#include "common/transport/grpc/token_file.h"

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/own_files/own_file.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr char kWhat[] = "token file";
constexpr int kLookMs = 50;  // for a signal

absl::Status NoToken(const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("no token on standard input (--token-file -): ", why));
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
  IOBENCH_ASSIGN_OR_RETURN(const Secret text, ReadSecretFile(kWhat, file, kMaxTokenFileBytes, readers));
  auto credentials = ParseJoinCredentials(text);
  if (credentials.ok()) return credentials;
  return Annotate(credentials.status(), absl::StrCat(kWhat, " ", file));
}

absl::StatusOr<JoinCredentials> ReadTokenInput(double within_s, const std::atomic<bool>& stop) {
  std::string text;
  std::array<char, 4096> part{};
  text.reserve(kMaxTokenFileBytes + part.size());  // no copy of it is left where it was shorter
  const absl::Cleanup wipe = [&] {
    explicit_bzero(part.data(), part.size());
    Secret::Wipe(text);
  };
  const int64_t until_ns = MonotonicNowNs() + NanosFrom(within_s);
  while (text.size() <= kMaxTokenFileBytes) {
    if (stop.load(std::memory_order_relaxed)) return absl::CancelledError("the worker was stopped");
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&input, 1, kLookMs) <= 0) {
      if (MonotonicNowNs() < until_ns) continue;
      return NoToken(absl::StrCat(text.empty() ? "none came within " : "it did not end within ", FormatSeconds(within_s)));
    }
    const ssize_t got = read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return ErrnoStatus("standard input (--token-file -)", errno);
    if (got == 0) break;
    text.append(part.data(), static_cast<size_t>(got));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return NoToken("it is empty");
  auto credentials = ParseJoinCredentials(text);
  if (credentials.ok()) return credentials;
  return Annotate(credentials.status(), "token on standard input");
}

absl::StatusOr<UniqueFd> TokenInput(const JoinCredentials& credentials) {
  constexpr char kMemory[] = "memory for the workers' credentials";
  UniqueFd input(memfd_create("credentials", MFD_CLOEXEC));
  if (!input.valid()) return ErrnoStatus(kMemory, errno);
  const Secret text = SerializeJoinCredentials(credentials);
  if (write(input.get(), text.text().data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      lseek(input.get(), 0, SEEK_SET) != 0) {
    return ErrnoStatus(kMemory, errno);
  }
  return input;
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
