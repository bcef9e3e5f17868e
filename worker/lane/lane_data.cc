#include "worker/lane/lane_data.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/model/data_content.h"
#include "common/status_util.h"
#include "worker/data/deduped_records.h"
#include "worker/data/pattern_checker.h"
#include "worker/data/sector_checker.h"
#include "worker/data/sector_writer.h"
#include "worker/lane/lane_files.h"
#include "worker/pattern/interleaved.h"

namespace iobench {

LaneData::LaneData(const PhaseSpec& spec, const v1::LanePlan& plan) : spec_(spec), plan_(plan) {
  if (!spec.uses_files || spec.operation->is_metadata()) return;
  verifies_ = HasSectors(spec.data);
  dedupes_ = spec.data.dedupe_percent() > 0;
  is_pattern_ = ChecksPattern(spec.data);
}

uint32_t LaneData::prefill_bytes() const {
  const uint32_t unit_bytes = verifies_  ? spec_.stamp.unit_bytes()
                              : dedupes_ ? spec_.engine_options.record_bytes
                                         : 1;
  return std::max(1u, kPrefillRecordBytes / unit_bytes) * unit_bytes;
}

absl::StatusOr<Payload> LaneData::MakePayload() const {
  BlockContents contents{.compress_percent = spec_.data.compress_percent()};
  if (spec_.data.kind() == v1::DataContent::ZERO) contents.constant = 0;
  if (spec_.data.kind() == v1::DataContent::PATTERN)
    contents.constant = static_cast<unsigned char>(spec_.data.pattern_byte());
  const auto create =
      spec_.data.kind() == v1::DataContent::SAME ? Payload::CreateRepeated : Payload::Create;
  auto payload = create(spec_.shape.seed, plan_.lane(), spec_.shape.phase,
                        std::max(spec_.shape.op_bytes, prefill_bytes()), contents);
  if (payload.ok()) IOBENCH_RETURN_IF_ERROR(MakeRecords(For::kPrefill, *payload));
  return payload;
}

absl::Status LaneData::ReadyForOps(Payload& payload) const {
  if (!makes_records()) payload.MakeBeforeOps();
  return MakeRecords(For::kOps, payload);
}

absl::Status LaneData::MakeRecords(For what, Payload& payload) const {
  const bool for_prefill = what == For::kPrefill;
  const size_t longest_bytes = std::max(spec_.shape.op_bytes, prefill_bytes());
  payload.MakeWith(nullptr);  // frees the previous generation's buffer before the next one takes as much
  if (verifies_) {
    auto writer = SectorWriter::Create({.run = spec_.stamp.run_id(),
                                        .seed = spec_.stamp.seed(),
                                        .owner = plan_.file_owner(),
                                        .writer = plan_.lane(),
                                        .generation = for_prefill ? spec_.stamp.prefill_generation()
                                                                  : spec_.stamp.generation(),
                                        .unit_bytes = spec_.stamp.unit_bytes(),
                                        .compress_percent = spec_.data.compress_percent()},
                                       longest_bytes);
    if (!writer.ok()) return writer.status();
    payload.MakeWith(*std::move(writer));
  } else if (dedupes_) {
    auto records = DedupedRecords::Create(
        {.percent = spec_.data.dedupe_percent(),
         .within_percent = spec_.data.dedupe_within_percent(),
         .interior_percent = spec_.data.dedupe_interior_percent(),
         .set = spec_.data.dedupe_seed(),
         .seed = spec_.shape.seed,
         .lane = plan_.file_owner() + spec_.data.dedupe_lane_offset(),
         .phase = spec_.shape.phase,
         .record_bytes = spec_.engine_options.record_bytes,
         .interleave = spec_.InterleaveOf(plan_),
         .compress_percent = spec_.data.compress_percent()},
        longest_bytes);
    if (!records.ok()) return records.status();
    if (for_prefill) (*records)->BeginPass(Payload::kPrefillPass);
    payload.MakeWith(*std::move(records));
  }
  return absl::OkStatus();
}

std::unique_ptr<DataChecker> LaneData::MakeChecker(uint64_t prefilled_bytes) const {
  if (is_pattern_) {
    return std::make_unique<PatternChecker>(static_cast<unsigned char>(spec_.data.pattern_byte()));
  }
  // If nothing had been written before, this lane or another one that shares the file has prepared it in this phase.
  const uint32_t prepared = spec_.stamp.prefill_generation();
  uint32_t low = plan_.data().low();
  uint32_t high = std::max(plan_.data().high(), low);
  if (low == 0) {
    low = prepared;
    high = std::max(high, prepared);
  } else if (prefilled_bytes > 0) {
    low = std::min(low, prepared);
    high = std::max(high, prepared);
  }
  std::shared_ptr<const WrittenRecords> last_pass;
  if (plan_.data().has_last_pass() && prefilled_bytes == 0) last_pass = RecordsOf(plan_.data().last_pass());
  return std::make_unique<SectorChecker>(
      SectorExpectation{.run = spec_.stamp.run_id(),
                        .seed = spec_.stamp.seed(),
                        .owner = plan_.file_owner(),
                        .reader = plan_.lane(),
                        .shared = spec_.shared_file,
                        .low = low,
                        .high = high,
                        .last_pass = std::move(last_pass),
                        .unacknowledged = plan_.data().unacknowledged(),
                        .unit_bytes = std::max<uint64_t>(1, spec_.stamp.unit_bytes()),
                        .file_bytes = spec_.shape.object_bytes,
                        .compress_percent = spec_.data.compress_percent()});
}

std::shared_ptr<const WrittenRecords> LaneData::RecordsOf(const v1::WrittenPass& pass) const {
  const auto operation = FindOperation(pass.operation());
  if (!operation.ok() || (*operation)->is_metadata()) return nullptr;
  StreamShape shape =
      GridOf((*operation)->call, pass.record_bytes(), pass.bytes_per_lane(), spec_.shape.object_count);
  if (pass.stride_records() > 0) shape.stride_records = pass.stride_records();
  shape.seed = pass.seed();
  shape.lane = pass.lane();
  shape.phase = pass.phase();
  auto stream = MakeOpStream(**operation, shape);
  if (!stream.ok()) return nullptr;
  const Interleave interleave = spec_.InterleaveOf(plan_);
  if (interleave.count == 1) return WrittenRecords::Of(**stream, shape, pass.pass(), pass.ops());
  Interleaved interleaved(*std::move(stream), interleave);
  return WrittenRecords::Of(interleaved, shape, pass.pass(), pass.ops(), interleave);
}

void NamePlaces(const FileSet& files, v1::VerifyResult& result) {
  for (v1::Mismatch& mismatch : *result.mutable_first()) {
    size_t index = 0;
    if (!absl::SimpleAtoi(mismatch.file(), &index) || index >= files.files.size()) continue;
    mismatch.set_file(files.PathOf(index));
    mismatch.set_offset(files.files[index].extent_offset_bytes + mismatch.offset());
  }
}

}  // namespace iobench
