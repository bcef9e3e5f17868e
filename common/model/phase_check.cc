#include "common/model/phase_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/file_sizes/file_size_law.h"
#include "common/model/plan_traits.h"
#include "common/mpi_io/mpi_hints.h"
#include "common/simulated/simulated_storage.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr uint32_t kMaxDepth = 20;
constexpr uint64_t kMaxDirectories = 1'000'000;
constexpr uint32_t kMaxOpsInFlight = 4096;
constexpr double kPercentSlack = 0.01;  // percentages are typed with two digits
constexpr uint64_t kMaxSpreadClients = 1'000'000;
constexpr char kCompress[] = "--compress (data.compress_percent)";
constexpr char kDedupe[] = "--dedupe (-+w, data.dedupe_percent)";

bool IsTime(double value) {
  return std::isfinite(value) && value >= 0 && value <= 1e10;
}

absl::Status CheckPercent(const char* name, uint32_t percent) {
  if (percent <= 100) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " of ", percent, " percent is over 100"));
}

uint64_t DirectoriesOf(const v1::Tree& tree) {
  uint64_t count = 1;
  for (uint32_t level = 0; level < tree.depth() && count <= kMaxDirectories; ++level) {
    count *= tree.branching();
  }
  return count;
}

absl::Status CheckSizes(const v1::Tree& tree) {
  if (tree.file_bytes() > kLargestTreeFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "files of ", FormatBytes(static_cast<double>(tree.file_bytes())), " in a tree are larger than ",
        FormatBytes(static_cast<double>(kLargestTreeFileBytes)), ": use -i 0 for large files"));
  }
  if (!tree.sizes().empty()) {
    IOBENCH_RETURN_IF_ERROR(ParseFileSizes(tree.sizes()).status());
    if (tree.random_sizes()) {
      return absl::InvalidArgumentError(
          "--file-sizes (sizes) and --min-file-bytes (random_sizes) both set the sizes of files: leave one of the two out");
    }
    if (tree.file_bytes() == 0)
      return absl::InvalidArgumentError("--file-sizes (sizes): the largest file (--file-bytes, file_bytes) has 0 bytes");
  }
  if (tree.min_file_bytes() > 0 && !tree.random_sizes()) {
    return absl::InvalidArgumentError(
        "min_file_bytes only applies to random file sizes: set random_sizes too (--min-file-bytes does)");
  }
  if (!tree.random_sizes()) return absl::OkStatus();
  if (tree.file_bytes() == 0) {
    return absl::InvalidArgumentError("random file sizes need a maximum: give --file-bytes (file_bytes)");
  }
  if (tree.min_file_bytes() > tree.file_bytes()) {
    return absl::InvalidArgumentError(absl::StrCat("files of --min-file-bytes ", tree.min_file_bytes(),
                                                   " to --file-bytes ", tree.file_bytes(),
                                                   " bytes: the minimum is larger than the maximum"));
  }
  return absl::OkStatus();
}

// `time_s`: duration of the phase; 0: no time limit.
absl::Status CheckBursts(const v1::Arrivals& arrivals, double time_s) {
  constexpr double kMinBurstS = 0.001, kMaxPeriodS = 1e6;
  const double burst_s = arrivals.burst_s(), every_s = arrivals.burst_every_s();
  if (burst_s == 0 && every_s == 0) return absl::OkStatus();
  if (!(burst_s >= kMinBurstS && burst_s <= every_s && every_s <= kMaxPeriodS)) {
    return absl::InvalidArgumentError(absl::StrCat("bursts of ", burst_s, " s every ", every_s,
                                                   " s: burst_s must be between 0.001 and burst_every_s, ",
                                                   "and that at most 10^6"));
  }
  if (arrivals.end_ops_per_s() != 0) {
    return absl::InvalidArgumentError(
        "a rate that changes (--rate A..B, end_ops_per_s) cannot come in bursts (burst_s)");
  }
  if (time_s > 0 && time_s < every_s) {
    return absl::InvalidArgumentError(
        absl::StrCat("bursts every ", every_s,
                     " s need a phase of at least that time, so that ops_per_s is their mean, not ", time_s,
                     " s: set --time to ", every_s, " or a multiple"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStop(const v1::StopRule& stop) {
  for (const auto& [name, seconds] : {std::pair{"time", stop.time_s()}, std::pair{"warm-up", stop.warmup_s()},
                                      std::pair{"deadline", stop.deadline_s()}}) {
    if (!(seconds >= 0) || seconds > 1e7) {
      return absl::InvalidArgumentError(
          absl::StrCat("the ", name, " of ", seconds, " s is not between 0 and 10^7 s"));
    }
  }
  if (stop.time_s() > 0 && stop.deadline_s() > 0) {
    return absl::InvalidArgumentError(
        "--time loops for that long, --deadline ends early without looping: use only one");
  }
  if (stop.whole_passes() && stop.time_s() == 0) {
    return absl::InvalidArgumentError(
        "whole_passes says how a time limit ends: set stop.time_s (--time) too");
  }
  if (stop.wear_out() && stop.deadline_s() == 0) {
    return absl::InvalidArgumentError("--wear-out only applies after a deadline: add --deadline S");
  }
  const double limit_s = std::max(stop.time_s(), stop.deadline_s());
  if (stop.warmup_s() > 0 && limit_s > 0 && stop.warmup_s() >= limit_s) {
    return absl::InvalidArgumentError(
        absl::StrCat("a warm-up of ", stop.warmup_s(), " s leaves nothing of ", limit_s, " s to measure"));
  }
  return absl::OkStatus();
}

absl::Status CheckBetween(const v1::Between& between) {
  if (!IsTime(between.think_ms())) {
    return absl::InvalidArgumentError(
        absl::StrCat("a think time of ", between.think_ms(), " ms (-J, think_ms) is not a valid time"));
  }
  if (!IsTime(between.burst_pause_ms())) {
    return absl::InvalidArgumentError(absl::StrCat("a pause of ", between.burst_pause_ms(),
                                                   " ms (-+b, burst_pause_ms) is not a valid time"));
  }
  if (between.burst_pause_ms() > 0 && between.burst_bytes() == 0) {
    return absl::InvalidArgumentError(
        "burst_pause_ms is the pause after burst_bytes (-+b SIZE,MS): set both");
  }
  if (between.has_flush_call() && between.flush_call() != NameOf(FlushCallOf(between))) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no flush call \"", between.flush_call(),
                     "\" (--flush-call, flush_call): use fsync, fdatasync or sync-file-range"));
  }
  if (between.has_flush_call() && between.flush_every_ops() == 0) {
    return absl::InvalidArgumentError(
        "--flush-call (flush_call) says how --fsync-every flushes: add --fsync-every N (flush_every_ops)");
  }
  if (!(between.ops_per_s() >= 0) || between.ops_per_s() > 1e9) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pace of ", between.ops_per_s(), " ops/s (-+O, ops_per_s) is not between 0 and 10^9"));
  }
  if (between.ops_per_s() > 0 && between.ops_per_s() < 1e-4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pace of ", between.ops_per_s(), " ops/s (-+O, ops_per_s) is less than one op in 10,000 s"));
  }
  if (between.think_in_throughput() && between.think_ms() == 0) {
    return absl::InvalidArgumentError("-+J (think_in_throughput) counts think time: add -J MS (think_ms)");
  }
  if (between.purge_processor_cache() && between.processor_cache_bytes() > (uint64_t{1} << 32)) {
    return absl::InvalidArgumentError("a processor cache of over 4 GiB (-S, processor_cache_bytes)");
  }
  return absl::OkStatus();
}

absl::Status CheckArrivals(const v1::Operation& operation, const v1::StopRule& stop) {
  constexpr double kMinPerS = 1e-4, kMaxPerS = 1e9;
  if (!operation.has_arrivals()) return absl::OkStatus();
  const v1::Arrivals& arrivals = operation.arrivals();
  const bool is_ramp = arrivals.end_ops_per_s() != 0;
  const auto is_rate = [](double per_s) { return per_s >= kMinPerS && per_s <= kMaxPerS; };
  if (!is_rate(arrivals.ops_per_s()) || (is_ramp && !is_rate(arrivals.end_ops_per_s()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a rate of ", arrivals.ops_per_s(), is_ramp ? absl::StrCat(" to ", arrivals.end_ops_per_s()) : "",
        " ops/s (--rate, arrivals) is not between 0.0001 and 10^9"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckBursts(arrivals, stop.time_s()));
  if (is_ramp && stop.time_s() == 0) {
    return absl::InvalidArgumentError(
        "a rate that changes (--rate A..B, end_ops_per_s) does so over the phase's time: add --time S");
  }
  if (stop.wear_out()) {
    return absl::InvalidArgumentError(
        "--wear-out makes all lanes do the same number of ops, --rate (arrivals) lets the rate decide: use only one");
  }
  const v1::Between& between = operation.between();
  if (between.ops_per_s() > 0 || between.think_ms() > 0 || between.burst_bytes() > 0 ||
      !operation.trace().read_file().empty()) {
    return absl::InvalidArgumentError(
        "--rate (arrivals) determines when ops begin, and so does -+O, -J, -+b or -Y: use only one of them");
  }
  return absl::OkStatus();
}

double LeastSecondsOf(const v1::Phase& phase) {
  double least_s = 0;
  for (const v1::Assignment& assignment : phase.assignments()) {
    least_s = std::max(least_s, assignment.operation().arrivals().burst_every_s());
  }
  return least_s;
}

absl::Status CheckSimulated(const v1::Operation& operation) {
  if (operation.engine() == "sim") return ParseSimulatedStorage(operation.simulated()).status();
  if (operation.simulated().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("simulated (\"", operation.simulated(),
                                                 "\") is only for engine sim, not for ", operation.engine()));
}

absl::Status CheckTree(const v1::Tree& tree) {
  if (tree.items_per_lane() == 0) {
    return absl::InvalidArgumentError("items_per_lane is 0: give --items a number such as 10000");
  }
  if (tree.items_per_lane() > kMaxItemsPerLane) {
    return absl::InvalidArgumentError(
        absl::StrCat(tree.items_per_lane(), " items per lane are more than ", kMaxItemsPerLane));
  }
  if (tree.depth() > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tree of depth ", tree.depth(), " is deeper than ", kMaxDepth));
  }
  if (tree.depth() > 0 && tree.branching() == 0) {
    return absl::InvalidArgumentError(
        "branching is 0, so a tree of that depth has no directories: give --tree-branching 1 or more");
  }
  if (DirectoriesOf(tree) > kMaxDirectories) {
    return absl::InvalidArgumentError(absl::StrCat("a tree of depth ", tree.depth(), " with ",
                                                   tree.branching(), " directories in each has more than ",
                                                   kMaxDirectories, " of them"));
  }
  if (tree.xattr_bytes() > kMaxXattrBytes) {
    return absl::InvalidArgumentError(absl::StrCat("an extended attribute of ", tree.xattr_bytes(),
                                                   " bytes is larger than the ", kMaxXattrBytes,
                                                   " that Linux allows"));
  }
  return CheckSizes(tree);
}

absl::Status CheckPercents(const v1::DataContent& data) {
  if (data.pattern_byte() > 255) {
    return absl::InvalidArgumentError(absl::StrCat("the pattern ", data.pattern_byte(),
                                                   " (-V, data.pattern_byte) is not a byte: give 0 to 255"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckPercent(kCompress, data.compress_percent()));
  IOBENCH_RETURN_IF_ERROR(CheckPercent(kDedupe, data.dedupe_percent()));
  IOBENCH_RETURN_IF_ERROR(CheckPercent("-+y (data.dedupe_within_percent)", data.dedupe_within_percent()));
  return CheckPercent("-+C (data.dedupe_interior_percent)", data.dedupe_interior_percent());
}

absl::Status CheckDepth(uint32_t depth) {
  if (depth > kMaxOpsInFlight) {
    return absl::InvalidArgumentError(
        absl::StrCat("--depth ", depth, " (depth) is over ", kMaxOpsInFlight, ": use more lanes"));
  }
  return absl::OkStatus();
}

absl::Status CheckMix(const OperationSpec& spec, const v1::Operation& operation) {
  if (operation.read_percent() > 100) {
    return absl::InvalidArgumentError(
        absl::StrCat("the read percentage ", operation.read_percent(), " is over 100"));
  }
  if (operation.mix_by_lane() && !spec.mixes_by_lane()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a mix by lane (mix_by_lane) only applies to mixes of reads and writes, and ",
                     operation.name(), " is not one"));
  }
  if (operation.mix_by_lane() && operation.read_percent() == 0) {
    return absl::InvalidArgumentError("a mix by lane needs a read percentage from 1 to 100");
  }
  if (operation.reader_lanes() > 0 && !operation.mix_by_lane()) {
    return absl::InvalidArgumentError(
        absl::StrCat("-+K ", operation.reader_lanes(),
                     " (reader_lanes) sets the number of reading lanes in a mix by lane: give ",
                     "--mix-by-lane (mix_by_lane) too"));
  }
  return absl::OkStatus();
}

absl::Status CheckRecordShares(const OperationSpec& spec, const v1::Operation& operation) {
  if (operation.records().empty()) return absl::OkStatus();
  const auto refused = [&operation](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("several record sizes (-r ",
                                                   RecordShareOption(RecordSharesOf(operation)), "): ", why));
  };
  if (!spec.can_have_sizes()) {
    return refused(absl::StrCat(operation.name(), spec.is_metadata() ? " has no records" : " has one size",
                                ": use operations that read or write in order or at random"));
  }
  if (static_cast<size_t>(operation.records_size()) > kMaxRecordSizes)
    return refused(absl::StrCat("there are more than ", kMaxRecordSizes, " sizes"));
  std::set<uint64_t> sizes;
  double sum = 0;
  for (const v1::RecordShare& share : operation.records()) {
    const bool has_size = share.record_bytes() > 0 && share.record_bytes() <= kLargestRecordBytes;
    if (!has_size || !(share.percent() > 0 && share.percent() <= 100)) {
      return refused(
          "a size (record_bytes) is not between 1 byte and 1 GiB, or a share (percent) not above 0, up to 100");
    }
    if (!sizes.insert(share.record_bytes()).second)
      return refused(absl::StrCat(ExactBytes(share.record_bytes()), " is there twice: add up its shares"));
    sum += share.percent();
  }
  if (operation.records_size() == 1) return refused("there is only one: give it without a share (record_bytes)");
  if (std::fabs(sum - 100) > kPercentSlack) return refused(absl::StrCat("the shares add up to ", sum, ", not to 100"));
  if (operation.record_bytes() != *sizes.rbegin())
    return refused(absl::StrCat("record_bytes is ", operation.record_bytes(), ", not the largest of them: leave it out"));
  if (!operation.trace().read_file().empty()) return refused("the ops of a trace (-Y) have sizes of their own");
  return absl::OkStatus();
}

absl::Status CheckBurstRecords(const OperationSpec& spec, const v1::Operation& operation, uint64_t file_bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 30;
  if (!operation.has_burst_records() || operation.burst_records() == 1) return absl::OkStatus();
  const auto refused = [&operation](const std::string& why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--burst-records (burst_records) of ", operation.burst_records(), ": ", why));
  };
  if (!spec.is_random() || spec.creates_files)
    return refused(absl::StrCat(operation.name(), " does not use existing records in random order: leave it out"));
  if (!operation.records().empty()) return refused("records in a row have one size: give -r without shares");
  if (!operation.trace().read_file().empty())
    return refused("-Y (trace.read_file) also says which records are used: leave one of the two out");
  const uint64_t call_bytes = operation.record_bytes() * (spec.call == Call::kVector ? kMaxRecordsPerVector : 1);
  const uint64_t most = std::min(file_bytes, kMost) / std::max<uint64_t>(1, call_bytes);
  if (operation.burst_records() > 0 && operation.burst_records() <= most) return absl::OkStatus();
  return refused(absl::StrCat("from 1 to ", most, ": what is moved in a row is at most a file (-s), and 1 GiB"));
}

absl::Status CheckMpiIo(const OperationSpec& spec, const v1::Operation& operation, const v1::FileLayout& files,
                        const v1::TimedRegion& region, const v1::StopRule& stop, uint32_t lanes_per_worker) {
  const v1::MpiIo& mpi_io = operation.mpi_io();
  IOBENCH_RETURN_IF_ERROR(CheckMpiHints(std::vector<std::string>(mpi_io.hints().begin(), mpi_io.hints().end())));
  if (mpi_io.view() && !files.interleaved()) {
    return absl::InvalidArgumentError(
        "--mpi-view (mpi_io.view) shows a lane its own blocks among those of others: add --shared-file --interleaved");
  }
  constexpr uint64_t kMaxViewBlock = (uint64_t{1} << 31) - 1;  // MPI counts in int
  if (mpi_io.view() && files.block_bytes() > kMaxViewBlock) {
    return absl::InvalidArgumentError(absl::StrCat("--mpi-view (mpi_io.view) has blocks (--block, block_bytes) below 2 GiB, not of ",
                                                   ExactBytes(files.block_bytes())));
  }
  if (!mpi_io.collective()) return absl::OkStatus();
  const auto refused = [](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("--collective (mpi_io.collective): ", why));
  };
  if (!files.shared_file()) return refused("the ranks open one file together: add --shared-file (-+V)");
  if (lanes_per_worker != 1) return refused("a rank takes part with one lane: use -t 1, and more ranks");
  if (spec.kinds.Has(OpKind::kRead) == spec.kinds.Has(OpKind::kWrite)) {
    return refused(absl::StrCat("all ranks read or all write, which ", operation.name(), " does not: leave it out"));
  }
  if (region.open())
    return refused("the ranks open the file together before the start: leave --open-in-timing (region.open) out");
  if (stop.wear_out())
    return refused("the ranks do the same number of ops anyway: leave --wear-out (stop.wear_out) out");
  return absl::OkStatus();
}

absl::Status CheckSpreading(const v1::Phase& phase) {
  if (!phase.has_spreading()) return absl::OkStatus();
  const auto& clients = phase.spreading().group_clients();
  std::set<uint32_t> groups;
  for (const v1::Assignment& assignment : phase.assignments()) {
    groups.insert(assignment.group());
    if (!assignment.who().workers().empty()) {
      return absl::InvalidArgumentError(
          "spreading selects the workers of all assignments, so none may have workers (who) of its own");
    }
    if (!(assignment.weight() >= 0) || assignment.weight() > 1e12) {
      return absl::InvalidArgumentError(
          absl::StrCat("the weight ", assignment.weight(), " of an assignment is not between 0 and 10^12"));
    }
  }
  const auto group_count = static_cast<uint32_t>(std::max(1, clients.size()));
  if (groups.size() != group_count || *groups.rbegin() >= group_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("spreading has ", group_count, group_count == 1 ? " group" : " groups",
                     ", and each needs assignments: their groups must be 0 to ", group_count - 1));
  }
  uint64_t sum = 0;
  for (const uint32_t count : clients) {
    sum += count;
    if (count == 0) return absl::InvalidArgumentError("a group without clients (group_clients)");
  }
  if (sum <= kMaxSpreadClients) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the groups stand for ", sum, " clients, over ", kMaxSpreadClients));
}

absl::Status CheckTrace(const OperationSpec& spec, const v1::FileLayout& files, const v1::DataContent& data,
                        const v1::Trace& trace) {
  if (!HasTrace(trace)) return absl::OkStatus();
  if (spec.is_metadata()) {
    return absl::InvalidArgumentError(
        "a trace (-X, -Y, -Q) records reads and writes, not metadata operations");
  }
  if (trace.read_file().empty()) return absl::OkStatus();
  if (files.files_per_lane() > 1 || files.interleaved()) {
    return absl::InvalidArgumentError(
        "a trace (-Y) covers one file: it cannot be combined with --files-per-lane or --interleaved");
  }
  if (data.dedupe_percent() > 0 && spec.writes()) {
    return absl::InvalidArgumentError(
        "-+w (data.dedupe_percent) makes whole records, but a trace (-Y) writes any bytes: leave one of them out");
  }
  if (CanReplayTrace(spec)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "only operations that only read or only write, record by record, can replay a trace (-Y): -i 0 to 5, 9 and 10");
}

}  // namespace iobench
