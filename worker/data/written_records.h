// Which records of a lane's files the last pass over them wrote, where it ended before it had written all.
#ifndef WORKER_DATA_WRITTEN_RECORDS_H_
#define WORKER_DATA_WRITTEN_RECORDS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/pattern/interleaved.h"
#include "worker/pattern/op_stream.h"

namespace iobench {

// A bit per record, found by running the pass's stream of ops again: this works for every order, whoever wrote.
// Immutable, so that it may be used from several threads.
class WrittenRecords {
 public:
  // More records would take more than 16 MiB.
  static constexpr uint64_t kMaxRecords = uint64_t{1} << 27;

  // The first `op_count` ops of pass number `pass` of `stream`, whose shape was `shape`. In an interleaved file, the
  // stream is that of the whole file. Takes up to a second. Null: there are more than kMaxRecords.
  static std::shared_ptr<const WrittenRecords> Of(OpStream& stream, const StreamShape& shape, uint64_t pass,
                                                  uint64_t op_count, const Interleave& interleave = {});

  // True if the pass wrote the record that holds this offset.
  bool Has(uint32_t file, uint64_t offset) const {
    const uint64_t record = interleave_.InLane(offset) / record_bytes_;
    if (record >= records_per_file_) return false;
    const uint64_t index = file * records_per_file_ + record;
    return index < bits_.size() && bits_[index];
  }

 private:
  WrittenRecords(uint64_t records_per_file, uint64_t record_bytes, const Interleave& interleave, uint64_t count)
      : records_per_file_(records_per_file), record_bytes_(record_bytes), interleave_(interleave), bits_(count) {}

  uint64_t records_per_file_;
  uint64_t record_bytes_;
  Interleave interleave_;
  std::vector<bool> bits_;
};

}  // namespace iobench

#endif  // WORKER_DATA_WRITTEN_RECORDS_H_
