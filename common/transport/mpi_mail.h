// Letters between ranks: byte strings that arrive whole and in the order of their sender.
#ifndef COMMON_TRANSPORT_MPI_MAIL_H_
#define COMMON_TRANSPORT_MPI_MAIL_H_

#include <deque>
#include <list>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/mpi_bytes.h"

namespace iobench {

struct MpiLetter {
  int from = 0;
  std::string bytes;
};

// Nothing waits: sends and receives are started, and move on in Progress. So two ranks that send each other large
// letters at the same time both get them. One thread uses it, the one that initialised MPI.
class MpiMail {
 public:
  explicit MpiMail(const MpiBytes& mpi) : mpi_(mpi) {}
  MpiMail(const MpiMail&) = delete;
  MpiMail& operator=(const MpiMail&) = delete;

  // ResourceExhausted: larger than 2 GiB. Internal: what MPI says.
  absl::Status Send(int to, std::string bytes);

  // Moves everything on that is under way.
  absl::Status Progress();

  // A letter that has arrived, oldest first.
  std::optional<MpiLetter> Take();

  bool is_sending() const { return !outgoing_.empty(); }
  bool under_way() const { return !outgoing_.empty() || !incoming_.empty(); }

  // What an error code of `mpi` means.
  static absl::Status StatusOf(const MpiBytes& mpi, int error, const char* doing);

 private:
  // A list: MPI holds pointers to the bytes.
  struct Parcel {
    MpiLetter letter;          // of an outgoing one only the bytes count
    void* transfer = nullptr;  // null: complete
  };

  absl::Status StartReceiving();
  absl::StatusOr<bool> Complete(Parcel& parcel);

  const MpiBytes& mpi_;
  std::list<Parcel> outgoing_;
  std::list<Parcel> incoming_;  // in the order of their envelopes
  std::deque<MpiLetter> arrived_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_MAIL_H_
