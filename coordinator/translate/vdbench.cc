// vdbench: the parameters of its files.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/job_words.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

using B = Becomes;
using V = ForeignValue;

// clang-format off
constexpr ForeignOption kVdbenchRows[] = {
    {"lun", "FILE", V::kText, B::kTogether, "--path with its directory", ""},
    {"anchor", "DIR", V::kText, B::kTogether, "--path", ""},
    {"size sizes", "SIZE", V::kText, B::kTogether, "-s; --file-bytes for operations on names", ""},
    {"xfersize xfersizes", "SIZES", V::kText, B::kTogether, "-r; -r SIZE:PCT,… for (SIZE,PCT,…)", ""},
    {"rdpct", "PCT", V::kNumber, B::kTogether, "--mix-percent; --op read for 100, write for 0", ""},
    {"seekpct", "PCT", V::kText, B::kTogether, "random ops for 100, sequential ones for 0", ""},
    {"fileio", "KIND", V::kText, B::kTogether, "random or sequential ops", ""},
    {"operation operations", "NAME", V::kText, B::kTogether, "--op", ""},
    {"threads", "N", V::kNumber, B::kTogether, "-t", ""},
    {"forthreads", "LIST", V::kText, B::kTogether, "-t LIST: a phase for each", ""},
    {"forxfersize", "LIST", V::kText, B::kTogether, "-r LIST: a phase for each", ""},
    {"forrdpct forseekpct", "LIST", V::kText, B::kTogether, "a command for each", ""},
    {"iorate fwdrate", "N|max", V::kText, B::kTogether, "--rate N, an open loop; nothing for max", ""},
    {"elapsed", "S", V::kText, B::kTogether, "--time; --deadline for operations that cannot be repeated", ""},
    {"warmup", "S", V::kText, B::kTogether, "--warmup, and S more of --time", "vdbench's warmup is on top of elapsed; --warmup lies inside --time, so --time has both"},
    {"openflags", "FLAGS", V::kText, B::kTogether, "-I for o_direct, -o for o_sync, --dsync for o_dsync", ""},
    {"depth", "N", V::kNumber, B::kTogether, "--tree-depth; --files-per-lane for data", ""},
    {"width", "N", V::kNumber, B::kTogether, "--tree-branching; --files-per-lane for data", ""},
    {"files", "N", V::kNumber, B::kTogether, "--items, --files-per-lane", ""},
    {"system", "HOST", V::kText, B::kTogether, "--hosts", ""},
    {"pause", "S", V::kText, B::kTogether, "--rest", ""},
    {"skew", "PCT", V::kNumber, B::kLost, "", "each part runs as fast as it can; --mix gives parts shares of a rate"},
    {"fileselect filesize", "KIND", V::kText, B::kLost, "", "a lane works on its own files, one after the other"},
    {"rhpct whpct hitarea", "PCT", V::kText, B::kLost, "", "--access hot:20/80 makes some records hot; --cold and --drop-caches decide what is cached"},
    {"range", "LIST", V::kText, B::kLost, "", "lanes work on whole files"},
    {"stopafter maxdata", "N", V::kText, B::kLost, "", "--max-ops N ends a lane after N ops"},
    {"compratio", "N", V::kText, B::kTogether, "--compress 100 - 100 / N", ""},
    {"dedupratio dedupunit", "N", V::kText, B::kLost, "", "--dedupe PCT makes records alike"},
    {"validate data_errors", "…", V::kText, B::kTogether, "--verify", ""},
    {"interval format jvms vdbench shell user master messagescan report histogram monitor", "…", V::kText, B::kNothing, "", "files are prepared first, untimed, and every run saves all results"},
    {"host fsd sd wd fwd rd hd count shared distribution totalsize workingsetsize formatxfersize formatsd replay journal", "…", V::kText, B::kNothing, "", "names of definitions, and how files are made"},
};
// clang-format on

using VdbenchValues = std::map<std::string, std::string>;

// What a file defines: by kind ("sd"), each definition with those of its kind's default before it.
struct VdbenchFile {
  std::vector<VdbenchValues> of(const std::string& kind) const {
    const auto found = kinds.find(kind);
    return found == kinds.end() ? std::vector<VdbenchValues>() : found->second;
  }
  std::map<std::string, std::vector<VdbenchValues>> kinds;
  VdbenchValues global;
};

VdbenchFile VdbenchRead(const std::string& text) {
  constexpr std::string_view kKinds[] = {"hd", "sd", "wd", "rd", "fsd", "fwd"};
  VdbenchFile file;
  std::map<std::string, VdbenchValues> defaults;
  for (const Definition& definition : Definitions(text)) {
    if (definition.empty()) continue;
    const std::string& kind = definition[0].first;
    const bool defines = std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
    VdbenchValues values = defines ? defaults[kind] : file.global;
    for (const auto& [name, value] : definition) values[absl::AsciiStrToLower(name)] = value;
    if (!defines) {
      file.global = std::move(values);
    } else if (definition[0].second == "default") {
      defaults[kind] = std::move(values);
    } else {
      file.kinds[kind].push_back(std::move(values));
    }
  }
  return file;
}

std::string VdbenchValue(const VdbenchValues& values, const std::string& name,
                         const std::string& otherwise = "") {
  const auto found = values.find(name);
  return found == values.end() || found->second.empty() ? otherwise : found->second;
}

bool VdbenchMatches(const std::string& pattern, const std::string& name) {
  for (const std::string& each : ListElements(pattern)) {
    const bool begins = each.ends_with('*') && name.starts_with(each.substr(0, each.size() - 1));
    if (begins || each == name) return true;
  }
  return false;
}

// The definitions of a kind that `pattern` names: sd1, sd*, (sd1,sd2).
std::vector<VdbenchValues> VdbenchNamed(const VdbenchFile& file, const std::string& kind,
                                        const std::string& pattern) {
  std::vector<VdbenchValues> found;
  for (const VdbenchValues& each : file.of(kind)) {
    if (pattern.empty() || VdbenchMatches(pattern, each.at(kind))) found.push_back(each);
  }
  return found;
}

// (1,2,4), 4k,8k and (1-64,d), which doubles.
absl::StatusOr<std::vector<uint64_t>> VdbenchNumbers(const std::string& text) {
  std::vector<uint64_t> numbers;
  const std::vector<std::string> elements = ListElements(text);
  const size_t dash = elements.empty() ? std::string::npos : elements[0].find('-');
  if (dash != std::string::npos) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t first, ForeignBytes(elements[0].substr(0, dash), 1));
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t last, ForeignBytes(elements[0].substr(dash + 1), 1));
    const bool doubles = elements.size() > 1 && elements[1] == "d";
    uint64_t step = 1;
    if (!doubles && elements.size() > 1) {
      IOBENCH_ASSIGN_OR_RETURN(step, ForeignBytes(elements[1], 1));
    }
    constexpr size_t kMost = 64;
    for (uint64_t n = first; n <= last && numbers.size() < kMost; n = doubles ? 2 * n : n + step)
      numbers.push_back(n);
  } else {
    for (const std::string& element : elements) {
      IOBENCH_ASSIGN_OR_RETURN(const uint64_t number, ForeignBytes(element, 1));
      numbers.push_back(number);
    }
  }
  if (numbers.empty() || std::find(numbers.begin(), numbers.end(), uint64_t{0}) != numbers.end())
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no list of numbers above 0"));
  return numbers;
}

std::string VdbenchSizes(const std::vector<uint64_t>& sizes) {
  return absl::StrJoin(sizes, ",", [](std::string* out, uint64_t bytes) { out->append(ShortSize(bytes)); });
}

// xfersize=8k; (4k,70,64k,30), with the percentages of the ops; (512,64k,512): from, to and in steps of.
absl::StatusOr<std::vector<RecordShare>> VdbenchRecords(const std::string& text) {
  const std::vector<std::string> elements = ListElements(text);
  std::vector<uint64_t> numbers;
  for (const std::string& element : elements) {
    IOBENCH_ASSIGN_OR_RETURN(numbers.emplace_back(), ForeignBytes(element, 1));
  }
  if (numbers.size() == 1) return std::vector<RecordShare>{{numbers[0], 100}};
  if (numbers.size() == 3) return RecordsFromTo(numbers[0], numbers[1], std::max(numbers[0], numbers[2]));
  if (numbers.empty() || numbers.size() % 2 != 0)
    return absl::InvalidArgumentError(absl::StrCat("xfersize=", text, " is no list of sizes and percentages"));
  std::vector<RecordShare> shares;
  for (size_t i = 0; i < numbers.size(); i += 2) shares.push_back({numbers[i], static_cast<double>(numbers[i + 1])});
  return shares;
}

constexpr std::pair<std::string_view, std::string_view> kVdbenchOperations[] = {
    {"mkdir", "mkdir"},     {"rmdir", "rmdir"},      {"create", "create"}, {"delete", "unlink"},
    {"open", "open-close"}, {"close", "open-close"}, {"getattr", "stat"},  {"setattr", "chmod"},
    {"move", "rename"},     {"access", "stat"},      {"copy", "copy"}};

std::string VdbenchDataOperation(bool random, uint64_t read_percent) {
  if (read_percent >= 100) return random ? "random-read" : "read";
  if (read_percent == 0) return random ? "random-write" : "write";
  return random ? "random-mix" : "sequential-mix";
}

void VdbenchFlags(const std::string& flags, OurLine& ours) {
  for (const std::string& each : ListElements(flags)) {
    const std::string flag = absl::AsciiStrToLower(each);
    if (flag == "o_direct" || flag == "directio") ours.Add("direct");
    if (flag == "o_sync" || flag == "fsync") ours.Add("sync");
    if (flag == "o_dsync") ours.Add("dsync");
  }
}

// A workload of a run definition: of data in one file (wd, sd) or in a tree of files (fwd, fsd).
struct VdbenchWork {
  const VdbenchValues& work;
  const VdbenchValues& run;
  std::vector<VdbenchValues> storage;
  bool of_files = false;
  std::string read_percent;

  std::string Value(const std::string& name, const std::string& otherwise = "") const {
    return VdbenchValue(
        run, name,
        VdbenchValue(work, name, storage.empty() ? otherwise : VdbenchValue(storage[0], name, otherwise)));
  }
};

absl::Status VdbenchTree(const VdbenchWork& work, const std::string& operation, uint64_t lanes, uint64_t record,
                         OurLine& ours) {
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t depth, ForeignBytes(work.Value("depth", "1"), 1));
  if (depth > kMostLevels) return absl::InvalidArgumentError("depth: a tree has at most 20 levels here");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t width, ForeignBytes(work.Value("width", "1"), 1));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t files, ForeignBytes(work.Value("files", "100"), 1));
  uint64_t directories = 1;
  constexpr uint64_t kMost = 1'000'000'000;
  for (uint64_t i = 0; i < depth && directories < kMost; ++i) directories *= std::max<uint64_t>(width, 1);
  const uint64_t per_lane = std::max<uint64_t>(files * directories / lanes, 1);
  const std::vector<std::string> sizes = ListElements(work.Value("size", work.Value("sizes", "0")));
  if (sizes.empty()) return absl::InvalidArgumentError("an empty list of sizes");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t file_bytes, ForeignBytes(sizes[0], 1));
  if (operation.empty()) {
    ours.AddBytes("size", WholeRecords(std::max(file_bytes, record), record) * per_lane);
    if (per_lane > 1) ours.Add("files-per-lane", absl::StrCat(per_lane));
    return absl::OkStatus();
  }
  ours.Add("items", absl::StrCat(per_lane));
  ours.Add("tree-depth", absl::StrCat(depth));
  if (depth > 0) ours.Add("tree-branching", absl::StrCat(std::max<uint64_t>(width, 1)));
  if (file_bytes > 0) ours.AddBytes("file-bytes", file_bytes);
  return absl::OkStatus();
}

absl::Status VdbenchTimes(const VdbenchWork& work, bool repeats, Translation& into, OurLine& ours) {
  IOBENCH_ASSIGN_OR_RETURN(const double elapsed, ParseSeconds(work.Value("elapsed", "30"), 1));
  IOBENCH_ASSIGN_OR_RETURN(const double warmup, ParseSeconds(work.Value("warmup", "0"), 1));
  ours.Add(repeats ? "time" : "deadline", ShortNumber(elapsed + warmup));
  if (warmup > 0) ours.Add("warmup", ShortNumber(warmup));
  if (warmup > 0) into.Say("warmup", std::string(FindForeignOption(kVdbenchTool, "warmup")->note));
  const std::string rate = work.Value("iorate", work.Value("fwdrate", "max"));
  if (rate == "max") return absl::OkStatus();
  if (rate == "curve" || rate[0] == '(') {
    into.Say("iorate", "cluster-iobench capacity measures curves of load; this line runs as fast as it can");
  } else if (repeats) {
    ours.Add("rate", rate);
    into.Say("iorate",
             "an open loop over all lanes: ops begin when they are due, however long those before them take");
  }
  return absl::OkStatus();
}

absl::StatusOr<OurLine> VdbenchLine(const VdbenchWork& work, const VdbenchFile& file, Translation& into) {
  OurLine ours;
  if (work.storage.empty())
    return absl::InvalidArgumentError("the workload names no sd or fsd that is defined");
  for (const VdbenchValues& each : work.storage) {
    OurLine one;
    IOBENCH_RETURN_IF_ERROR(work.of_files ? AddDirectory(VdbenchValue(each, "anchor"), one)
                                          : AddDirectoryOf(VdbenchValue(each, "lun"), one));
    if (one.Text("path") != ours.Text("path")) ours.AddAgain("path", one.Text("path"));
  }
  std::string operation;  // on names; empty: on data
  std::string seek = absl::AsciiStrToLower(work.Value("seekpct", "100"));
  bool random = seek != "0" && seek != "seq" && seek != "sequential" && seek != "eof";
  std::string read_percent = work.read_percent;
  if (work.of_files) {
    random = absl::StartsWith(work.Value("fileio", "sequential"), "random") ||
             absl::StartsWith(work.Value("fileio"), "(random");
    const std::vector<std::string> wanted =
        ListElements(work.Value("operations", work.Value("operation", "read")));
    for (const std::string& each : wanted) {
      for (const auto& [theirs, name] : kVdbenchOperations) {
        if (theirs == each) absl::StrAppend(&operation, operation.empty() ? "" : ",", std::string(name));
      }
      if (read_percent.empty()) read_percent = each == "write" ? "0" : "100";
    }
  } else if (seek != "0" && seek != "100" && random && seek != "random" && seek != "rand") {
    into.Say("seekpct", "an operation is random or sequential: random here");
  }
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t reads,
                           ForeignBytes(read_percent.empty() ? "100" : read_percent, 1));
  ours.Add("op", operation.empty() ? VdbenchDataOperation(random, reads) : operation);
  if (operation.empty() && reads > 0 && reads < 100) ours.Add("mix-percent", absl::StrCat(reads));
  const std::string threads = work.Value("forthreads", work.Value("threads", work.of_files ? "1" : "8"));
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<uint64_t> lanes, VdbenchNumbers(threads));
  uint64_t record = 1;  // the largest
  if (operation.empty()) {
    const std::string sizes = work.Value("forxfersize");
    if (sizes.empty()) {
      IOBENCH_ASSIGN_OR_RETURN(const std::vector<RecordShare> records,
                               VdbenchRecords(work.Value("xfersize", work.of_files ? "64k" : "4k")));
      IOBENCH_RETURN_IF_ERROR(AddRecords(records, ours));
      record = LargestRecord(records);
    } else {
      IOBENCH_ASSIGN_OR_RETURN(const std::vector<uint64_t> records, VdbenchNumbers(sizes));
      ours.Add("record", VdbenchSizes(records));
      record = *std::max_element(records.begin(), records.end());
    }
    if (!work.of_files) {
      IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes, ForeignBytes(work.Value("size", "64m"), 1));
      const uint64_t most = *std::max_element(lanes.begin(), lanes.end());
      ours.AddBytes("size", WholeRecords(bytes / std::max<uint64_t>(most, 1), record));
      ours.Add("shared-file");
    }
  }
  if (work.of_files)
    IOBENCH_RETURN_IF_ERROR(VdbenchTree(work, operation, std::max<uint64_t>(lanes[0], 1), record, ours));
  ours.Add("lanes", absl::StrJoin(lanes, ","));
  VdbenchFlags(work.Value("openflags"), ours);
  constexpr std::string_view kOnce[] = {"mkdir", "rmdir", "create", "unlink", "rename"};
  const bool repeats = std::none_of(std::begin(kOnce), std::end(kOnce), [&operation](std::string_view each) {
    return absl::StrContains(operation, std::string(each));
  });
  IOBENCH_RETURN_IF_ERROR(VdbenchTimes(work, repeats, into, ours));
  const std::string ratio = VdbenchValue(file.global, "compratio");
  if (!ratio.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(const double n, ParseSeconds(ratio, 1));  // a decimal number
    if (n > 1) ours.Add("compress", absl::StrCat(static_cast<int>(100 - 100 / n)));
  }
  if (!VdbenchValue(file.global, "validate").empty()) ours.Add("verify");
  if (!work.Value("pause").empty()) ours.Add("rest", work.Value("pause"));
  std::vector<std::string> hosts;
  for (const VdbenchValues& host : file.of("hd")) {
    const std::string system = VdbenchValue(host, "system", VdbenchValue(host, "hd"));
    if (system != "localhost" && system != "default") hosts.push_back(system);
  }
  if (!hosts.empty()) ours.Add("hosts", absl::StrJoin(hosts, ","));
  return ours;
}

void VdbenchSayLost(const VdbenchFile& file, Translation& into) {
  for (const auto& [kind, definitions] : file.kinds) {
    for (const VdbenchValues& values : definitions) {
      for (const auto& [name, value] : values) {
        const ForeignOption* const row = FindForeignOption(kVdbenchTool, name);
        if (row == nullptr) {
          into.Say(name, "not known here as a parameter of vdbench: left out");
        } else if (row->becomes == Becomes::kLost) {
          into.Say(name, std::string(row->note));
        }
      }
    }
  }
}

absl::Status VdbenchRun(const VdbenchFile& file, const VdbenchValues& run, const std::string& read_percent,
                        Translation& into) {
  const bool of_files = !VdbenchValue(run, "fwd").empty();
  std::vector<TranslatedPart> parts;
  for (const VdbenchValues& work :
       VdbenchNamed(file, of_files ? "fwd" : "wd", VdbenchValue(run, of_files ? "fwd" : "wd"))) {
    const std::string share =
        read_percent.empty() ? VdbenchValue(work, "rdpct", of_files ? "" : "100") : read_percent;
    const VdbenchWork one{
        work, run, VdbenchNamed(file, of_files ? "fsd" : "sd", VdbenchValue(work, of_files ? "fsd" : "sd")),
        of_files, share};
    IOBENCH_ASSIGN_OR_RETURN(OurLine ours, VdbenchLine(one, file, into));
    uint64_t lanes = 1;
    IOBENCH_ASSIGN_OR_RETURN(lanes,
                             ForeignBytes(ours.Text("lanes").substr(0, ours.Text("lanes").find(',')), 1));
    parts.push_back(
        {VdbenchValue(work, of_files ? "fwd" : "wd"), std::move(ours), static_cast<uint32_t>(lanes)});
  }
  if (parts.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("rd=", VdbenchValue(run, "rd"), " names no workload that is defined"));
  TranslatedCommand command;
  if (parts.size() == 1) {
    command.options = std::move(parts[0].options);
  } else {
    for (TranslatedPart& part : parts) part.options.Remove("lanes");
    command.parts = std::move(parts);
  }
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

absl::Status TranslateVdbenchFile(const std::string& text, Translation& into) {
  const VdbenchFile file = VdbenchRead(text);
  for (const VdbenchValues& run : file.of("rd")) {
    const std::string list = VdbenchValue(run, "forrdpct");
    const std::vector<std::string> shares = list.empty() ? std::vector<std::string>{""} : ListElements(list);
    for (const std::string& share : shares) IOBENCH_RETURN_IF_ERROR(VdbenchRun(file, run, share, into));
  }
  VdbenchSayLost(file, into);
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kVdbenchTool = {
    .name = "vdbench",
    .called = "vdbench",
    .dashes = ForeignDashes::kNone,
    .options = kVdbenchRows,
    .example = "vdbench -f parameters",
    .translate_file = TranslateVdbenchFile,
};

}  // namespace iobench
