#include "worker/worker_service.h"

#include <utility>

#include "common/mutex.h"
#include "worker/client/client_probe.h"
#include "worker/sampler/nfs_server_setup.h"
#include "worker/session.h"

namespace iobench {
namespace {

class WorkerService final : public WorkerHandler {
 public:
  WorkerService(v1::WorkerFacts facts, const WorkerClock& clock, SessionParts parts)
      : clock_(clock), facts_(std::move(facts)), parts_(std::move(parts)) {}
  ~WorkerService() override { Shutdown(); }

  v1::WorkerFacts Facts() const override { return facts_; }

  void Handle(const v1::WorkerRequest& request, EventSink& sink) override {
    const WorkerTime received = clock_.Now();
    std::shared_ptr<Session> session;
    {
      MutexLock lock(mutex_);
      if (session_ == nullptr) session_ = std::make_shared<Session>(clock_, facts_, parts_);
      session = session_;
    }
    session->Handle(request, sink, received);
  }

  void Shutdown() override {
    if (const std::shared_ptr<Session> session = PopSession(); session != nullptr) session->Shutdown();
  }
  void Abandon() override {
    if (const std::shared_ptr<Session> session = PopSession(); session != nullptr) session->Abandon();
  }
  absl::Status CheckLease() override {
    std::shared_ptr<Session> session;
    {
      MutexLock lock(mutex_);
      session = session_;
    }
    return session == nullptr ? absl::OkStatus() : session->CheckLease();
  }

 private:
  std::shared_ptr<Session> PopSession() {
    MutexLock lock(mutex_);
    return std::exchange(session_, nullptr);
  }

  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  const SessionParts parts_;
  Mutex mutex_;
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<WorkerHandler> MakeWorkerService(const WorkerOptions& options, Janitor* janitor) {
  SessionParts parts = ThreadedParts();
  parts.janitor = janitor;
  v1::WorkerFacts facts = ProbeWorker(options);
  if (options.sampler) {
    if (std::optional<v1::NfsServerSetup> setup = ReadNfsServerSetup(); setup.has_value())
      *facts.mutable_nfs_server() = *std::move(setup);
  }
  return MakeWorkerService(std::move(facts), options.clock, std::move(parts));
}

std::unique_ptr<WorkerHandler> MakeWorkerService(v1::WorkerFacts facts, const WorkerClock& clock,
                                                 SessionParts parts) {
  return std::make_unique<WorkerService>(std::move(facts), clock, std::move(parts));
}

}  // namespace iobench
