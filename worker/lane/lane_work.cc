#include "worker/lane/lane_work.h"

#include <algorithm>
#include <vector>

#include "common/model/engine.h"
#include "common/model/offset_latency_file.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "worker/data_directory/data_names.h"
#include "worker/metadata/tree_keeper.h"
#include "worker/op_log/op_log.h"

namespace iobench {
namespace {

std::optional<MetadataWork> MetadataWorkOf(const PhaseSpec& spec, const v1::LanePlan& plan) {
  if (!spec.operation->is_metadata()) return std::nullopt;
  MetadataWork work(*spec.operation, spec.tree, plan.tree(), plan.file_owner(), spec.shape.phase, spec.shape.seed);
  work.lane = plan.lane();
  return work;
}

std::vector<LaneFile> LaneFilesOf(const PhaseSpec& spec, const v1::LanePlan& plan,
                                  const std::optional<MetadataWork>& metadata) {
  if (metadata) return {LaneFile{.name = metadata->names.root_name()}};
  if (spec.shared_file) {
    LaneFile file{kSharedFileName, plan.extent_offset_bytes(), spec.shape.object_bytes};
    if (spec.interleaved && plan.interleave_count() > 0) {
      file.interleave = spec.InterleaveOf(plan);
      file.record_bytes = spec.shape.op_bytes;
    }
    return {file};
  }
  if (!spec.existing_files.empty()) {
    const std::string& file = spec.existing_files[plan.lane() % spec.existing_files.size()];
    return {LaneFile{file, 0, spec.shape.object_bytes}};
  }
  std::vector<LaneFile> files;
  for (uint32_t i = 0; i < spec.shape.object_count; ++i) {
    files.push_back({LaneFileName(plan.file_owner(), i), 0, spec.shape.object_bytes});
  }
  return files;
}

FileSet FilesOf(const PhaseSpec& spec, const v1::LanePlan& plan, const std::string& target,
                const Directory* directory, const std::optional<MetadataWork>& metadata) {
  FileSet files;
  if (directory != nullptr) {
    files.directory_fd = directory->fd();
    files.directory = directory->path();
  } else if (spec.uses_files) {
    files.directory = PathBelow(target, kDataDirectoryName);
  }
  files.files = LaneFilesOf(spec, plan, metadata);
  files.shared = spec.shared_file && !metadata;
  return files;
}

LaneMix MixFrom(v1::LaneMix mix) {
  switch (mix) {
    case v1::LANE_MIX_READER:
      return LaneMix::kReader;
    case v1::LANE_MIX_WRITER:
      return LaneMix::kWriter;
    default:
      return LaneMix::kPerOp;
  }
}

}  // namespace

LaneWork::LaneWork(const PhaseSpec& phase, const v1::LanePlan& lane, const std::string& lane_target,
                   const Directory* directory)
    : spec(phase),
      plan(lane),
      data(spec, plan),
      target(lane_target),
      metadata(MetadataWorkOf(spec, plan)),
      files(FilesOf(spec, plan, target, directory, metadata)) {}

bool LaneWork::reads() const {
  return spec.operation->reads() && plan.mix() != v1::LANE_MIX_WRITER;
}
bool LaneWork::writes() const {
  return spec.operation->writes() && plan.mix() != v1::LANE_MIX_READER;
}

bool LaneWork::creates_files() const {
  return spec.creates_files() || (spec.uses_files && spec.truncates && plan.mix() == v1::LANE_MIX_WRITER);
}
bool LaneWork::needs_data() const {
  return spec.needs_data() && !creates_files();
}
bool LaneWork::data_must_exist() const {
  return spec.data_must_exist || !spec.existing_files.empty();
}

bool LaneWork::may_prefill() const {
  const uint64_t all_bytes = spec.shape.object_bytes * spec.shape.object_count;
  const uint64_t needed_bytes = spec.needed_bytes > 0 ? std::min(spec.needed_bytes, all_bytes) : all_bytes;
  return needs_data() && !data_must_exist() && plan.written_bytes() < needed_bytes;
}

OpKinds LaneWork::kinds() const {
  if (plan.mix() == v1::LANE_MIX_READER) return OpKind::kRead;
  if (plan.mix() == v1::LANE_MIX_WRITER) return OpKind::kWrite;
  return spec.operation->kinds;
}

OpKinds LaneWork::flush_calls() const {
  if (writes()) return spec.flush_calls;
  return spec.flush_calls.Has(OpKind::kClose) ? OpKinds(OpKind::kClose) : OpKinds();
}

bool LaneWork::leaves_unflushed_data() const {
  if (spec.leaves_unflushed) return false;
  return metadata ? metadata->writes_data() : writes() && !spec.region.fsync();
}

// The null engine does not access data.
bool LaneWork::needs_payload() const {
  if (!spec.uses_files) return false;
  if (metadata) return metadata->writes_data() || PreparesData(*metadata);
  return writes() || may_prefill();
}

bool LaneWork::makes_data_before_ops() const {
  if (data.makes_records()) return true;
  const bool is_long = spec.engine_options.longest_op_bytes >= Payload::kMadeBeforeOpsBytes;
  const auto engine = FindEngine(spec.engine);
  return writes() && !metadata && is_long && data.varies() && engine.ok() &&
         !(*engine)->Can(EngineFeature::kQueue) && spec.engine_options.buffer_bytes == 0;
}

bool LaneWork::separates_passes() const {
  const auto engine = FindEngine(spec.engine);
  return writes() && data.checks() && data.makes_records() && engine.ok() && (*engine)->Can(EngineFeature::kQueue);
}

bool LaneWork::repeats_places() const {
  return spec.replayed != nullptr || spec.operation->pattern == Pattern::kFirstRecord ||
         spec.shape.access.kind != Access::Kind::kEachOnce ||
         (!spec.shape.records.empty() && spec.operation->is_random()) ||
         (metadata && metadata->effect.replaces_files);
}

StreamShape LaneWork::Shape() const {
  StreamShape shape = spec.shape;
  shape.lane = plan.lane();
  shape.mix = MixFrom(plan.mix());
  return shape;
}

OpenMode LaneWork::Mode() const {
  OpenMode mode = spec.mode;
  mode.read = reads();
  mode.write = writes();
  return mode;
}

std::string LaneWork::OpLogFile() const {
  return OpLogPath(OffsetLatencyFile(spec.operation->name, plan.lane(), spec.only_lane));
}

std::string LaneWork::FirstFile() const {
  return spec.uses_files ? files.PathOf(0) : std::string();
}

}  // namespace iobench
