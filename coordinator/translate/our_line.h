// A command line of ours while it is put together from one of another tool.
#ifndef COORDINATOR_TRANSLATE_OUR_LINE_H_
#define COORDINATOR_TRANSLATE_OUR_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text/record_share_text.h"
#include "coordinator/translate/foreign_line.h"

namespace iobench {

// A value type. Names of options are long ones of `run`.
class OurLine {
 public:
  void Add(std::string_view name, std::string value = "");  // replaces the value that it has
  void AddAgain(std::string_view name, std::string value);  // one value more
  void AddBytes(std::string_view name, uint64_t bytes);
  void AddWord(std::string word) { AddAgain("", std::move(word)); }  // as it is
  void Remove(std::string_view name);
  bool Has(std::string_view name) const;
  std::string Text(std::string_view name) const;

  // The words of the command line without the program's name; well-known options by their letters.
  std::vector<std::string> Words() const;
  // The same without these options.
  std::vector<std::string> WordsWithout(const std::vector<std::string_view>& names) const;

 private:
  std::vector<std::pair<std::string, std::string>> options_;
};

// Adds the directory of a file or directory that the other tool tests. InvalidArgument: it is a block device, or nothing
// that files can be in.
absl::Status AddDirectoryOf(const std::string& file, OurLine& ours);
absl::Status AddDirectory(const std::string& directory, OurLine& ours);

// The levels of directories that a tree may have (--tree-depth).
inline constexpr uint64_t kMostLevels = 20;

// Bytes cut down to whole records, at least one.
uint64_t WholeRecords(uint64_t bytes, uint64_t record_bytes);

// Record sizes that the other tool mixes in one job: -r with shares; one size without. Equal sizes are added up.
// InvalidArgument: no size, one of 0, or more than -r takes.
absl::Status AddRecords(const std::vector<RecordShare>& shares, OurLine& ours);
uint64_t LargestRecord(const std::vector<RecordShare>& shares);
double MeanRecord(const std::vector<RecordShare>& shares);

// Sizes from least to most that are as likely as each other: all multiples of the least, or, if these are more than -r
// takes, each twice the one before it.
std::vector<RecordShare> RecordsFromTo(uint64_t least, uint64_t most, uint64_t step);

// "60", "0.5": as options take seconds and numbers.
std::string ShortNumber(double number);

}  // namespace iobench

#endif  // COORDINATOR_TRANSLATE_OUR_LINE_H_
