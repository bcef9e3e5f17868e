#include "worker/lane/phase_steps.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/text/units.h"
#include "common/time.h"
#include "worker/client/client_settings.h"

namespace iobench {
namespace {

v1::StepResult Step(const char* name, int64_t ns, std::string outcome, uint64_t bytes = 0) {
  v1::StepResult step;
  step.set_name(name);
  step.set_seconds(SecondsFrom(ns));
  step.set_outcome(std::move(outcome));
  step.set_bytes(bytes);
  return step;
}

// Times of the slowest lane and counts of all lanes.
struct Prepared {
  LanePreparation::Times slowest;
  uint64_t prefilled_bytes = 0;
  size_t prefilled_lanes = 0;
  TreePrepared tree;
};

Prepared PreparedBy(Lanes lanes) {
  Prepared all;
  for (const auto& lane : lanes) {
    const LanePreparation& done = lane->preparation();
    const LanePreparation::Times& times = done.times;
    all.slowest.create_ns = std::max(all.slowest.create_ns, times.create_ns);
    all.slowest.prefill_ns = std::max(all.slowest.prefill_ns, times.prefill_ns);
    all.slowest.forget_ns = std::max(all.slowest.forget_ns, times.forget_ns);
    all.slowest.open_ns = std::max(all.slowest.open_ns, times.open_ns);
    all.slowest.deferred_ns = std::max(all.slowest.deferred_ns, times.deferred_ns);
    all.prefilled_bytes += done.prefilled_bytes;
    all.prefilled_lanes += done.prefilled_bytes > 0 ? 1 : 0;
    all.tree.made += done.tree.made;
    all.tree.removed += done.tree.removed;
  }
  return all;
}

std::string AboutNewFiles(const PhaseSpec& spec) {
  if (spec.truncates) return "empty files for the writing lanes";
  if (spec.keeps_existing) return "where there were none";
  return spec.shared_file ? "the shared file, where there was none" : "new files";
}

std::string AboutPrefill(const PhaseSpec& spec, const Prepared& all, size_t lane_count) {
  if (all.prefilled_bytes > 0) {
    // Without counts: the coordinator sums the bytes over the workers, and shows equal outcomes once.
    return all.prefilled_lanes < lane_count ? "written for the lanes that had no data"
                                            : "written for every lane";
  }
  if (!spec.existing_files.empty()) return "existing files, their sizes checked";
  return spec.data_must_exist ? "kept data, their sizes checked" : "the data were there";
}

std::string AboutTree(const TreePrepared& tree) {
  if (tree.removed == 0 && tree.made == 0) return "the items were as they should be";
  std::string text;
  if (tree.removed > 0) text = absl::StrCat("removed what ", tree.removed, " items had in the way");
  if (tree.made > 0) absl::StrAppend(&text, text.empty() ? "" : ", ", "made what ", tree.made, " items need");
  return text;
}

std::string AboutBinding(const PhaseSpec& spec, Lanes lanes) {
  std::vector<uint32_t> places;
  for (const auto& lane : lanes) places.push_back(lane->index_on_client());
  return absl::StrCat("lanes on ", spec.binding_slots.ToText(places));
}

std::string AboutCaches(const PhaseSpec& spec, const absl::Status& system_caches) {
  if (!spec.uses_files) return "nothing to drop: the engine uses no files";
  // Every file has been advised; names and attributes have no such advice.
  const bool advised = !spec.works_on_tree();
  if (system_caches.ok()) return advised ? "posix_fadvise and drop_caches" : "drop_caches";
  return absl::StrCat(advised ? "posix_fadvise" : "nothing", " (", std::string(system_caches.message()), ")");
}

// Says who sees the data calls besides the kernel. Empty: nobody, and nobody wants to.
std::string AboutCalls(const PhaseSpec& spec, const EngineSpec& engine) {
  const std::string preloaded = PreloadedLibraries();
  if (!spec.uses_files || !spec.engine_options.libc_calls) return "";
  const std::string where = preloaded.empty() ? "" : absl::StrCat(" (preloaded: ", preloaded, ")");
  if (engine.Can(EngineFeature::kLibcCalls)) return absl::StrCat("calls of the C library", where);
  return absl::StrCat("no call of the C library moves data, so that no preloaded library sees it", where);
}

// Describes the number of ops in flight of an engine with a queue, whose calls it makes, and what engines could not do
// as intended. Empty: nothing to report.
std::string AboutEngine(const PhaseSpec& spec, Lanes lanes) {
  std::string text;
  const auto engine = FindEngine(spec.engine);
  if (engine.ok() && (*engine)->Can(EngineFeature::kQueue)) {
    text = absl::StrCat(spec.engine, ", ", spec.engine_options.depth, " in flight per lane",
                        spec.engine_options.copy ? ", copied" : "");
  }
  if (const std::string calls = engine.ok() ? AboutCalls(spec, **engine) : ""; !calls.empty()) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", calls);
  }
  std::string first_note;
  size_t noting_lanes = 0;
  for (const auto& lane : lanes) {
    std::string note = lane->engine_note();
    if (note.empty()) continue;
    ++noting_lanes;
    if (first_note.empty()) first_note = std::move(note);
  }
  if (noting_lanes == 0) return text;
  return absl::StrCat(text, text.empty() ? "" : "; ", first_note, " (", noting_lanes, " of ", lanes.size(),
                      " lanes)");
}

// The ops that lanes wrote to files of their own.
struct WrittenOps {
  uint64_t written = 0, left_out = 0;

  void Add(uint64_t lane_wrote, uint64_t lane_left_out) {
    written += lane_wrote;
    left_out += lane_left_out;
  }
  std::string In(const std::string& file, size_t lane_count) const {
    std::string text =
        absl::StrCat(written, " ops in ", file, " of ", lane_count, lane_count == 1 ? " lane" : " lanes");
    if (left_out > 0) {
      absl::StrAppend(&text, "; ", left_out, " more did not fit into memory and are left out");
    }
    return text;
  }
};

}  // namespace

std::vector<v1::StepResult> StepsBefore(const PhaseSpec& spec, Lanes lanes,
                                        const absl::Status& system_caches) {
  const Prepared all = PreparedBy(lanes);
  std::vector<v1::StepResult> steps;
  if (spec.creates_files() || spec.truncates) {
    steps.push_back(Step("create-files", all.slowest.create_ns, AboutNewFiles(spec)));
  }
  if (spec.needs_data()) {
    steps.push_back(
        Step("prefill", all.slowest.prefill_ns, AboutPrefill(spec, all, lanes.size()), all.prefilled_bytes));
  }
  if (spec.works_on_tree()) {
    steps.push_back(Step("prepare-tree", all.slowest.prefill_ns, AboutTree(all.tree), all.prefilled_bytes));
  }
  if (!spec.binding_slots.empty()) steps.push_back(Step("bind", 0, AboutBinding(spec, lanes)));
  if (spec.replayed != nullptr) {
    steps.push_back(
        Step("read-trace", 0, absl::StrCat(spec.replayed->size(), " ops of ", spec.trace.read_file())));
  }
  if (spec.drops_caches) {
    steps.push_back(Step("drop-caches", all.slowest.forget_ns, AboutCaches(spec, system_caches)));
    steps.back().set_system_caches(spec.uses_files && system_caches.ok());
  }
  if (spec.uses_files && !spec.region.open()) {
    steps.push_back(Step("open", all.slowest.open_ns, "before the timed region"));
  }
  if (all.slowest.deferred_ns > 0) {
    steps.push_back(Step("deferred", all.slowest.deferred_ns,
                         "the server asked to try calls of the preparation again later (NFS3ERR_JUKEBOX)"));
  }
  if (std::string text = AboutEngine(spec, lanes); !text.empty()) {
    steps.push_back(Step("engine", 0, std::move(text)));
  }
  return steps;
}

v1::Coldness ColdnessAfter(const PhaseSpec& spec, Lanes lanes, const absl::Status& system_caches) {
  v1::Coldness cold;
  cold.set_system_dropped(system_caches.ok());
  cold.set_names(spec.works_on_tree());
  for (const auto& lane : lanes) {
    const LanePreparation& done = lane->preparation();
    if (!done.resident_bytes) continue;
    cold.set_resident_bytes(cold.resident_bytes() + *done.resident_bytes);
    cold.set_file_bytes(cold.file_bytes() + done.file_bytes);
  }
  return cold;
}

std::optional<v1::StepResult> PassesStep(const PhaseSpec& spec, Lanes lanes) {
  int64_t slowest_ns = 0;
  for (const auto& lane : lanes) slowest_ns = std::max(slowest_ns, lane->pass_end_ns());
  const char* const each = "each pass before the next, inside the ops' time";
  if (spec.region.flush_passes()) return Step("flush-passes", slowest_ns, each);
  const bool goes_round = spec.stop.time_s() > 0 && spec.operation->reads() && !spec.works_on_tree();
  if (spec.drops_caches && spec.uses_files && goes_round) return Step("drop-passes", slowest_ns, each);
  return std::nullopt;
}

std::optional<v1::StepResult> TraceStep(const PhaseSpec& spec, Lanes lanes) {
  if (spec.trace.write_file().empty()) return std::nullopt;
  WrittenOps ops;
  size_t quit_count = 0;
  for (const auto& lane : lanes) {
    if (lane->quit_before_trace()) {
      ++quit_count;
    } else {
      ops.Add(lane->traced_ops(), lane->untraced_ops());
    }
  }
  if (quit_count > 0 && quit_count == lanes.size())
    return Step("write-trace", 0, "not written: the phase was interrupted");
  std::string text = ops.In(absl::StrCat(spec.trace.write_file(), ".LANE"), lanes.size() - quit_count);
  if (quit_count > 0) {
    absl::StrAppend(&text, "; ", quit_count, quit_count == 1 ? " lane" : " lanes",
                    " wrote no trace: the phase was interrupted");
  }
  return Step("write-trace", 0, std::move(text));
}

std::optional<v1::StepResult> OpLogStep(const PhaseSpec& spec, Lanes lanes) {
  if (!spec.trace.offset_latency() || lanes.empty()) return std::nullopt;
  WrittenOps ops;
  for (const auto& lane : lanes) ops.Add(lane->logged_ops(), lane->unlogged_ops());
  return Step("offset-latency", 0, ops.In(lanes.front()->OpLogFile(), lanes.size()));
}

}  // namespace iobench
