// result.json: the finished message, written by reflection, so that a new field appears in the file automatically under
// the same name. protobuf's own JSON printer is unsuitable: it prints 64-bit numbers as strings and omits zeros.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/json_text.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/text/number_text.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kSingular = -1;
constexpr size_t kPieceBytes = 64 * 1024;

// Bytes that are not UTF-8 (a file name may contain any) become U+FFFD instead of an exception.
void AppendString(std::string_view value, std::string& out) {
  const bool plain = std::all_of(value.begin(), value.end(),
                                 [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    out.append(1, '"').append(value).append(1, '"');
  } else {
    out += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

// Whole values are printed as "10.0" to distinguish them from integers.
void AppendFloat(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const size_t start = out.size();
  AppendShortest(value, out);
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

const std::string& JsonName(const FieldDescriptor& field) {
  return field.has_json_name() ? field.json_name() : field.name();
}

// A phase's charts are computed from raw data and would make up most of the file; the web page has them.
bool IsCharts(const FieldDescriptor& field) {
  return field.message_type() == v1::PhaseCharts::descriptor();
}

// Printed as null, lest a run that has not ended be taken for one of an earlier version.
bool IsNullIfAbsent(const FieldDescriptor& field) {
  return field.containing_type() == v1::RunInfo::descriptor() &&
         field.number() == v1::RunInfo::kExitCodeFieldNumber;
}

// Of a plan, every single value is printed: presence tells what its author has written, which matters only until defaults
// have been filled in.
bool IsOfPlan(const FieldDescriptor& field) {
  return field.file() == v1::Plan::descriptor()->file() &&
         field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
}

// A message without lists of messages is printed on one line: a lane, a mark or a latency is one row.
bool IsOneLine(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || IsCharts(field)) continue;
    if (field.is_repeated() || !IsOneLine(*field.message_type())) return false;
  }
  return true;
}

void AppendScalar(const Message& message, const Reflection& get, const FieldDescriptor& field, int index,
                  std::string& out) {
  const bool single = index == kSingular;
  std::string scratch;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrAppend(
          &out, single ? get.GetInt32(message, &field) : get.GetRepeatedInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrAppend(
          &out, single ? get.GetInt64(message, &field) : get.GetRepeatedInt64(message, &field, index));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrAppend(
          &out, single ? get.GetUInt32(message, &field) : get.GetRepeatedUInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrAppend(
          &out, single ? get.GetUInt64(message, &field) : get.GetRepeatedUInt64(message, &field, index));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AppendFloat(
          single ? get.GetDouble(message, &field) : get.GetRepeatedDouble(message, &field, index), out);
    case FieldDescriptor::CPPTYPE_BOOL:
      out += (single ? get.GetBool(message, &field) : get.GetRepeatedBool(message, &field, index)) ? "true"
                                                                                                   : "false";
      return;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number =
          single ? get.GetEnumValue(message, &field) : get.GetRepeatedEnumValue(message, &field, index);
      const auto* known = field.enum_type()->FindValueByNumber(number);
      return known != nullptr ? AppendString(known->name(), out) : absl::StrAppend(&out, number);
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return AppendString(single ? get.GetStringReference(message, &field, &scratch)
                                 : get.GetRepeatedStringReference(message, &field, index, &scratch),
                          out);
    case FieldDescriptor::CPPTYPE_FLOAT:  // our messages have none: it would print 0.1 as 0.10000000149
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  assert(false);
}

// Writes while it iterates, so that a run of 1,000 clients is never in memory a second time as a tree.
class JsonPrinter {
 public:
  explicit JsonPrinter(std::ostream& out) : out_(out) {}
  ~JsonPrinter() { out_ << text_; }
  JsonPrinter(const JsonPrinter&) = delete;
  JsonPrinter& operator=(const JsonPrinter&) = delete;

  void Print(const Message& message) {
    const Layout& layout = LayoutOf(*message.GetDescriptor());
    const Reflection& get = *message.GetReflection();
    Items items(*this, '{', layout.one_line);
    for (const Row& row : layout.rows) {
      const bool is_absent = row.may_be_absent && !get.HasField(message, row.field);
      if (is_absent && !row.is_null_if_absent) continue;
      items.Next();
      text_ += row.key;
      if (is_absent) {
        text_ += "null";
      } else if (row.is_list_of_phases && phases_.copy_to) {
        PrintPhases();
      } else {
        PrintField(message, get, *row.field);
      }
    }
  }

  // Prints an element of a report's list of phases, with what precedes it.
  void PrintPhase(const v1::PhaseReport& phase, PlaceInList place) {
    depth_ = kPhaseDepth;
    if (place == PlaceInList::kLater) text_ += ',';
    BreakLine();
    Print(phase);
  }

  // From now on, the list of phases is copied from `phases`, which PrintPhase has printed.
  void set_phases(const WrittenPhases& phases) { phases_ = phases; }
  const absl::Status& phases_status() const { return phases_status_; }

 private:
  static constexpr size_t kPhaseDepth = 2;

  void PrintPhases() {
    text_ += '[';
    out_ << text_;
    text_.clear();
    phases_status_ = phases_.copy_to(out_);
    if (phases_.any) BreakLine();
    text_ += ']';
  }

  // How a type is printed. Descriptors answer slowly, and a run of 1,000 clients has a million fields, so each type is
  // examined once.
  struct Row {
    const FieldDescriptor* field;
    std::string key;  // "\"name\": "
    bool may_be_absent;
    bool is_null_if_absent;
    bool is_list_of_phases;
  };
  struct Layout {
    bool one_line = false;
    std::vector<Row> rows;
  };
  const Layout& LayoutOf(const Descriptor& type) {
    const auto [found, is_new] = layouts_.try_emplace(&type);
    if (!is_new) return found->second;
    Layout& layout = found->second;
    layout.one_line = IsOneLine(type);
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (IsCharts(field)) continue;
      layout.rows.push_back({.field = &field,
                             .key = absl::StrCat("\"", JsonName(field), "\": "),
                             .may_be_absent = field.has_presence() && !IsOfPlan(field),
                             .is_null_if_absent = IsNullIfAbsent(field),
                             .is_list_of_phases = &type == v1::RunReport::descriptor() &&
                                                  field.number() == v1::RunReport::kPhasesFieldNumber});
    }
    return layout;
  }

  // The brackets, commas and line breaks of one object or array.
  class Items {
   public:
    Items(JsonPrinter& printer, char opening, bool one_line)
        : printer_(printer), closing_(opening == '{' ? '}' : ']'), one_line_(one_line) {
      printer_.text_ += opening;
      printer_.depth_ += one_line_ ? 0 : 1;
    }
    ~Items() {
      if (!one_line_) {
        --printer_.depth_;
        if (!empty_) printer_.BreakLine();
      }
      printer_.text_ += closing_;
    }
    Items(const Items&) = delete;
    Items& operator=(const Items&) = delete;

    void Next() {
      if (!empty_) printer_.text_ += one_line_ ? ", " : ",";
      if (!one_line_) printer_.BreakLine();
      empty_ = false;
    }

   private:
    JsonPrinter& printer_;
    const char closing_;
    const bool one_line_;
    bool empty_ = true;
  };

  void BreakLine() {
    if (text_.size() > kPieceBytes) {
      out_ << text_;
      text_.clear();
    }
    text_.append(1, '\n').append(2 * depth_, ' ');
  }

  void PrintField(const Message& message, const Reflection& get, const FieldDescriptor& field) {
    if (!field.is_repeated()) return PrintValue(message, get, field, kSingular);
    if (field.is_map()) return PrintMap(message, get, field);
    Items items(*this, '[', field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE);
    for (int i = 0; i < get.FieldSize(message, &field); ++i) {
      items.Next();
      PrintValue(message, get, field, i);
    }
  }

  void PrintValue(const Message& message, const Reflection& get, const FieldDescriptor& field, int index) {
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      AppendScalar(message, get, field, index, text_);
      return;
    }
    Print(index == kSingular ? get.GetMessage(message, &field)
                             : get.GetRepeatedMessage(message, &field, index));
  }

  // Entries are sorted, so that equal results give equal files.
  void PrintMap(const Message& message, const Reflection& get, const FieldDescriptor& field) {
    const FieldDescriptor& key = *field.message_type()->map_key();
    const FieldDescriptor& value = *field.message_type()->map_value();
    const bool numbered = key.cpp_type() != FieldDescriptor::CPPTYPE_STRING;
    std::vector<std::pair<std::string, const Message*>> entries;
    for (int i = 0; i < get.FieldSize(message, &field); ++i) {
      const Message& entry = get.GetRepeatedMessage(message, &field, i);
      std::string name = numbered ? "\"" : "";
      AppendScalar(entry, *entry.GetReflection(), key, kSingular, name);
      if (numbered) name += '"';
      entries.emplace_back(std::move(name), &entry);
    }
    std::sort(entries.begin(), entries.end(), [numbered](const auto& a, const auto& b) {
      if (numbered && a.first.size() != b.first.size())
        return a.first.size() < b.first.size();  // 2 before 10
      return a.first < b.first;
    });
    Items items(*this, '{', entries.empty());
    for (const auto& [name, entry] : entries) {
      items.Next();
      text_.append(name).append(": ");
      PrintValue(*entry, *entry->GetReflection(), value, kSingular);
    }
  }

  std::ostream& out_;
  std::string text_;  // not yet in out_
  std::unordered_map<const Descriptor*, Layout> layouts_;
  size_t depth_ = 0;
  WrittenPhases phases_;
  absl::Status phases_status_;
};

bool IsOurJson(std::string_view head) {
  return head.find("\"schema\": \"cluster-iobench result") != std::string_view::npos;
}

absl::Status WriteJsonPhase(const v1::RunReport&, const v1::PhaseReport& phase, PlaceInList place,
                            std::ostream& out) {
  JsonPrinter(out).PrintPhase(phase, place);
  return Flush(out, "JSON");
}

absl::Status WriteJsonAround(const v1::RunReport& report, const WrittenPhases& phases, std::ostream& out) {
  absl::Status status;
  {
    JsonPrinter printer(out);
    printer.set_phases(phases);
    printer.Print(report);
    status = printer.phases_status();
  }
  IOBENCH_RETURN_IF_ERROR(status);
  out << '\n';
  return Flush(out, "JSON");
}

}  // namespace

const ReportFormat kJsonFormat = {.is_ours = IsOurJson,
                                  .write_titles = nullptr,
                                  .write_phase = WriteJsonPhase,
                                  .write_around = WriteJsonAround};

absl::Status WriteJsonText(const Message& message, std::ostream& out) {
  JsonPrinter(out).Print(message);  // its destructor writes the rest
  out << '\n';
  return Flush(out, "JSON");
}

}  // namespace iobench
