#include "coordinator/yaml/read_yaml.h"

#include <algorithm>
#include <map>
#include <new>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "yaml-cpp/eventhandler.h"

namespace iobench {
namespace {

// Counts nodes while the text is parsed, so that none has to be made first.
class NodeCounter final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { AddLeaf(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string&) override {
    AddLeaf(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = count_of_.find(anchor);
    if (known == count_of_.end()) throw YAML::ParserException(mark, "an alias stands within what it stands for");
    Add(mark, known->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open_.push_back({.begin = mark, .anchor = anchor, .count = 1});
  }
  void OnSequenceEnd() override { End(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    OnSequenceStart(mark, tag, anchor, style);
  }
  void OnMapEnd() override { End(); }

 private:
  struct Collection {
    YAML::Mark begin;
    YAML::anchor_t anchor;  // 0: none
    size_t count;           // of its nodes so far, and its own
  };

  void AddLeaf(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) count_of_[anchor] = 1;
    Add(mark, 1);
  }
  // All counts are at most kMaxYamlNodes, so that their sum does not overflow.
  void Add(const YAML::Mark& mark, size_t count) {
    size_t& sum = open_.empty() ? total_ : open_.back().count;
    sum += count;
    if (sum > kMaxYamlNodes)
      throw YAML::ParserException(mark, absl::StrCat("more than ", kMaxYamlNodes, " values, if aliases are written out"));
  }
  void End() {
    const Collection ended = open_.back();
    open_.pop_back();
    if (ended.anchor != 0) count_of_[ended.anchor] = ended.count;
    Add(ended.begin, ended.count);
  }

  std::vector<Collection> open_;  // from the outermost to the innermost
  std::map<YAML::anchor_t, size_t> count_of_;
  size_t total_ = 0;
};

}  // namespace

absl::Status ReadYaml(const std::string& text, const std::string& file_name,
                      const std::function<absl::Status(const YAML::Node& root)>& read) {
  try {
    std::istringstream stream(text);
    NodeCounter counter;
    YAML::Parser(stream).HandleNextDocument(counter);
    return read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    const std::string place =
        error.mark.is_null() ? "" : absl::StrCat(":", error.mark.line + 1, ":", error.mark.column + 1);
    return absl::InvalidArgumentError(absl::StrCat(file_name, place, ": not valid YAML: ", error.msg));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(file_name, ": not enough memory to read it"));
  }
}

}  // namespace iobench
