// fio: its options, command lines and job files.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/job_words.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

using B = Becomes;
using V = ForeignValue;

constexpr std::string_view kFioSaved =
    "every run saves all results, time series and latencies; --out DIR names the directory";

// clang-format off
constexpr ForeignOption kFioRows[] = {
    {"name", "NAME", V::kText, B::kTogether, "--label", ""},
    {"rw readwrite", "KIND", V::kText, B::kTogether, "--op read, write, random-read, random-write; sequential-mix or random-mix for rw and randrw; --burst-records N for randread:N", ""},
    {"rwmixread", "PCT", V::kNumber, B::kTogether, "--mix-percent", ""},
    {"rwmixwrite", "PCT", V::kNumber, B::kTogether, "--mix-percent 100 - PCT", ""},
    {"bs blocksize", "SIZE", V::kText, B::kTogether, "-r", ""},
    {"bsrange blocksize_range", "A-B", V::kText, B::kTogether, "-r A:P,…,B:P: all multiples of A in equal shares; if these are more than 16, A, 2A, 4A …", ""},
    {"bssplit", "SIZE/PCT:…", V::kText, B::kTogether, "-r SIZE:PCT,…", "random ops are at multiples of their own size, not of the smallest, and may use a place twice"},
    {"size", "SIZE", V::kText, B::kTogether, "-s: of each lane", ""},
    {"filesize", "SIZE", V::kText, B::kTogether, "-s, times the number of files", ""},
    {"io_size io_limit", "SIZE", V::kText, B::kTogether, "--max-ops SIZE / bs", ""},
    {"number_ios", "N", V::kNumber, B::kOption, "max-ops", ""},
    {"numjobs", "N", V::kNumber, B::kTogether, "-t", ""},
    {"nrfiles nr_files", "N", V::kNumber, B::kOption, "files-per-lane", ""},
    {"directory", "DIR", V::kText, B::kTogether, "--path", ""},
    {"filename", "FILE", V::kText, B::kTogether, "--path with its directory; --shared-file with numjobs", "its directory is tested; your own file is never touched (--existing FILE reads it)"},
    {"direct", "0|1", V::kYesNo, B::kOption, "direct", ""},
    {"buffered", "0|1", V::kYesNo, B::kTogether, "-I for 0", ""},
    {"ioengine", "NAME", V::kText, B::kTogether, "--engine uring for libaio and io_uring, posix-aio, mmap, null; posix for sync, psync, pvsync …", ""},
    {"iodepth", "N", V::kNumber, B::kTogether, "--depth, with an engine that has a queue", ""},
    {"runtime timeout", "S", V::kSeconds, B::kTogether, "--time; without time_based --deadline", ""},
    {"time_based", "", V::kYesNo, B::kTogether, "--time", ""},
    {"ramp_time", "S", V::kSeconds, B::kTogether, "--warmup, and S more of --time", "fio's ramp_time is on top of runtime; --warmup lies inside --time, so --time has both"},
    {"loops", "N", V::kNumber, B::kOption, "repeat", "each repetition has its own figures, with median and interval"},
    {"startdelay start_delay", "S", V::kText, B::kLost, "", "all lanes start at the same instant, which is what is measured"},
    {"fsync", "N", V::kNumber, B::kTogether, "--fsync-every N; with several ops in flight -o for 1, --burst N × bs for more", ""},
    {"fdatasync", "N", V::kNumber, B::kTogether, "--fsync-every N --flush-call fdatasync; with several ops in flight as fsync, --dsync for 1", ""},
    {"sync_file_range", "FLAGS:N", V::kText, B::kTogether, "--fsync-every N --flush-call sync-file-range; not with several ops in flight", ""},
    {"end_fsync", "0|1", V::kYesNo, B::kTogether, "-e, if something is written", ""},
    {"fsync_on_close", "0|1", V::kYesNo, B::kTogether, "-e -c, if something is written", ""},
    {"sync", "0|1|sync|dsync", V::kText, B::kTogether, "-o or --dsync", ""},
    {"rate", "SIZE", V::kText, B::kTogether, "--lane-rate SIZE / bs --even-rate; without time_based --ops-per-second", ""},
    {"rate_iops", "N", V::kText, B::kTogether, "--lane-rate N --even-rate; without time_based --ops-per-second", ""},
    {"rate_process", "linear|poisson", V::kText, B::kTogether, "--lane-rate without --even-rate for poisson", ""},
    {"rate_cycle ratecycle rate_ignore_thinktime", "…", V::kText, B::kLost, "", "a rate holds from op to op; --think is part of the time between ops"},
    {"rate_min ratemin rate_iops_min", "SIZE", V::kText, B::kLost, "", "state what the run must reach with --require 'read>=100MiB/s'"},
    {"thinktime", "US", V::kText, B::kTogether, "--think", "the lane computes during --think; fio sleeps unless thinktime_spin is set"},
    {"thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime", "N", V::kText, B::kLost, "", "--think stands before each op"},
    {"verify", "KIND", V::kText, B::kTogether, "--verify, and a read after a write", ""},
    {"do_verify", "0|1", V::kYesNo, B::kTogether, "without the read for 0", ""},
    {"verify_only", "", V::kYesNo, B::kTogether, "--op read --verify instead of a write", "it reads what a run with -w has kept; without that, the data are written first, untimed"},
    {"verify_pattern verify_fatal verify_dump verify_async verify_backlog verify_backlog_batch verify_interval verify_offset verify_state_save verify_state_load experimental_verify serialize_overlap verifysort", "…", V::kText, B::kNothing, "", "--verify needs no more"},
    {"zero_buffers", "", V::kYesNo, B::kOption, "data=zero", ""},
    {"buffer_pattern", "BYTES", V::kText, B::kLost, "", "for one byte everywhere: --data pattern:N"},
    {"buffer_compress_percentage", "PCT", V::kNumber, B::kOption, "compress", ""},
    {"dedupe_percentage", "PCT", V::kNumber, B::kOption, "dedupe", ""},
    {"buffer_compress_chunk", "SIZE", V::kText, B::kLost, "", "--compress counts in blocks of 4 KiB"},
    {"dedupe_mode dedupe_working_set_percentage dedupe_global", "…", V::kText, B::kLost, "", "--dedupe repeats records across files, --dedupe-within and --dedupe-interior within a file"},
    {"refill_buffers scramble_buffers", "0|1", V::kYesNo, B::kNothing, "",
     "data are new and incompressible; --data same repeats one buffer, as without them"},
    {"randrepeat", "0|1", V::kYesNo, B::kNothing, "", "--seed N repeats a run; without it each run has its own order"},
    {"randseed allrandrepeat", "N", V::kNumber, B::kOption, "seed", ""},
    {"norandommap softrandommap", "", V::kYesNo, B::kNothing, "", "a random op visits each record once per pass, without a map"},
    {"random_generator", "KIND", V::kText, B::kNothing, "", "a random op visits each record once per pass, without a map"},
    {"random_distribution", "KIND", V::kText, B::kTogether, "--access zipf:THETA, pareto:H or normal:DEVIATION; each record once per pass for random", "hot records lie anywhere in the file, not around a place"},
    {"rw_sequencer", "KIND", V::kText, B::kTogether, "--burst-records for sequential", ""},
    {"percentage_random", "PCT", V::kNumber, B::kLost, "", "an operation is random or sequential; --mix combines both"},
    {"overwrite", "0|1", V::kYesNo, B::kTogether, "--op rewrite instead of write", ""},
    {"invalidate", "0|1", V::kYesNo, B::kTogether, "--drop-caches for buffered reads, unless it is 0", ""},
    {"pre_read", "0|1", V::kYesNo, B::kTogether, "without --drop-caches", "what fio reads before the test is not read first; an earlier --op read fills the caches"},
    {"fallocate", "KIND", V::kText, B::kTogether, "--preallocate for posix, native and keep", ""},
    {"fadvise_hint", "KIND", V::kText, B::kTogether, "--fadvise", ""},
    {"file_service_type openfiles", "…", V::kText, B::kLost, "", "a lane works on its files one after the other"},
    {"opendir", "DIR", V::kText, B::kRefused, "", "--existing FILE reads files that are there, a file per lane"},
    {"ba blockalign", "SIZE", V::kText, B::kLost, "", "random ops are at multiples of their own size"},
    {"bs_unaligned blocksize_unaligned", "", V::kYesNo, B::kLost, "", "random ops are at multiples of their own size"},
    {"atomic", "0|1", V::kYesNo, B::kOption, "direct", "O_DIRECT, but no atomic writes"},
    {"write_hint", "KIND", V::kText, B::kLost, "", "files have no hint of how long their data live"},
    {"offset fileoffset offset_increment offset_align", "SIZE", V::kText, B::kLost, "", "each lane has its own file, or its own extent of a shared one"},
    {"fill_device fill_fs", "0|1", V::kYesNo, B::kLost, "", "--fill PCT fills the file system before the first phase"},
    {"stonewall wait_for_previous", "", V::kYesNo, B::kTogether, "another command: jobs between stonewalls run at the same time", ""},
    {"wait_for", "JOB", V::kText, B::kTogether, "another command, as with stonewall", "it waits for all jobs before it"},
    {"flow flow_id flow_sleep", "N", V::kText, B::kLost, "", "jobs do not slow each other down; --mix gives operations shares of a rate"},
    {"group_reporting", "", V::kYesNo, B::kNothing, "", "lanes are always reported together, and each by itself with --verbose"},
    {"new_group", "", V::kYesNo, B::kNothing, "", "lanes are always reported together"},
    {"thread", "", V::kYesNo, B::kNothing, "", "lanes are threads; --spawn N starts processes"},
    {"cpus_allowed cpumask", "LIST", V::kText, B::kOption, "bind=cores", "lanes are bound to processors one after the other; taskset limits which"},
    {"cpus_allowed_policy", "KIND", V::kText, B::kNothing, "", "--bind gives each lane its own processor"},
    {"numa_cpu_nodes numa_mem_policy", "LIST", V::kText, B::kOption, "bind=numa", "lanes are bound to all NUMA nodes in turn"},
    {"client", "HOSTS", V::kText, B::kTogether, "--hosts: no server process is needed", ""},
    {"unlink unlink_each_loop", "0|1", V::kYesNo, B::kNothing, "", "data are removed at the end; -w keeps them"},
    {"exitall exitall_on_error", "", V::kYesNo, B::kNothing, "", "a lane that finishes first sets the stonewall"},
    {"exit_what continue_on_error ignore_error", "KIND", V::kText, B::kNothing, "", "--max-errors N lets a lane go on after N failed ops; a lane that finishes first sets the stonewall"},
    {"create_on_open create_serialize create_fsync create_only file_append allow_file_create unique_filename group", "…", V::kYesNo, B::kNothing, "", "files are prepared before the clock starts"},
    {"filename_format", "TEXT", V::kText, B::kNothing, "", "files are prepared before the clock starts"},
    {"allow_mounted_write", "0|1", V::kYesNo, B::kNothing, "", "of devices only"},
    {"output output-format terse-version write_bw_log write_lat_log write_iops_log log_avg_msec log_hist_msec log_hist_coarseness log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id per_job_logs write_hist_log log_offset log_prio log_max_value log_entries log_compression log_compression_cpus log_store_compressed disk_util error_dump", "…", V::kText, B::kNothing, "", kFioSaved},
    {"minimal append-terse bandwidth-log latency-log json_plus", "", V::kYesNo, B::kNothing, "", kFioSaved},
    {"eta eta-newline eta-interval status-interval bwavgtime iopsavgtime", "…", V::kText, B::kNothing, "", "--live shows a run while it lasts"},
    {"lat_percentiles clat_percentiles slat_percentiles disable_lat disable_clat disable_slat disable_bw disable_bw_measurement gtod_reduce stats block_error_percentiles", "0|1", V::kYesNo, B::kNothing, "", "every latency is recorded, at about 20 ns per op"},
    {"unified_rw_reporting clocksource gtod_cpu significant_figures kb_base unit_base", "…", V::kText, B::kNothing, "", "every latency is recorded, at about 20 ns per op"},
    {"percentile_list", "LIST", V::kText, B::kNothing, "", "result.json has all percentiles"},
    {"iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low", "N", V::kText, B::kLost, "", "the queue is kept full, op by op"},
    {"io_submit_mode", "KIND", V::kText, B::kLost, "", "each lane submits its own ops"},
    {"hipri_percentage cmdprio cmdprio_class cmdprio_percentage cmdprio_bssplit", "…", V::kText, B::kLost, "", "all ops of a lane have the same priority"},
    {"thp", "0|1", V::kYesNo, B::kLost, "", "--mmap-advice gives one advice"},
    {"hipri sqthread_poll fixedbufs registerfiles nonvectored force_async userspace_reap sqthread_poll_cpu uncached nowait", "…", V::kYesNo, B::kLost, "", "engine uring has no such switches"},
    {"latency_target latency_window latency_percentile latency_run max_latency", "…", V::kText, B::kLost, "", "cluster-iobench capacity --slo 'p99<=10ms' finds the highest load within a limit"},
    {"steadystate ss", "iops:LIMIT%", V::kText, B::kTogether, "--until steady, with --steady-range 2 × LIMIT; with --steady-slope LIMIT × ss_dur for a slope", "fio watches each second of a job; here the means of rounds are compared, and all phases must be steady"},
    {"steadystate_duration ss_dur", "S", V::kSeconds, B::kTogether, "--time S / 5, since five rounds are a window; --max-rounds as many as runtime has", ""},
    {"steadystate_ramp_time ss_ramp", "S", V::kText, B::kNothing, "", "rounds before the window do not count"},
    {"nice prio prioclass cgroup cgroup_weight cgroup_nodelete ioscheduler write_barrier mem iomem mem_align iomem_align hugepage-size", "…", V::kText, B::kLost, "", "set it from outside: nice, ionice, systemd-run"},
    {"lockmem", "SIZE", V::kText, B::kLost, "", "--eat-memory takes a percentage of each client's memory"},
    {"uid", "ID", V::kText, B::kOption, "user", ""},
    {"gid", "ID", V::kText, B::kLost, "", "--user runs with the groups of that user"},
    {"exec_prerun exec_postrun", "COMMAND", V::kText, B::kLost, "", "--before-phase and --after-phase run commands"},
    {"lockfile file_lock", "KIND", V::kText, B::kTogether, "--file-lock, unless it is none", ""},
    {"randtrim trim_percentage trim_verify_zero trim_backlog trim_backlog_batch", "…", V::kText, B::kRefused, "", "cluster-iobench works on files and does not trim"},
    {"read_iolog read_iolog_chunked write_iolog replay_no_stall replay_redirect replay_time_scale replay_scale replay_align replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters", "FILE", V::kText, B::kRefused, "", "its format differs; --write-trace and --read-trace record and replay ops"},
    {"zonemode zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold zone_reset_frequency", "…", V::kText, B::kRefused, "", "zones are of devices; cluster-iobench works on files"},
    {"profile", "NAME", V::kText, B::kRefused, "", "write the options of the profile's jobs"},
    {"remote-config", "FILE", V::kText, B::kRefused, "", "write the file's options into the line"},
    {"server daemonize", "…", V::kYesNo, B::kRefused, "", "no server is needed: --client becomes --hosts, which starts workers over ssh"},
    {"section", "NAME", V::kText, B::kLost, "", "all jobs are translated"},
    {"description", "TEXT", V::kText, B::kNothing, "", "--label TEXT is shown in reports"},
    {"alloc-size aux-path trigger trigger-file trigger-timeout trigger-remote max-jobs debug idle-prof inflate-log", "…", V::kText, B::kNothing, "", "of no effect on what is measured"},
    {"showcmd parse-only readonly warnings-fatal cmdhelp enghelp crctest cpuclock-test merge-blktrace-only help version", "", V::kYesNo, B::kNothing, "", "of no effect on what is measured"},
};
// clang-format on

struct FioEngine {
  std::string_view theirs;
  std::string_view ours;  // empty: posix, the default
  std::string_view note;
};
constexpr FioEngine kFioEngines[] = {
    {"sync", "", "positioned calls (pread, pwrite) for random ops, read and write for sequential ones"},
    {"psync", "", ""},
    {"vsync", "", "plain calls instead of vectors"},
    {"pvsync", "", "plain calls instead of vectors"},
    {"pvsync2", "", "plain calls instead of vectors"},
    {"libaio", "uring",
     "io_uring in place of Linux AIO, with the same depth; --engine posix-aio where the kernel has none"},
    {"io_uring", "uring", ""},
    {"posixaio", "posix-aio", ""},
    {"mmap", "mmap", ""},
    {"null", "null", ""},
};

// A job, with the options of its global sections.
struct FioJob {
  FioJob(std::string its_name, const ForeignLine& global) : name(std::move(its_name)), line(global) {}
  std::string name;
  ForeignLine line;
  uint64_t lanes = 1;
  bool waits = false;  // for the jobs before it
  OurLine ours;
};

bool FioReads(const std::string& op) {
  return op == "read" || op == "random-read";
}
bool FioWrites(const std::string& op) {
  return !FioReads(op);
}

// "randrw", "randread:8" as the operation here.
absl::StatusOr<std::string> FioOperation(std::string kind) {
  kind.erase(std::min(kind.find(':'), kind.size()));
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {{"read", "read"},
                                                                      {"write", "write"},
                                                                      {"randread", "random-read"},
                                                                      {"randwrite", "random-write"},
                                                                      {"rw", "sequential-mix"},
                                                                      {"readwrite", "sequential-mix"},
                                                                      {"randrw", "random-mix"}};
  for (const auto& [theirs, ours] : kKinds) {
    if (theirs == kind) return std::string(ours);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rw=", kind, ": cluster-iobench has read, write and mixed ops only"));
}

// fio's sizes may be three, for reads, writes and trims: the one that the operation uses.
std::string FioPartFor(const std::string& text, const std::string& op) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  const bool second = parts.size() > 1 && (op == "write" || op == "random-write" || op == "rewrite");
  return second && !parts[1].empty() ? parts[1] : parts[0];
}

// bssplit=4k/10:64k/50:1m: entries without a percentage share the rest.
absl::StatusOr<std::vector<RecordShare>> FioSplit(const std::string& text) {
  std::vector<RecordShare> shares;
  std::vector<size_t> open;
  double rest = 100;
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(text, ':'))) {
    const std::pair<std::string, std::string> sides = absl::StrSplit(each, absl::MaxSplits('/', 1));
    RecordShare share;
    IOBENCH_ASSIGN_OR_RETURN(share.record_bytes, ForeignBytes(sides.first, 1));
    if (sides.second.empty()) {
      open.push_back(shares.size());
    } else if (!absl::SimpleAtod(sides.second, &share.percent) || !(share.percent >= 0 && share.percent <= 100)) {
      return absl::InvalidArgumentError(absl::StrCat("bssplit: \"", sides.second, "\" is no percentage"));
    }
    rest -= share.percent;
    shares.push_back(share);
  }
  for (const size_t i : open) shares[i].percent = std::max(0.0, rest) / static_cast<double>(open.size());
  return shares;
}

absl::Status FioRecords(const ForeignLine& line, const std::string& op, Translation& into, OurLine& ours,
                        std::vector<RecordShare>& records) {
  constexpr uint64_t kDefault = 4096;
  if (line.Has("bs") && FioReads(op) == FioWrites(op) && absl::StrContains(line.Text("bs"), ","))
    into.Say("bs", "a mix has one record size here");
  if (line.Has("bssplit")) {
    IOBENCH_ASSIGN_OR_RETURN(records, FioSplit(FioPartFor(line.Text("bssplit"), op)));
  } else if (line.Has("bsrange")) {
    const std::string range = FioPartFor(line.Text("bsrange"), op);
    const std::pair<std::string, std::string> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t least, ForeignBytes(ends.first, 1));
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t most, ForeignBytes(ends.second.empty() ? ends.first : ends.second, 1));
    records = RecordsFromTo(least, most, least);
  } else {
    RecordShare one{kDefault, 100};
    if (line.Has("bs")) {
      IOBENCH_ASSIGN_OR_RETURN(one.record_bytes, ForeignBytes(FioPartFor(line.Text("bs"), op), 1));
    }
    records = {one};
  }
  return AddRecords(records, ours);
}

absl::Status FioPlace(const ForeignLine& line, OurLine& ours) {
  if (line.Has("filename")) {
    std::string file = line.Text("filename");
    file.erase(std::min(file.find(':'), file.size()));  // the first of several
    if (line.Has("directory") && !absl::StartsWith(file, "/"))
      return AddDirectory(line.Text("directory"), ours);
    return AddDirectoryOf(file, ours);
  }
  return AddDirectory(line.Has("directory") ? line.Text("directory") : ".", ours);
}

// The data of each lane. With one file for all jobs, the lanes share its size.
absl::Status FioSize(const ForeignLine& line, uint64_t record, uint64_t lanes, Translation& into,
                     OurLine& ours) {
  const std::string text = line.Has("size") ? line.Text("size") : line.Text("filesize");
  const bool shared = line.Has("filename") && lanes > 1;
  if (shared) ours.Add("shared-file");
  if (text.empty()) return absl::OkStatus();
  if (text.ends_with('%')) {
    into.Say("size", "a percentage is of the file or device that is there; give -s a size, or 2xram");
    return absl::OkStatus();
  }
  IOBENCH_ASSIGN_OR_RETURN(uint64_t bytes, ForeignBytes(text, 1));
  if (!line.Has("size")) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t files, line.Number("nrfiles", 1));
    bytes *= std::max<uint64_t>(files, 1);
  }
  if (shared) {
    bytes /= lanes;
    into.Say("filename",
             "each lane has its own extent of the shared file; fio's jobs each go over the whole file");
  }
  ours.AddBytes("size", WholeRecords(bytes, record));
  return absl::OkStatus();
}

// The window of five rounds is as long as fio's, which has one value a second. Without a duration, fio has no window.
absl::StatusOr<bool> FioSteady(const ForeignLine& line, double runtime_s, Translation& into, OurLine& ours) {
  constexpr double kRounds = 5;
  IOBENCH_ASSIGN_OR_RETURN(const double window_s, line.Seconds("steadystate_duration", 0));
  const std::vector<std::string> rule = absl::StrSplit(line.Text("steadystate"), ':');
  if (rule.size() != 2 || window_s <= 0) return false;
  const double round_s = std::max(1.0, window_s / kRounds);
  ours.Add("until", "steady");
  ours.Add("time", ShortNumber(round_s));
  if (runtime_s > 0)
    ours.Add("max-rounds", absl::StrCat(static_cast<uint64_t>(std::max(kRounds, std::floor(runtime_s / round_s)))));
  double limit = 0;
  if (!absl::EndsWith(rule[1], "%") || !absl::SimpleAtod(rule[1].substr(0, rule[1].size() - 1), &limit) ||
      limit <= 0) {
    into.Say("ss", "only limits in % have a counterpart: those of SNIA's rule hold here");
    return true;
  }
  // fio's limit is on the distance of the farthest value from the mean, or on the slope of a second.
  const bool slope = absl::EndsWith(rule[0], "_slope");
  ours.Add(slope ? "steady-slope" : "steady-range", ShortNumber(slope ? limit * window_s : 2 * limit));
  return true;
}

absl::Status FioTimes(const ForeignLine& line, Translation& into, OurLine& ours) {
  IOBENCH_ASSIGN_OR_RETURN(const double runtime, line.Seconds("runtime", 0));
  IOBENCH_ASSIGN_OR_RETURN(const bool until_steady, FioSteady(line, runtime, into, ours));
  if (until_steady) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const double ramp, line.Seconds("ramp_time", 0));
  const bool loops = line.Has("time_based") || (!line.Has("size") && !line.Has("filesize"));
  if (runtime > 0 && loops) {
    ours.Add("time", ShortNumber(runtime + ramp));
    if (ramp > 0) ours.Add("warmup", ShortNumber(ramp));
  } else if (runtime > 0) {
    ours.Add("deadline", ShortNumber(runtime + ramp));
    if (ramp > 0) ours.Add("warmup", ShortNumber(ramp));
  }
  return absl::OkStatus();
}

absl::Status FioEngineAndDepth(const ForeignLine& line, Translation& into, OurLine& ours) {
  const std::string name = line.Has("ioengine") ? line.Text("ioengine") : "psync";
  const auto* const engine = std::find_if(std::begin(kFioEngines), std::end(kFioEngines),
                                          [&name](const FioEngine& each) { return each.theirs == name; });
  if (engine == std::end(kFioEngines)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ioengine=", name,
        ": there is no such engine here; --engine has posix, uring, posix-aio, mmap, stdio, libnfs"));
  }
  if (!engine->note.empty()) into.Say("ioengine", std::string(engine->note));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t depth, line.Number("iodepth", 1));
  const bool queue = engine->ours == "uring" || engine->ours == "posix-aio";
  if (!engine->ours.empty()) ours.Add("engine", std::string(engine->ours));
  if (queue && depth > 1) ours.Add("depth", absl::StrCat(depth));
  if (!queue && depth > 1)
    into.Say("iodepth", absl::StrCat("engine ", name, " does one op at a time, here as there"));
  return absl::OkStatus();
}

// sync_file_range=wait_before,write:8, after every 8 writes.
absl::Status FioRangeFlushes(const ForeignLine& line, Translation& into, OurLine& ours) {
  if (!line.Has("sync_file_range")) return absl::OkStatus();
  const std::string text = line.Text("sync_file_range"), flags = text.substr(0, text.rfind(':'));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t every, ForeignBytes(text.substr(text.rfind(':') + 1), 1));
  if (every == 0) return absl::OkStatus();
  std::string why_not;
  if (ours.Has("depth")) why_not = "with several ops in flight there is no flush between them";
  if (ours.Text("engine") == "mmap") why_not = "engine mmap flushes with msync";
  if (ours.Has("fsync-every")) why_not = "an operation has one flush call, here that of fsync or fdatasync";
  if (!why_not.empty()) {
    into.Say("sync_file_range", absl::StrCat("left out: ", why_not));
    return absl::OkStatus();
  }
  ours.Add("fsync-every", absl::StrCat(every));
  ours.Add("flush-call", "sync-file-range");
  const bool waits = absl::StrContains(flags, "wait_before") && absl::StrContains(flags, "wait_after");
  into.Say(
      "sync_file_range",
      absl::StrCat(
          "a call is for the lane's whole extent of the file, fio's for what was written since the last one",
          waits ? "" : absl::StrCat("; it waits until the data are written, fio's has only ", flags)));
  return absl::OkStatus();
}

absl::Status FioFlushes(const ForeignLine& line, const std::string& op, double record, Translation& into,
                        OurLine& ours) {
  if (FioReads(op)) return absl::OkStatus();
  if (line.Has("end_fsync") || line.Has("fsync_on_close")) ours.Add("fsync-in-timing");
  if (line.Has("fsync_on_close")) ours.Add("close-in-timing");
  const std::string sync = line.Text("sync");
  if (line.Has("sync")) ours.Add(sync == "dsync" ? "dsync" : "sync");
  for (const auto& [theirs, at_once] : {std::pair("fsync", "sync"), std::pair("fdatasync", "dsync")}) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t every, line.Number(theirs, 0));
    if (every > 0 && !ours.Has("depth")) {
      ours.Add("fsync-every", absl::StrCat(every));
      const bool has_choice = ours.Text("engine") != "mmap";  // which has msync only
      if (theirs == std::string_view("fdatasync") && has_choice) ours.Add("flush-call", "fdatasync");
      continue;
    }
    if (every == 1) ours.Add(at_once);
    if (every > 1) {
      OurLine size;
      size.AddBytes("size", static_cast<uint64_t>(static_cast<double>(every) * record));
      ours.Add("burst", absl::StrCat(size.Text("size"), ",0"));
    }
  }
  return FioRangeFlushes(line, into, ours);
}

void FioAccess(const ForeignLine& line, const std::string& op, OurLine& ours) {
  if (!op.starts_with("random-") || !line.Has("random_distribution")) return;
  const std::string theirs = line.Text("random_distribution");
  // fio has a second number, where in the file the hot part lies.
  const std::string ours_only = theirs.substr(0, theirs.find(':', theirs.find(':') + 1));
  if (theirs.starts_with("zipf:") || theirs.starts_with("pareto:") || theirs.starts_with("normal:"))
    ours.Add("access", ours_only);
}

absl::Status FioRates(const ForeignLine& line, const std::string& op, double record, Translation& into,
                      OurLine& ours) {
  double ops_per_s = 0;
  if (line.Has("rate")) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, ForeignBytes(FioPartFor(line.Text("rate"), op), 1));
    ops_per_s = static_cast<double>(bytes) / record;
  }
  if (line.Has("rate_iops")) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t ops, ForeignBytes(FioPartFor(line.Text("rate_iops"), op), 1));
    ops_per_s = static_cast<double>(ops);
  }
  // fio catches up with ops that are late, as an open loop does.
  if (ops_per_s > 0 && ours.Has("time")) {
    ours.Add("lane-rate", ShortNumber(ops_per_s));
    if (line.Text("rate_process") != "poisson") ours.Add("even-rate");
    into.Say("rate",
             "an open loop: the latency of an op counts from when it is due, so that a wait is not lost");
  } else if (ops_per_s > 0) {
    ours.Add("ops-per-second", ShortNumber(ops_per_s));
    into.Say("rate", "a lane that falls behind does not catch up; with time_based it would");
  }
  if (line.Has("thinktime")) {
    const std::string time = line.Text("thinktime");
    double us = 0;
    IOBENCH_ASSIGN_OR_RETURN(const double seconds, line.Seconds("thinktime", 0));
    us = absl::SimpleAtod(time, &us) ? us : seconds * 1e6;
    ours.Add("think", absl::StrCat(ShortNumber(us / 1000), "ms"));
  }
  return absl::OkStatus();
}

// rw=randread:8: a new place after every 8 ops.
void FioBurst(const ForeignLine& line, const std::string& op, Translation& into, OurLine& ours) {
  const std::string kind = line.Text("rw");
  const size_t colon = kind.find(':');
  uint64_t records = 0;
  if (!op.starts_with("random-") || colon == std::string::npos) return;
  if (!absl::SimpleAtoi(kind.substr(colon + 1), &records) || records <= 1) return;
  if (line.Text("rw_sequencer") == "identical") {
    into.Say("rw_sequencer", "left out: no op is repeated at the same place");
    return;
  }
  ours.Add("burst-records", absl::StrCat(records));
}

absl::Status FioTranslateJob(FioJob& job, Translation& into) {
  const ForeignLine& line = job.line;
  OurLine& ours = job.ours;
  IOBENCH_ASSIGN_OR_RETURN(std::string op, FioOperation(line.Has("rw") ? line.Text("rw") : "read"));
  if (op == "write" && line.Has("overwrite")) op = "rewrite";
  if (FioWrites(op) && line.Has("verify_only")) op = op.starts_with("random-") ? "random-read" : "read";
  IOBENCH_RETURN_IF_ERROR(FioPlace(line, ours));
  const bool checks = line.Has("verify") && line.Text("verify") != "none" && line.Text("verify") != "null";
  const bool reads_back =
      checks && FioWrites(op) && (line.Text("do_verify").empty() || line.Has("do_verify"));
  ours.Add("op", absl::StrCat(op, reads_back ? ",read" : ""));
  FioBurst(line, op, into, ours);
  if (op.ends_with("mix")) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t writes, line.Number("rwmixwrite", 50));
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t reads,
                             line.Number("rwmixread", 100 - std::min<uint64_t>(writes, 100)));
    ours.Add("mix-percent", absl::StrCat(std::max<uint64_t>(reads, 1)));
    if (reads == 0)
      into.Say("rwmixread", "at least 1 % of a mix are reads here; --op random-write only writes");
  }
  if (op == "random-write" && !line.Has("overwrite"))
    into.Say("rw", "the file is written first, untimed; without overwrite=1 fio writes into holes");
  if (op == "sequential-mix")
    into.Say("rw", "sequential-mix reads and writes the same records one after the other");
  IOBENCH_ASSIGN_OR_RETURN(job.lanes, line.Number("numjobs", 1));
  job.lanes = std::max<uint64_t>(job.lanes, 1);
  std::vector<RecordShare> records;
  IOBENCH_RETURN_IF_ERROR(FioRecords(line, op, into, ours, records));
  const uint64_t record = LargestRecord(records);
  const double mean = MeanRecord(records);
  IOBENCH_RETURN_IF_ERROR(FioSize(line, record, job.lanes, into, ours));
  ours.Add("lanes", absl::StrCat(job.lanes));
  IOBENCH_RETURN_IF_ERROR(FioTimes(line, into, ours));
  if (line.Has("io_size")) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, line.Bytes("io_size", 1, 0));
    ours.Add("max-ops",
             absl::StrCat(std::max<uint64_t>(static_cast<uint64_t>(static_cast<double>(bytes) / mean), 1)));
    if (!ours.Has("time")) into.Say("io_size", "a lane ends after that many ops, or after one pass over -s");
  }
  if (line.Has("direct") || (!line.Text("buffered").empty() && !line.Has("buffered"))) ours.Add("direct");
  IOBENCH_RETURN_IF_ERROR(FioEngineAndDepth(line, into, ours));
  IOBENCH_RETURN_IF_ERROR(FioFlushes(line, op, mean, into, ours));
  FioAccess(line, op, ours);
  IOBENCH_RETURN_IF_ERROR(FioRates(line, op, mean, into, ours));
  if (checks) {
    ours.Add("verify");
    into.Say(
        "verify",
        "every sector carries writer, file, offset and generation, and is checked outside the op's time");
  }
  const bool keeps_cache = (!line.Text("invalidate").empty() && !line.Has("invalidate")) || line.Has("pre_read");
  if (FioReads(op) && !ours.Has("direct") && !keeps_cache) {
    ours.Add("drop-caches");
    if (ours.Has("time"))
      into.Say("invalidate", "caches are dropped before each pass; fio drops them once, at the start");
  }
  const std::string fallocate = line.Text("fallocate");
  if (op == "write" &&
      (fallocate == "posix" || fallocate == "native" || fallocate == "keep" || fallocate == "1"))
    ours.Add("preallocate");
  const std::string advice = line.Text("fadvise_hint");
  if (advice == "sequential" || advice == "random") ours.Add("fadvise", advice);
  if (line.Has("lockfile") && line.Text("lockfile") != "none") ours.Add("file-lock");
  if (line.Has("client")) ours.Add("hosts", absl::StrJoin(line.Texts("client"), ","));
  if (!job.name.empty()) ours.Add("label", job.name);
  return AddByTable(line, ours, into);
}

// Options that may differ between phases of one run.
const std::vector<std::string_view>& FioOfOnePhase() {
  static const std::vector<std::string_view> names = {"op", "label", "drop-caches"};
  return names;
}

// Jobs that run at the same time are parts of one command. Commands that differ only in their operation become one.
void FioAddGroup(std::vector<FioJob>& jobs, const ForeignLine& whole, Translation& into) {
  TranslatedCommand command;
  command.launcher = whole.launcher();
  if (jobs.size() == 1) {
    command.options = jobs[0].ours;
    if (!into.commands.empty() && !into.commands.back().needs_plan()) {
      OurLine& before = into.commands.back().options;
      if (before.WordsWithout(FioOfOnePhase()) == jobs[0].ours.WordsWithout(FioOfOnePhase())) {
        before.Add("op", absl::StrCat(before.Text("op"), ",", jobs[0].ours.Text("op")));
        before.Remove("label");
        if (jobs[0].ours.Has("drop-caches")) before.Add("drop-caches");
        return;
      }
    }
  }
  for (FioJob& job : jobs) {
    if (jobs.size() == 1) break;
    job.ours.Remove("lanes");
    job.ours.Remove("label");
    command.parts.push_back({job.name, job.ours, static_cast<uint32_t>(job.lanes)});
  }
  into.commands.push_back(std::move(command));
}

absl::Status FioTranslateJobs(std::vector<FioJob> jobs, const ForeignLine& whole, Translation& into) {
  std::vector<FioJob> group;
  for (FioJob& job : jobs) {
    IOBENCH_RETURN_IF_ERROR(FioTranslateJob(job, into));
    if (job.waits && !group.empty()) {
      FioAddGroup(group, whole, into);
      group.clear();
    }
    group.push_back(std::move(job));
  }
  if (group.empty()) return absl::InvalidArgumentError("there is no job");
  FioAddGroup(group, whole, into);
  return absl::OkStatus();
}

bool FioWaits(const ForeignLine& job) {
  return job.Has("stonewall") || job.Has("wait_for");
}

// Options before the first --name are those of every job.
absl::Status TranslateFio(const ForeignLine& line, Translation& into) {
  ForeignLine global(line.tool());
  std::vector<FioJob> jobs;
  for (const ForeignGiven& given : line.given()) {
    const bool begins = given.option != nullptr && given.option->names == "name";
    if (begins) jobs.emplace_back(given.value, global);
    ForeignLine& to = jobs.empty() ? global : jobs.back().line;
    to.Add(given);
    if (!jobs.empty()) jobs.back().waits = FioWaits(jobs.back().line);
  }
  if (jobs.empty() && line.given().empty()) return absl::InvalidArgumentError("there is no job");
  if (jobs.empty()) jobs.emplace_back("", global);
  return FioTranslateJobs(std::move(jobs), line, into);
}

absl::Status TranslateFioFile(const std::string& text, Translation& into) {
  ForeignLine global(kFioTool);
  std::vector<FioJob> jobs;
  for (const JobSection& section : JobSections(text)) {
    const bool is_global = section.name == "global";
    if (!is_global) jobs.emplace_back(section.name, global);
    for (const auto& [name, value] : section.options) {
      if (absl::StrContains(value, "${")) {
        return absl::InvalidArgumentError(absl::StrCat(
            name, "=", value, ": variables are not known here; write their values into the file"));
      }
      (is_global ? global : jobs.back().line).Add({FindForeignOption(kFioTool, name), name, value});
    }
    if (!is_global) jobs.back().waits = FioWaits(jobs.back().line);
  }
  if (jobs.empty()) return absl::OkStatus();
  return FioTranslateJobs(std::move(jobs), ForeignLine(kFioTool), into);
}

}  // namespace

const ForeignTool kFioTool = {
    .name = "fio",
    .called = "fio",
    .dashes = ForeignDashes::kLong,
    .options = kFioRows,
    .example =
        "fio --name=db --directory=/mnt/nfs --rw=randrw --rwmixread=70 --bs=8k --size=4g --numjobs=4 --direct=1 "
        "--ioengine=libaio --iodepth=16 --time_based --runtime=60 --ramp_time=5",
    .translate = TranslateFio,
    .translate_file = TranslateFioFile,
};

}  // namespace iobench
