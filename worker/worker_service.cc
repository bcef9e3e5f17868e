#include "worker/worker_service.h"

#include <utility>

#include "common/mutex.h"
#include "worker/client/client_probe.h"
#include "worker/session.h"

namespace iobench {
namespace {

class WorkerService final : public WorkerHandler {
 public:
  explicit WorkerService(const WorkerOptions& options)
      : clock_(options.clock), facts_(ProbeWorker(options)) {}
  ~WorkerService() override { Shutdown(); }

  v1::WorkerFacts Facts() const override { return facts_; }

  void Handle(const v1::WorkerRequest& request, EventSink& sink) override {
    const WorkerTime received = clock_.Now();
    std::shared_ptr<Session> session;
    {
      MutexLock lock(mutex_);
      if (session_ == nullptr) session_ = std::make_shared<Session>(clock_, facts_);
      session = session_;
    }
    session->Handle(request, sink, received);
  }

  void Shutdown() override {
    std::shared_ptr<Session> session;
    {
      MutexLock lock(mutex_);
      session = std::move(session_);
      session_.reset();
    }
    if (session != nullptr) session->Shutdown();
  }

 private:
  const WorkerClock clock_;
  const v1::WorkerFacts facts_;
  Mutex mutex_;
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<WorkerHandler> MakeWorkerService(const WorkerOptions& options) {
  return std::make_unique<WorkerService>(options);
}

}  // namespace iobench
