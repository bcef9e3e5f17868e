#include "coordinator/live/metrics_server.h"

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/process/thread.h"
#include "common/status_util.h"
#include "coordinator/live/live_metrics.h"
#include "coordinator/report/openmetrics/metric_text.h"
#include "httplib.h"

namespace iobench {

// Where to listen.
struct MetricsAddress {
  std::string host;
  int port = 0;
};

namespace {

constexpr size_t kThreads = 2;

absl::StatusOr<MetricsAddress> ParseAddress(const std::string& text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat("--live-metrics \"", text,
                   "\" is not an address: use host:port, [::1]:port, or :port for this host alone"));
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  MetricsAddress address;
  address.host = text.substr(0, colon);
  const bool brackets = address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (brackets) address.host = address.host.substr(1, address.host.size() - 2);
  if (!brackets && address.host.find(':') != std::string::npos) return wrong;
  if (address.host.empty()) address.host = "127.0.0.1";
  const std::string port = text.substr(colon + 1);
  if (!absl::SimpleAtoi(port, &address.port) || address.port < 0 || address.port > 65535) return wrong;
  return address;
}

}  // namespace

// The HTTP server with its threads, and the text that it serves.
class MetricsServer::Service {
 public:
  explicit Service(MetricsAddress address) : address_(std::move(address)) {}
  ~Service() {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }

  absl::Status Listen() {
    // The library starts these itself, and would end the program with an exception.
    if (absl::Status status = TryThreads(kThreads + 1); !status.ok()) return status;
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // The library's default, SO_REUSEPORT, would let two runs share a port.
    server_.set_socket_options([](int fd) {
      const int yes = 1;
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_keep_alive_max_count(1);  // an idle connection would delay the end of the run
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      MutexLock lock(mutex_);
      response.set_content(text_, kOpenMetricsContentType);
    });
    if (address_.port == 0) {
      address_.port = server_.bind_to_any_port(address_.host.c_str());
    } else if (!server_.bind_to_port(address_.host.c_str(), address_.port)) {
      address_.port = -1;
    }
    if (address_.port < 0)
      return absl::UnavailableError("cannot listen there: is the port in use, or not this host's?");
    IOBENCH_ASSIGN_OR_RETURN(thread_, StartThread([this] {
                               server_.listen_after_bind();
                               ended_.store(true);
                             }));
    while (!server_.is_running() && !ended_.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return absl::OkStatus();
  }

  std::string url() const {
    const bool ipv6 = address_.host.find(':') != std::string::npos;
    return absl::StrCat("http://", ipv6 ? "[" : "", address_.host, ipv6 ? "]:" : ":", address_.port,
                        "/metrics");
  }
  void set_text(std::string text) {
    MutexLock lock(mutex_);
    text_ = std::move(text);
  }

 private:
  MetricsAddress address_;
  Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_) = LiveMetrics({});
  httplib::Server server_;
  std::atomic<bool> ended_{false};  // it no longer listens
  std::thread thread_;
};

MetricsServer::MetricsServer() = default;
MetricsServer::~MetricsServer() = default;

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Open(const std::string& address) {
  absl::StatusOr<MetricsAddress> parsed = ParseAddress(address);
  if (!parsed.ok()) return parsed.status();
  std::unique_ptr<MetricsServer> server(new MetricsServer());
  server->service_ = std::make_unique<Service>(*std::move(parsed));
  const absl::Status listens = server->service_->Listen();
  if (!listens.ok()) {
    return absl::UnavailableError(
        absl::StrCat("--live-metrics ", address, ": ", std::string(listens.message())));
  }
  return server;
}

std::string MetricsServer::url() const {
  return service_->url();
}

void MetricsServer::Publish(const LiveSample& sample) {
  service_->set_text(LiveMetrics(sample));
}

}  // namespace iobench
