#include "coordinator/mix/replay_rates.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace iobench {
namespace {

// How many requests of a class one op makes.
struct Makes {
  std::string_view request_class;
  double count;
};

// What an op of each operation asks of the server, counted in the lab (kernel 6.1, tests/lab/test_replay.py): with the
// options of a replay (-I), on items that the client does not remember. Closing belongs to opening, so it has no
// operation of its own. On NFSv3 nothing is opened; open-close is a stat there.
struct Row {
  std::string_view operation;
  std::span<const Makes> v3, v4;
};
constexpr Makes kReadMakes[] = {{"READ", 1}}, kWriteMakes[] = {{"WRITE", 1}}, kStatMakes[] = {{"GETATTR", 1}},
                kChangeMakes[] = {{"SETATTR", 1}}, kListMakes[] = {{"READDIR", 1}, {"GETATTR", 1}},
                kOpenMakes[] = {{"OPEN", 1}, {"CLOSE", 1}};
constexpr double kHalf = 0.5, kThird = 1.0 / 3;  // of the ops of a cycle
constexpr Makes kRecreates3[] = {{"CREATE", kHalf}, {"REMOVE", kHalf}},
                kRecreates4[] = {{"OPEN", kHalf}, {"CLOSE", kHalf}, {"REMOVE", kHalf}};
constexpr Makes kReplaces3[] = {{"CREATE", kHalf}, {"RENAME", kHalf}},
                kReplaces4[] = {{"OPEN", kHalf}, {"CLOSE", kHalf}, {"RENAME", kHalf}};
constexpr Makes kDelivers3[] = {{"CREATE", kThird}, {"REMOVE", kThird}, {"RENAME", kThird}},
                kDelivers4[] = {{"OPEN", kThird}, {"CLOSE", kThird}, {"REMOVE", kThird}, {"RENAME", kThird}};
constexpr Row kRows[] = {
    {"random-read", kReadMakes, kReadMakes}, {"random-write", kWriteMakes, kWriteMakes},
    {"stat", kStatMakes, kStatMakes},        {"chmod", kChangeMakes, kChangeMakes},
    {"readdir", kListMakes, kListMakes},     {"open-close", {}, kOpenMakes},
    {"recreate", kRecreates3, kRecreates4},  {"replace", kReplaces3, kReplaces4},
    {"deliver", kDelivers3, kDelivers4},
};
// Of the made files, each has one WRITE if the load writes as often as it makes files.
constexpr std::string_view kWithData[] = {"recreate", "replace", "deliver"};

struct Class {
  std::string_view request, name;
};
constexpr Class kClasses[] = {{"READ_PLUS", "READ"},   {"LOOKUP", "GETATTR"},   {"ACCESS", "GETATTR"},
                              {"READLINK", "GETATTR"}, {"OPEN_NOATTR", "OPEN"}, {"READDIRPLUS", "READDIR"}};

struct Reason {
  std::string_view request, why;
};
constexpr std::string_view kOnceText = "no operation makes and removes these in turn",
                           kLockText = "no operation locks";
constexpr Reason kReasons[] = {
    {"COMMIT", "replayed writes are stable when they end (-I)"},
    {"LINK", kOnceText},
    {"SYMLINK", kOnceText},
    {"MKDIR", kOnceText},
    {"MKNOD", kOnceText},
    {"RMDIR", kOnceText},
    {"LOCK", kLockText},
    {"LOCKT", kLockText},
    {"LOCKU", kLockText},
    {"DELEGRETURN", "the server decides what it delegates"},
};

// The rate of an operation that a fit needs at least; less is the rounding of a fit that is exact.
constexpr double kNegligiblePerS = 1e-6;
constexpr int kMaxRounds = 20'000;
constexpr double kSettled = 1e-10;

std::span<const Makes> MadeBy(const Row& row, NfsProtocol protocol) {
  return protocol == NfsProtocol::k3 ? row.v3 : row.v4;
}

// One column of the fit: what one op per second makes, relative to what was observed.
struct Column {
  std::string_view operation;
  std::map<std::string, double> makes;
  double ops_per_s = 0;
};

double PerSecondOf(const std::map<std::string, double>& per_s, const std::string& name) {
  const auto found = per_s.find(name);
  return found == per_s.end() ? 0 : found->second;
}

std::vector<Column> ColumnsFor(const std::map<std::string, double>& per_s, NfsProtocol protocol) {
  const double made =
      std::max({PerSecondOf(per_s, "CREATE"), PerSecondOf(per_s, "REMOVE"), PerSecondOf(per_s, "RENAME")});
  const bool with_data = made > 0 && PerSecondOf(per_s, "WRITE") >= made;
  std::vector<Column> columns;
  for (const Row& row : kRows) {
    Column column{.operation = row.operation, .makes = {}};
    double files = 0;
    for (const Makes& each : MadeBy(row, protocol)) {
      column.makes[std::string(each.request_class)] = each.count;
      files = std::max(files, each.count);
    }
    const bool writes =
        std::find(std::begin(kWithData), std::end(kWithData), row.operation) != std::end(kWithData);
    if (writes && with_data) column.makes["WRITE"] = files;
    // What makes a request that was not observed has no part in the load, other than the close of an open.
    const bool fits = std::all_of(column.makes.begin(), column.makes.end(), [&](const auto& each) {
      return PerSecondOf(per_s, each.first) > 0 || each.first == "CLOSE" || each.first == "GETATTR";
    });
    if (fits && !column.makes.empty()) columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace

std::string RequestClassOf(std::string_view request) {
  for (const Class& each : kClasses) {
    if (each.request == request) return std::string(each.name);
  }
  return std::string(request);
}

std::string_view WhyNoOperationMakes(std::string_view request_class) {
  for (const Row& row : kRows) {
    for (const std::span<const Makes> makes : {row.v3, row.v4}) {
      for (const Makes& each : makes) {
        if (each.request_class == request_class) return "";
      }
    }
  }
  for (const Reason& reason : kReasons) {
    if (reason.request == request_class) return reason.why;
  }
  return "the protocol's own, or no operation makes it";
}

std::vector<ReplayedOperation> RatesThatMake(const std::map<std::string, double>& per_s,
                                             NfsProtocol protocol) {
  std::vector<Column> columns = ColumnsFor(per_s, protocol);
  // Non-negative least squares of the relative errors, one rate after the other until none changes (the sum of squares
  // is convex, so this ends at its minimum). The close of an open has no weight: it follows from the open.
  std::map<std::string, double> misses;  // observed - made, per observed
  for (const auto& [name, rate] : per_s) {
    if (rate > 0 && name != "CLOSE") misses[name] = 1;
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    double moved = 0;
    for (Column& column : columns) {
      double slope = 0, squares = 0;
      for (const auto& [name, count] : column.makes) {
        const auto miss = misses.find(name);
        if (miss == misses.end()) continue;
        const double relative = count / PerSecondOf(per_s, name);
        slope += relative * miss->second;
        squares += relative * relative;
      }
      if (squares == 0) continue;
      const double next = std::max(0.0, column.ops_per_s + slope / squares);
      const double step = next - column.ops_per_s;
      for (const auto& [name, count] : column.makes) {
        const auto miss = misses.find(name);
        if (miss != misses.end()) miss->second -= step * count / PerSecondOf(per_s, name);
      }
      column.ops_per_s = next;
      moved = std::max(moved, std::fabs(step) * std::sqrt(squares));
    }
    if (moved < kSettled) break;
  }
  std::vector<ReplayedOperation> replayed;
  for (const Column& column : columns) {
    if (column.ops_per_s < kNegligiblePerS) continue;
    ReplayedOperation& added = replayed.emplace_back();
    added.operation = column.operation;
    added.ops_per_s = column.ops_per_s;
    for (const auto& [name, count] : column.makes) added.requests_per_s[name] = count * column.ops_per_s;
  }
  return replayed;
}

}  // namespace iobench
