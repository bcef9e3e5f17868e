// Facts that follow from a plan alone. All code that needs one of them takes it from here. Pure.
#ifndef COMMON_MODEL_PLAN_TRAITS_H_
#define COMMON_MODEL_PLAN_TRAITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/text/record_share_text.h"
#include "google/protobuf/message.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The directory below each target that holds a run's data.
inline constexpr char kDataDirectoryName[] = "cluster-iobench.data";

// --soak: rounds begin so far apart that there are at most this many, each of which is saved.
inline constexpr uint32_t kMaxSoakRounds = 10'000;

// The step of a worker in a soak that covers its whole preparation and thus includes the other steps.
inline constexpr char kPrepareStep[] = "prepare";

// Return the row of the operation table and of the engine table; null: there is no such operation or engine. The engine
// is the one that the operation names; before CompletePlan, it may stand for another engine.
const OperationSpec* SpecOf(const v1::Operation& operation);
const EngineSpec* EngineOf(const v1::Operation& operation);

// "random-read"; of assignments with different operations, each once in their order: "read+write".
std::string OperationNames(const v1::Phase& phase);
// The name that the plan gives to the phase, otherwise OperationNames.
std::string PhaseName(const v1::Phase& phase);

// False if there is no such operation.
bool IsMetadata(const v1::Operation& operation);
// True if the phase has assignments and all of them are metadata operations.
bool IsMetadata(const v1::Phase& phase);
// True if the phase's figure is ops/s in place of bytes/s: all operations are metadata operations or seeks.
bool HeadlineInOps(const v1::Phase& phase);
bool FindsItems(
    const v1::Operation& operation);  // a metadata operation whose results say how many items it found
bool Writes(const v1::Operation& operation);  // some of its ops write
// True if some operation of the plan reads or writes records of files. An unknown operation counts as one.
bool WorksOnData(const v1::Plan& plan);

// The record sizes of an operation that has several, with their shares; empty: it has one, record_bytes.
std::vector<RecordShare> RecordSharesOf(const v1::Operation& operation);
// All its record sizes; of one size, 100 %.
std::vector<RecordShare> RecordsOf(const v1::Operation& operation);
// The sizes as text for users, after "records of": "64 KiB", or "4 KiB 60 %, 64 KiB 40 %". Everything that shows an
// operation's record size shows this.
std::string RecordSizesText(const v1::Operation& operation);
// What makes its accesses and flushes others than usual, to append to that: " (zipf:1.1, 8 in a row, fsync after every
// 4)"; empty: nothing does.
std::string AccessText(const v1::Operation& operation);
// The mean size of its ops' records, and the smallest one; record_bytes if there is one size.
double MeanRecordBytes(const v1::Operation& operation);
uint64_t SmallestRecordBytes(const v1::Operation& operation);

// True if writes of this operation would neither bypass memory nor flush it (no -I, -o, -+D or -+r, and no flush after
// each write). Without a mount, this refers to the server's memory.
bool WritesThroughMemory(const v1::Operation& operation);
bool BuffersWrites(const v1::Operation& operation);  // it writes, and WritesThroughMemory

// --fsync-every: after how many of its writes a lane flushes them; 0: never. Also before CompletePlan.
uint64_t FlushEveryOps(const v1::Operation& operation);
// --flush-call: the calls that there are to choose from, and the chosen one; kFsync if it is unset or unknown.
inline constexpr OpKinds kFlushCallChoices = {OpKind::kFsync, OpKind::kFdatasync, OpKind::kSyncFileRange};
OpKind FlushCallOf(const v1::Between& between);
// The flush calls in the timed region of lanes that write (of lanes that only read: kClose, if it is one of them).
OpKinds FlushCallsOf(const v1::Operation& operation, const v1::TimedRegion& region);
OpKinds FlushCallsOf(const v1::Phase& phase);

// True if an NFS client in this process transfers the bytes; it caches nothing in the client's memory.
bool IsUnmounted(const v1::Operation& operation);

// UsesFiles and CreatesFiles are false for unknown engines, and so is MovesNothing. A plan on the user's own files,
// which are only read, does not use files.
bool UsesFiles(const v1::Operation& operation);
bool UsesFiles(const v1::Plan& plan);
bool CreatesFiles(const v1::Operation& operation);
bool MovesNothing(const v1::Operation& operation);  // its engine uses no files: null, sim

// In plans that are complete, a single field that was left out and one that is 0, false or empty say the same. What follows
// from that:
// True if the field has this value. REQUIRES: it is single and no message.
bool IsZero(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field);
// Clears every field with this value, in the messages of `part` too.
void ClearZeros(google::protobuf::Message& part);
// Returns bytes that are equal for parts of plans that say the same, to be compared only.
std::string MeaningOf(const google::protobuf::Message& part);

// The phase of the plan that a phase of the report measured; repetitions have indices beyond the plan's last phase. Null:
// the plan has no phases.
const v1::Phase* PlannedPhase(const v1::Plan& plan, const v1::PhaseReport& phase);
// True for a phase that is not one of all clients alike: of one client alone, beside a load (or its undisturbed twin), or
// of the servers. Otherwise it is like the phase of all clients that it was made from.
bool DividesClients(const v1::Phase& phase);
// The lanes that the plan asks for: in a phase that lost some, fewer took part. Those that took part if there is no plan.
uint32_t PlannedLanes(const v1::RunInfo& run, const v1::PhaseReport& phase);

// True if a run of this plan on `worker_count` workers has a single lane.
bool IsOnlyLane(const v1::Plan& plan, size_t worker_count);
bool HasTrace(const v1::Trace& trace);  // -X, -Y or -Q
// True if all ops are of one kind and may be anywhere in one file: a trace (-Y) gives only offset, size and delay.
bool CanReplayTrace(const OperationSpec& operation);

// The size of the processor cache that -p purges between ops, and of one of its lines. Values that the plan leaves at 0
// get the defaults of IOzone: 1 MiB and 32 bytes.
uint64_t ProcessorCacheBytes(const v1::Between& between);
uint32_t ProcessorCacheLineBytes(const v1::Between& between);

// Returns the percentage of the phase's Fill step; 0: it has none.
uint32_t FillPercent(const v1::Phase& phase);
// Returns the largest percentage of all phases.
uint32_t FillPercent(const v1::Plan& plan);
// Returns how much of the file system is in use, as df shows it: relative to the sum of used and available space,
// without the blocks reserved for root. NaN: unknown.
double UsedPercent(const v1::Space& space);
// Returns how many bytes must be written until this share of the file system is in use, at most what is available. 0:
// the share is already in use, or the size is unknown.
uint64_t BytesToFill(const v1::Space& space, uint32_t percent);

// Returns the first assignment that selects this worker, or null if the worker sits out. It searches selectors, which
// may list thousands of workers: for many workers, use WorkerAssignments.
const v1::Assignment* AssignmentOf(const v1::Phase& phase, uint32_t worker);

// The assignments of a phase by worker: AssignmentOf for all workers at once. Borrows the phase; immutable.
class WorkerAssignments {
 public:
  WorkerAssignments(const v1::Phase& phase, size_t worker_count);
  // Also works for workers beyond worker_count, which a damaged record may have.
  const v1::Assignment* Of(uint32_t worker) const {
    return worker < of_worker_.size() ? of_worker_[worker] : AssignmentOf(phase_, worker);
  }

 private:
  const v1::Phase& phase_;
  std::vector<const v1::Assignment*> of_worker_;
};

// True if caches are dropped before the phase: --drop-caches, --cold.
bool DropsCaches(const v1::Phase& phase);

}  // namespace iobench

#endif  // COMMON_MODEL_PLAN_TRAITS_H_
