#include "common/transport/mpi/mpi_mail.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// Limits the memory for letters that nobody has taken yet.
constexpr size_t kMaxIncoming = 64;

}  // namespace

absl::Status MpiMail::StatusOf(const MpiBytes& mpi, int error, const char* doing) {
  if (error == 0) return absl::OkStatus();
  char text[512];
  mpi.describe(error, text, sizeof text);
  return absl::InternalError(absl::StrCat("MPI: ", doing, ": ", text));
}

absl::Status MpiMail::Send(int to, std::string bytes) {
  if (bytes.size() > IOBENCH_MPI_MAX_BYTES) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a message of ", bytes.size(), " bytes: MPI takes 2 GiB"));
  }
  Parcel& parcel = outgoing_.emplace_back();
  parcel.letter.bytes = std::move(bytes);
  const std::string& kept = parcel.letter.bytes;
  const int error = mpi_.start_send(to, kept.data(), kept.size(), &parcel.transfer);
  if (error == 0) return absl::OkStatus();
  outgoing_.pop_back();
  return StatusOf(mpi_, error, "send");
}

absl::Status MpiMail::Progress() {
  if (absl::Status status = StartReceiving(); !status.ok()) return status;
  for (auto parcel = outgoing_.begin(); parcel != outgoing_.end();) {
    const absl::StatusOr<bool> complete = Complete(*parcel);
    if (!complete.ok()) return complete.status();
    parcel = *complete ? outgoing_.erase(parcel) : std::next(parcel);
  }
  // A small letter may complete before a large one that the same rank sent earlier; it must wait for that one.
  std::set<int> awaited;
  for (auto parcel = incoming_.begin(); parcel != incoming_.end();) {
    const absl::StatusOr<bool> complete = Complete(*parcel);
    if (!complete.ok()) return complete.status();
    if (!*complete) awaited.insert(parcel->letter.from);
    if (awaited.contains(parcel->letter.from)) {
      ++parcel;
    } else {
      arrived_.push_back(std::move(parcel->letter));
      parcel = incoming_.erase(parcel);
    }
  }
  return absl::OkStatus();
}

std::optional<MpiLetter> MpiMail::Take() {
  if (arrived_.empty()) return std::nullopt;
  std::optional<MpiLetter> letter(std::move(arrived_.front()));
  arrived_.pop_front();
  return letter;
}

absl::Status MpiMail::StartReceiving() {
  while (incoming_.size() < kMaxIncoming) {
    int found = 0;
    int from = 0;
    size_t byte_count = 0;
    void* message = nullptr;
    if (const int error = mpi_.probe(&found, &from, &byte_count, &message); error != 0) {
      return StatusOf(mpi_, error, "probe");
    }
    if (!found) return absl::OkStatus();
    Parcel& parcel = incoming_.emplace_back();
    parcel.letter.from = from;
    parcel.letter.bytes.resize(byte_count);
    const int error = mpi_.start_receive(message, parcel.letter.bytes.data(), byte_count, &parcel.transfer);
    if (error != 0) return StatusOf(mpi_, error, "receive");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> MpiMail::Complete(Parcel& parcel) {
  if (parcel.transfer == nullptr) return true;
  int done = 0;
  if (const int error = mpi_.test(parcel.transfer, &done); error != 0) return StatusOf(mpi_, error, "test");
  if (done) parcel.transfer = nullptr;
  return done != 0;
}

}  // namespace iobench
