// Letters between MPI ranks: byte strings that arrive complete, and in order for each sender.
#ifndef COMMON_TRANSPORT_MPI_MPI_MAIL_H_
#define COMMON_TRANSPORT_MPI_MPI_MAIL_H_

#include <deque>
#include <list>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/mpi/mpi_bytes.h"

namespace iobench {

// A complete message and the rank that sent it. An empty letter is a goodbye or, of rank 0, says that another rank is
// gone (mpi_ranks.h).
struct MpiLetter {
  int from = 0;
  std::string bytes;
};

// All sends and receives are asynchronous and advance in Progress(), so two ranks can send each other large letters at
// the same time without a deadlock. Only the thread that initialised MPI may use it.
class MpiMail {
 public:
  explicit MpiMail(const MpiBytes& mpi) : mpi_(mpi) {}
  MpiMail(const MpiMail&) = delete;
  MpiMail& operator=(const MpiMail&) = delete;

  // Starts to send and returns at once; the bytes are kept until the transfer is done. ResourceExhausted: larger than 2
  // GiB. Internal: MPI reported an error.
  absl::Status Send(int to, std::string bytes);

  // Advances all pending transfers without blocking. At most 64 letters are received at a time; more wait at their
  // senders, which limits the memory. Internal: MPI reported an error.
  absl::Status Progress();

  // Returns the oldest letter that has arrived, or nullopt. Letters arrive only in Progress().
  std::optional<MpiLetter> Take();

  // is_sending: a letter of ours is not completely sent. under_way: a letter in either direction is not complete, so
  // polling soon again is worth it.
  bool is_sending() const { return !outgoing_.empty(); }
  bool under_way() const { return !outgoing_.empty() || !incoming_.empty(); }

  // Converts an MPI error code: 0 is OK, everything else Internal. `doing` names the failed action.
  static absl::Status StatusOf(const MpiBytes& mpi, int error, const char* doing);

 private:
  // Stored in lists, because MPI holds pointers to the bytes.
  struct Parcel {
    MpiLetter letter;          // outgoing: only the bytes are used
    void* transfer = nullptr;  // null: completed
  };

  absl::Status StartReceiving();
  absl::StatusOr<bool> Complete(Parcel& parcel);

  const MpiBytes& mpi_;
  std::list<Parcel> outgoing_;
  std::list<Parcel> incoming_;  // in the order in which their receives started
  std::deque<MpiLetter> arrived_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_MPI_MAIL_H_
