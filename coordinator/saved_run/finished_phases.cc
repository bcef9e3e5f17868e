#include "coordinator/saved_run/finished_phases.h"


#include <algorithm>
#include <thread>
#include <utility>

#include "common/digest/xxh3.h"
#include "common/process/thread.h"
#include "coordinator/files/files.h"
#include "coordinator/report/raw_files.h"
#include "google/protobuf/arena.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxRawBytesInMemory = uint64_t{128} << 20;

google::protobuf::ArenaOptions ArenaOfRecord() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = 64 * 1024;
  options.max_block_size = 4 << 20;
  return options;
}

uint64_t BytesOfFile(const std::string& path) {
  const std::optional<struct stat> facts = files::Stat(path);
  return facts.has_value() ? static_cast<uint64_t>(facts->st_size) : 0;
}

}  // namespace

FinishedPhases::FinishedPhases(SavedRun& saved, const FinishSettings& settings)
    : saved_(saved), settings_(settings) {
  uint64_t all_bytes = 0, largest_bytes = 1;
  for (const std::string& file : saved.phase_files()) {
    const uint64_t bytes = BytesOfFile(file);
    all_bytes += bytes;
    largest_bytes = std::max(largest_bytes, bytes);
  }
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const size_t fitting = std::max<uint64_t>(1, kMaxRawBytesInMemory / largest_bytes);
  threads_ = std::min(settings.threads > 0 ? settings.threads : processors, fitting);
  if (all_bytes < settings.min_cached_bytes) return;
  const std::string path = ReportCachePath(saved.directory());
  const uint64_t program = settings.program_xxh3 != 0 ? settings.program_xxh3 : Xxh3OfProgram();
  if (program == 0) return;
  const uint64_t key = ReportCacheKey(program, saved.digests().front().sha256());
  cache_ = ReportCache::Open(path, key, settings.charts);
  client_count_ = ClocksOf(saved.run(), nullptr).size();
  if (!cache_.has_value()) writer_ = std::make_unique<ReportCacheWriter>(path, key, settings.charts);
}

FinishedPhases::Finished FinishedPhases::Finish(size_t position) const {
  const std::string& file = saved_.phase_files()[position];
  const uint32_t index = IndexOfRawPhase(file);
  absl::StatusOr<uint64_t> raw_xxh3 = 0;
  // Computed before the file is loaded: if it is replaced meanwhile, the entry belongs to a file that no longer exists.
  if (cache_.has_value() || writer_ != nullptr) raw_xxh3 = Xxh3OfFile(file);
  if (cache_.has_value() && raw_xxh3.ok()) {
    std::optional<v1::FinishedPhase> cached = cache_->Find(index, *raw_xxh3);
    if (cached.has_value() && cached->clocks_size() == client_count_)
      return {.phase = *std::move(cached), .from_cache = true};
  }
  const bool needs_digest = settings_.digests || writer_ != nullptr;
  v1::FileDigest digest;
  // The record of 8,000 lanes has a million arrays that grow while they are decoded. An arena takes and frees them in
  // blocks.
  google::protobuf::Arena arena(ArenaOfRecord());
  v1::PhaseRecord& record = *google::protobuf::Arena::CreateMessage<v1::PhaseRecord>(&arena);
  const absl::Status read = saved_.Load(position, record, needs_digest ? &digest : nullptr);
  if (!read.ok()) return {.phase = read};
  Finished finished{.phase = FinishPhase(saved_.run(), record, settings_.charts)};
  *finished.phase->mutable_file() = std::move(digest);
  if (writer_ != nullptr && raw_xxh3.ok())
    finished.entry = ReportCacheWriter::Entry(index, *raw_xxh3, *finished.phase);
  return finished;
}

// Keeps `count` phases in progress.
void FinishedPhases::StartThreads(size_t count) {
  const size_t phases = saved_.phase_files().size();
  for (; running_.size() < count && started_ < phases; ++started_) {
    const bool is_done = last_.has_value() && started_ + 1 == phases;
    running_.push_back(is_done ? DoWhenAsked([this] { return *std::move(last_); })
                               : DoConcurrently([this, position = started_] { return Finish(position); }));
  }
}

const v1::FinishedPhase* FinishedPhases::Newest() {
  const size_t phases = saved_.phase_files().size();
  if (phases == 0) return nullptr;
  // Other threads begin with the first phases meanwhile, but not with the last one.
  StartThreads(std::min(threads_, phases) - 1);
  last_ = Finish(phases - 1);
  if (last_->phase.ok()) return &*last_->phase;
  for (size_t position = phases - 1; position-- > 0;) {
    newest_ = Finish(position);
    if (newest_->phase.ok()) return &*newest_->phase;
  }
  return nullptr;
}

std::optional<v1::FinishedPhase> FinishedPhases::Next() {
  newest_.reset();
  while (next_ < saved_.phase_files().size()) {
    StartThreads(threads_);
    Finished finished = running_.front().get();
    running_.pop_front();
    ++next_;
    StartThreads(threads_);
    if (!finished.phase.ok()) {
      saved_.Note(next_ - 1, finished.phase.status());
      continue;
    }
    saved_.Note(next_ - 1, finished.phase->file());
    cache_lacks_phases_ |= !finished.from_cache;
    if (writer_ != nullptr && !finished.entry.empty()) writer_->Add(finished.entry);
    return *std::move(finished.phase);
  }
  saved_.RecordEnd();
  EndCache();
  return std::nullopt;
}

// A cache that lacks phases whose raw files can be read is removed, so that the next report writes a complete one.
void FinishedPhases::EndCache() {
  if (writer_ != nullptr) writer_->Finish();
  writer_.reset();
  if (cache_.has_value() && cache_lacks_phases_) files::Remove(ReportCachePath(saved_.directory()));
  cache_.reset();
}

}  // namespace iobench
