#include "common/transport/mpi/mpi_transport.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mpi_io/mpi_session_files.h"
#include "common/text/log.h"
#include "common/transport/event_queue.h"
#include "common/transport/local_worker.h"
#include "common/transport/mpi/mpi_loader.h"
#include "common/transport/mpi/mpi_ranks.h"

namespace iobench {
namespace {

constexpr int64_t kBarrierNapNs = 1'000'000;
// mpirun's daemons end the ranks of a host that cannot reach them, by default after eight minutes
// (oob_tcp_keepalive_time, _intvl and _probes). Only a rank 0 that is stopped or hangs leaves a rank waiting for longer.
constexpr int64_t kAwaitRank0Ns = 600 * kNanosPerSecond;

// Lanes of this rank that wait for another one before a collective phase go on.
void EndMeetings() {
  if (CheckMpiFiles().ok()) TheMpiFiles().end_meetings();
}

// Rank 0's end. Events of its own worker arrive in the queue, whose wait also serves as the nap between polls.
class MpiCoordinator final : public Transport {
 public:
  MpiCoordinator(MpiRanks& ranks, WorkerHandler& rank0_worker)
      : ranks_(ranks), local_(0, rank0_worker, events_, "rank 0") {
    ranks_.BeginRun();
  }
  ~MpiCoordinator() override { ranks_.DismissAll().IgnoreError(); }

  absl::Status Post(WorkerId worker, const v1::WorkerRequest& request) override {
    assert(static_cast<int>(worker) < ranks_.size());
    if (worker == 0) return local_.Post(request);
    if (ranks_.has_left(static_cast<int>(worker))) {
      return absl::UnavailableError(absl::StrCat("rank ", worker, " has left"));
    }
    return Checked(ranks_.Send(static_cast<int>(worker), request));
  }

  absl::StatusOr<ReceivedEvent> WaitEvent(CoordTime deadline) override {
    while (true) {
      if (absl::Status status = Checked(ranks_.mail().Progress()); !status.ok()) return status;
      const CoordTime now = CoordNow();
      while (std::optional<MpiLetter> letter = ranks_.Take()) {
        if (absl::Status status = Checked(Deliver(*letter, now)); !status.ok()) return status;
      }
      const int64_t nap_until_ns = now.ns + ranks_.nap().NapNs(now.ns, ranks_.mail().under_way());
      std::optional<ReceivedEvent> event = events_.PopUntil(std::min(nap_until_ns, deadline.ns));
      if (event) return *std::move(event);
      if (CoordNow() >= deadline) return absl::DeadlineExceededError("no event of any worker");
    }
  }

  void GiveUp(WorkerId worker) override {
    ranks_.GiveUp(static_cast<int>(worker));
    SayOneIsGone().IgnoreError();  // a broken MPI shows in the next call
  }
  void SetLanesRunning(bool running) override { ranks_.nap().SetLanesRunning(running); }
  bool ordered() const override { return true; }
  std::string name() const override { return "mpi"; }

 private:
  absl::Status Checked(absl::Status status) {
    if (absl::IsInternal(status)) ranks_.SetUnsound();
    return status;
  }

  absl::Status SayOneIsGone() {
    EndMeetings();
    return Checked(ranks_.SayOneIsGone());
  }

  absl::Status Deliver(const MpiLetter& letter, CoordTime received_at) {
    ReceivedEvent received{static_cast<WorkerId>(letter.from), {}, received_at};
    ranks_.nap().OnMessage(received_at.ns);
    if (letter.bytes.empty()) {
      const bool expected = ranks_.has_left(letter.from);
      if (!expected) {
        received.event.mutable_lost()->set_reason(absl::StrCat("rank ", letter.from, " ended its worker"));
        events_.Push(std::move(received));
      }
      ranks_.OnGoodbye(letter.from);
      return expected ? absl::OkStatus() : SayOneIsGone();
    }
    if (!received.event.ParseFromString(letter.bytes)) {
      return absl::InternalError(absl::StrCat("rank ", letter.from, " sent what is not an event"));
    }
    if (received.event.has_joined()) {
      received.event.mutable_joined()->set_address(absl::StrCat("rank ", letter.from));
    }
    const bool leaves_early = received.event.has_left() && !ranks_.has_left(letter.from);
    events_.Push(std::move(received));
    return leaves_early ? SayOneIsGone() : absl::OkStatus();
  }

  MpiRanks& ranks_;
  EventQueue events_;
  LocalWorker local_;
};

// The end of all other ranks. The worker's threads put their events into the outbox, whose wait also serves as the nap
// between polls.
class MpiWorker final : public EventSink {
 public:
  MpiWorker(MpiRanks& ranks, WorkerHandler& handler) : ranks_(ranks), handler_(handler) {}

  void Send(v1::WorkerEvent event) override { outbox_.Push(std::move(event)); }

  // Runs until Leave and returns its reason.
  absl::StatusOr<std::string> Serve() {
    v1::WorkerEvent joined;
    *joined.mutable_joined() = handler_.Facts();
    if (absl::Status status = Mail(joined); !status.ok()) return status;
    while (true) {
      if (absl::Status status = ranks_.mail().Progress(); !status.ok()) return status;
      while (std::optional<MpiLetter> letter = ranks_.mail().Take()) {
        if (letter->bytes.empty()) {
          EndMeetings();
          continue;
        }
        v1::WorkerRequest request;
        if (!request.ParseFromString(letter->bytes))
          return absl::InternalError("rank 0 sent what is not a request");
        ranks_.nap().OnMessage(MonotonicNowNs());
        if (request.has_prepare() || request.adjust().disarm()) ranks_.nap().SetLanesRunning(false);
        handler_.Handle(request, *this);
        if (request.has_leave()) return request.leave().reason();
      }
      if (absl::Status lease = handler_.CheckLease(); !lease.ok()) return lease;
      const int64_t now_ns = MonotonicNowNs();
      std::optional<v1::WorkerEvent> event =
          outbox_.PopUntil(now_ns + ranks_.nap().NapNs(now_ns, ranks_.mail().under_way()));
      for (; event; event = outbox_.TryPop()) {
        if (absl::Status status = Mail(*event); !status.ok()) return status;
      }
    }
  }

  // Stops the lanes, says that this rank has left, for the reason, and waits until rank 0 tells it to go, which may take
  // until the network is back. The run's data stay: rank 0 may use them, and if it is dead, mpirun ends this rank, whose
  // janitor then removes them. DeadlineExceeded: rank 0 is silent for good. Internal: MPI failed.
  absl::Status LeaveAndWait(const std::string& reason) {
    v1::WorkerRequest disarm;
    disarm.mutable_adjust()->set_disarm(true);
    handler_.Handle(disarm, *this);
    v1::WorkerEvent left;
    left.mutable_left()->set_reason(reason);
    outbox_.Push(std::move(left));
    ranks_.nap().SetLanesRunning(true);  // it naps as long as then
    const int64_t until_ns = MonotonicNowNs() + kAwaitRank0Ns;
    while (MonotonicNowNs() < until_ns) {
      if (absl::Status status = ranks_.mail().Progress(); !status.ok()) return status;
      while (std::optional<MpiLetter> letter = ranks_.mail().Take()) {
        v1::WorkerRequest request;
        if (!request.ParseFromString(letter->bytes) || !request.has_leave()) continue;
        handler_.Handle(request, *this);
        return absl::OkStatus();
      }
      std::optional<v1::WorkerEvent> event = outbox_.PopUntil(MonotonicNowNs() + MpiNap::kLanesNs);
      for (; event; event = outbox_.TryPop()) {
        if (absl::Status status = Mail(*event); !status.ok()) return status;
      }
    }
    return absl::DeadlineExceededError("rank 0 has not answered for ten minutes");
  }

  // Sends the events that the handler created before it was shut down.
  absl::Status MailRest() {
    while (std::optional<v1::WorkerEvent> event = outbox_.TryPop()) {
      if (absl::Status status = Mail(*event); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Mail(const v1::WorkerEvent& event) {
    if (event.has_armed() && !event.armed().late()) ranks_.nap().SetLanesRunning(true);
    if (event.has_lanes_done()) ranks_.nap().SetLanesRunning(false);
    ranks_.nap().OnMessage(MonotonicNowNs());
    return ranks_.mail().Send(0, event.SerializeAsString());
  }

  MpiRanks& ranks_;
  WorkerHandler& handler_;
  WaitQueue<v1::WorkerEvent> outbox_;
};

void OfferFiles(const MpiBytes& mpi, MpiSession::LanesUse use, bool several_threads) {
  const std::string library = mpi.library_version();
  if (use == MpiSession::LanesUse::kNothing) {
    SetMpiFiles(nullptr, library, "engine mpiio must be named when the ranks are started: add --engine mpiio");
  } else if (several_threads) {
    SetMpiFiles(mpi.files, library, "");
  } else {
    SetMpiFiles(nullptr, library,
                absl::StrCat("engine mpiio needs an MPI that several threads may call (MPI_THREAD_MULTIPLE), and ", library,
                             " does not permit it: use an MPI that was built with it"));
  }
}

absl::Status WrongLauncher(const MpiLaunch& launch, const char* library) {
  return absl::FailedPreconditionError(absl::StrCat(
      launch.launcher, " promised ", launch.promised_ranks > 0 ? absl::StrCat(launch.promised_ranks) : "several",
      " ranks, but ", library,
      ", with which cluster-iobench was built, sees only this one: start it with that library's own "
      "launcher, or build cluster-iobench with the launcher's MPI"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MpiSession>> MpiSession::Start(LanesUse use) {
  absl::StatusOr<const MpiBytes*> loaded = LoadMpi();
  if (!loaded.ok()) return loaded.status();
  const MpiBytes& mpi = **loaded;
  int rank = 0;
  int size = 0;
  int ranks_on_this_host = 0;
  int several_threads = use != LanesUse::kNothing;
  if (const int error = mpi.init(&several_threads, use == LanesUse::kFiles, &rank, &size, &ranks_on_this_host); error != 0) {
    return MpiMail::StatusOf(mpi, error, "init");
  }
  OfferFiles(mpi, use, several_threads != 0);
  const MpiLaunch launch = LauncherPromises();
  if (size == 1 && (launch.promised_ranks > 1 || launch.promised_rank > 0)) {
    mpi.finalize();
    return WrongLauncher(launch, mpi.library_version());
  }
  const MpiNap nap(ranks_on_this_host, static_cast<int>(std::thread::hardware_concurrency()));
  return std::unique_ptr<MpiSession>(new MpiSession(mpi, std::make_unique<MpiRanks>(mpi, rank, size, nap)));
}

MpiSession::MpiSession(const MpiBytes& mpi, std::unique_ptr<MpiRanks> ranks)
    : mpi_(mpi), ranks_(std::move(ranks)) {}

MpiSession::~MpiSession() {
  const absl::Status status = rank() == 0 ? ranks_->DismissAll() : ranks_->SayGoodbye();
  if (!status.ok() || !ranks_->is_sound() || ranks_->misses_a_rank()) Abort(1);
  // MPI_Finalize spins until the last rank arrives, which may still be writing its reports.
  void* barrier = nullptr;
  int done = 0;
  if (mpi_.start_barrier(&barrier) != 0) Abort(1);
  while (true) {
    if (mpi_.test(barrier, &done) != 0) Abort(1);
    if (done) break;
    WorkerClock().SleepUntil({MonotonicNowNs() + kBarrierNapNs});
  }
  mpi_.finalize();
}

bool MpiSession::CanEnd() {
  const absl::Status dismissed = ranks_->DismissAll();
  return dismissed.ok() && ranks_->is_sound() && !ranks_->misses_a_rank();
}

int MpiSession::rank() const {
  return ranks_->rank();
}
int MpiSession::size() const {
  return ranks_->size();
}

std::unique_ptr<Transport> MpiSession::Coordinator(WorkerHandler& rank0_worker) {
  assert(rank() == 0);
  return std::make_unique<MpiCoordinator>(*ranks_, rank0_worker);
}

absl::Status MpiSession::RunWorker(WorkerHandler& handler) {
  assert(rank() > 0);
  ranks_->BeginWorker();
  MpiWorker worker(*ranks_, handler);
  absl::StatusOr<std::string> reason = worker.Serve();
  absl::Status status = reason.status();
  if (absl::IsUnavailable(status)) {
    // Rank 0 may go on with the others: an abort would end them all.
    LogWarning(absl::StrCat("rank ", rank(), ": ", status.message(),
                            ": its lanes are stopped, and it waits for rank 0"));
    const std::string why(status.message());
    status = worker.LeaveAndWait(why);
    if (absl::IsDeadlineExceeded(status)) {
      handler.Abandon();
      ranks_->SetUnsound();
      return absl::UnavailableError(why);
    }
    if (status.ok()) reason = why;
  }
  handler.Shutdown();
  if (status.ok()) status = worker.MailRest();
  ranks_->nap().SetLanesRunning(false);
  if (!status.ok()) ranks_->SetUnsound();
  if (absl::Status goodbye = ranks_->SayGoodbye(); status.ok()) status = goodbye;
  if (!status.ok()) return status;
  return reason->empty() ? absl::OkStatus() : absl::FailedPreconditionError(*reason);
}

void MpiSession::Abort(int exit_code) {
  mpi_.abort(exit_code);
  std::_Exit(exit_code);
}

}  // namespace iobench
