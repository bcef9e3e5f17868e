#include "coordinator/cluster/worker_news.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/units.h"
#include "common/transport/transport.h"

namespace iobench {
namespace {

std::string Times(uint64_t count) {
  return Counted(static_cast<int64_t>(count), "time");
}

// "connections broke and came back again …: worker 3 on node07, 14 times; others, 5 times: …".
std::string SumUpReconnections(const RepeatedLines::LeftOut& left_out) {
  std::vector<std::string> texts;
  const auto add = [&texts](const std::string& who, uint64_t count) {
    if (count > 0) texts.push_back(absl::StrCat(who, ", ", Times(count)));
  };
  for (const auto& [worker, count] : left_out.by_subject) add(worker, count);
  add("others", left_out.others);
  return absl::StrCat("connections broke and came back again, nothing was lost: ", absl::StrJoin(texts, "; "),
                      ": check the network");
}

RepeatedLines::SumUp MoreTimes(const char* what) {
  return [what](const RepeatedLines::LeftOut& left_out) {
    return absl::StrCat("within ", FormatSeconds(SecondsFrom(kFlappingPeriodNs)), ", ", Times(left_out.all()), " more: ", what);
  };
}

}  // namespace

// In the order of the kinds.
WorkerNews::WorkerNews() {
  for (RepeatedLines::SumUp sum_up :
       {MoreTimes("a worker has not answered for long: check the network, and the hosts of those that do not answer again"),
        MoreTimes("a worker answers again"),
        MoreTimes("a worker makes no progress: check whether a file system hangs there"),
        RepeatedLines::SumUp(SumUpReconnections), MoreTimes("a worker is lost: the report names each with its reason")}) {
    lines_.emplace_back(kFlappingPeriodNs, kMaxFlappingLines, std::move(sum_up));
  }
}

void WorkerNews::Add(Kind kind, const std::string& worker, std::string line, int64_t now_ns) {
  lines_[static_cast<size_t>(kind)].Add(worker, std::move(line), now_ns);
}

std::vector<std::string> WorkerNews::Take(int64_t now_ns) {
  std::vector<std::string> all;
  for (RepeatedLines& of_kind : lines_) {
    std::vector<std::string> lines = of_kind.Take(now_ns);
    all.insert(all.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
  }
  return all;
}

}  // namespace iobench
