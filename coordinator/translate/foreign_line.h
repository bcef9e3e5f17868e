// A line of another tool, taken apart by the tool's table.
#ifndef COORDINATOR_TRANSLATE_FOREIGN_LINE_H_
#define COORDINATOR_TRANSLATE_FOREIGN_LINE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/translate/foreign_tool.h"

namespace iobench {

// An option that was given. `option` is null for one that the table does not have.
struct ForeignGiven {
  const ForeignOption* option = nullptr;
  std::string typed;  // its name as it was written, with dashes
  std::string value;
};

// A value type. Names are those of the tool's table, without dashes.
class ForeignLine {
 public:
  explicit ForeignLine(const ForeignTool& tool) : tool_(&tool) {}

  // Takes the words after the program's name apart. InvalidArgument: an option lacks its argument.
  static absl::StatusOr<ForeignLine> Parse(const ForeignTool& tool, std::span<const std::string> words);

  const ForeignTool& tool() const { return *tool_; }
  const std::vector<ForeignGiven>& given() const { return given_; }
  // Those that are options of the tool's table, but for those in `before`.
  void Add(ForeignGiven given) { given_.push_back(std::move(given)); }
  void AddWord(std::string word) { words_.push_back(std::move(word)); }

  // True if the option was given and its value does not turn it off.
  bool Has(std::string_view name) const;
  // The last value; empty: not given.
  std::string Text(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;
  // The value in bytes; a bare number is multiplied by `unit`. `otherwise`: not given. InvalidArgument: it is no size.
  absl::StatusOr<uint64_t> Bytes(std::string_view name, uint64_t unit, uint64_t otherwise) const;
  absl::StatusOr<uint64_t> Number(std::string_view name, uint64_t otherwise) const;
  absl::StatusOr<double> Seconds(std::string_view name, double otherwise) const;

  // Words that belong to no option, and what stood before the program's name: mpirun -np 32.
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& launcher() const { return launcher_; }
  void set_launcher(std::vector<std::string> launcher) { launcher_ = std::move(launcher); }

 private:
  const ForeignGiven* Find(std::string_view name) const;

  const ForeignTool* tool_;
  std::vector<ForeignGiven> given_;
  std::vector<std::string> words_, launcher_;
};

// Parses a size as other tools write it: 4k, 4K, 4KiB, 4KB, 1.5G, 1024 in powers of 1024; a bare number is multiplied by
// `unit`.
absl::StatusOr<uint64_t> ForeignBytes(std::string_view text, uint64_t unit);

// False for 0, n, no, false and off in any case.
bool IsOn(std::string_view value);

}  // namespace iobench

#endif  // COORDINATOR_TRANSLATE_FOREIGN_LINE_H_
