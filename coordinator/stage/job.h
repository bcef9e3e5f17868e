// What a command needs from the transport that carries it, and how it is run once its workers are there.
#ifndef COORDINATOR_STAGE_JOB_H_
#define COORDINATOR_STAGE_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/transport/transport.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/launch/join_watch.h"
#include "coordinator/options/command_options.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

class ResultLock;
struct ResumePoint;
struct Stage;

// A command for a transport to carry out, with its inputs. Borrows all members until the command has returned.
struct Job {
  const JobOptions& options;
  // The checked plan. It is empty for selftest, and on MPI ranks other than 0, which get their work from rank 0.
  const v1::Plan& plan;
  // The lines of the client list whose clients take part; empty if there is no list.
  const std::vector<ClientEntry>& clients;
  const std::vector<HostEntry>& hosts;  // of --hosts
  const std::vector<HostEntry>& sampler_hosts;
  const std::string& command;           // as typed, for the report
  const ResumePoint* resume = nullptr;  // the saved run to resume; null: a new run
  std::shared_ptr<ResultLock> results_lock = nullptr;  // of the directory for results; null: there is none yet
  uint32_t simulate = 0;                // number of simulated workers; 0: real ones
  uint32_t lanes_per_worker = 1;        // of phases that the plan does not have yet
  // Runs the command on the workers of the stage, and returns the exit code.
  const std::function<int(const Stage& stage)>& carry_out;
};

// Returns the max. number of lanes per worker in any phase.
uint32_t LanesPerWorker(const Job& job);

// True if the options say which directories are tested; otherwise each client of a list tests its own.
bool SaysWhere(const GivenOptions& given);

// Runs the command on the workers of `transport`, and returns the exit code.
int CarryOut(const Job& job, Transport& transport, uint32_t worker_count, JoinWatch join_watch = {});
// The same for workers that are connected to this process: bounds the time until the connections are closed.
int CarryOutConnected(const Job& job, Transport& transport, uint32_t worker_count, JoinWatch join_watch);

}  // namespace iobench

#endif  // COORDINATOR_STAGE_JOB_H_
