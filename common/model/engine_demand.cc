#include "common/model/engine_demand.h"

#include "common/model/metadata_operation.h"
#include "common/model/plan_traits.h"

namespace iobench {
namespace {

using F = EngineFeature;
using O = v1::Operation;

// clang-format off
constexpr EngineDemand kDemands[] = {
    {"direct", "-I (direct)", F::kDirect, [](const O& o) { return o.direct(); },
     MetadataMeets::kAll, InSuite::kSkipsPhase},
    {"sync", "-o (sync)", F::kSync, [](const O& o) { return o.sync(); },
     MetadataMeets::kWritingData, InSuite::kSkipsPhase},
    {"dsync", "-+D (dsync)", F::kSync, [](const O& o) { return o.dsync(); },
     MetadataMeets::kWritingData, InSuite::kSkipsPhase},
    {"rsync", "-+r (rsync)", F::kSync, [](const O& o) { return o.rsync(); },
     MetadataMeets::kNone, InSuite::kSkipsPhase},
    {"file_lock", "-W (file_lock)", F::kFileLock, [](const O& o) { return o.file_lock(); }},
    {"record_locks", "-+l (record_locks)", F::kRecordLocks, [](const O& o) { return o.record_locks(); }},
    {"jitter_every", "-K (jitter_every)", F::kJitter, [](const O& o) { return o.jitter_every() > 0; }},
    {"fadvise", "--fadvise", F::kFileAdvice, [](const O& o) { return !o.fadvise().empty(); }},
    {"mmap.sync", "-D (mmap.sync async)", F::kMapping, [](const O& o) { return o.mmap().sync() == v1::Mmap::ASYNC; }},
    {"mmap.sync", "-G (mmap.sync sync)", F::kMapping, [](const O& o) { return o.mmap().sync() == v1::Mmap::SYNC; }},
    {"mmap.advice", "-+A (mmap.advice)", F::kMapping, [](const O& o) { return !o.mmap().advice().empty(); }},
    {"mmap.mix_file_io", "-Z (mmap.mix_file_io)", F::kMapping, [](const O& o) { return o.mmap().mix_file_io(); }},
    {"buffer_bytes", "-m (buffer_bytes)", F::kBuffers, [](const O& o) { return o.buffer_bytes() > 0; },
     MetadataMeets::kAll, InSuite::kSkipsPhase},
    {"preallocate", "--preallocate", F::kPreallocate, [](const O& o) { return o.preallocate(); }},
    {"between.flush_call", "--flush-call", F::kFlushCallChoice,
     [](const O& o) { return FlushCallOf(o.between()) != OpKind::kFsync; }},
    {"mpi_io.collective", "--collective", F::kMpiIo, [](const O& o) { return o.mpi_io().collective(); }},
    {"mpi_io.view", "--mpi-view", F::kMpiIo, [](const O& o) { return o.mpi_io().view(); }},
    {"mpi_io.hints", "--mpi-hint", F::kMpiIo, [](const O& o) { return !o.mpi_io().hints().empty(); }},
    {"libc_calls", "--libc-calls", F::kLibcCalls, [](const O& o) { return o.libc_calls(); }, MetadataMeets::kAll},
};
// clang-format on

}  // namespace

std::span<const EngineDemand> EngineDemands() {
  return kDemands;
}

bool Meets(const EngineSpec& engine, const OperationSpec& operation, const EngineDemand& demand) {
  if (!engine.Can(demand.feature)) return false;
  if (!operation.is_metadata()) return true;
  switch (demand.metadata) {
    case MetadataMeets::kAll:
      break;
    case MetadataMeets::kWritingData:
      return EffectOf(operation).writes_data;
    case MetadataMeets::kNone:
      return false;
  }
  return true;
}

}  // namespace iobench
