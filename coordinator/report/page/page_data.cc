#include "coordinator/report/page/page_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/status_util.h"
#include "coordinator/analysis/charts/latency_curve.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/report/page/packed_columns.h"
#include "coordinator/report/page/page_tables.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/text/console_words.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/field_mask_util.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

using google::protobuf::util::FieldMaskUtil;
using nlohmann::json;

struct Sizes {
  size_t lanes = 0;
  size_t cells = 0;  // clients × slices
};

Sizes SizesOf(const v1::RunReport& report) {
  Sizes sizes;
  for (const auto& phase : report.phases()) {
    for (const auto& client : phase.clients()) {
      for (const auto& worker : client.workers()) sizes.lanes += worker.lanes_size();
    }
    for (const auto& series : phase.charts().clients()) sizes.cells += series.per_s_size();
  }
  return sizes;
}

// Everything but the lists of clients, lanes and slices.
v1::RunReport WithoutLists(const v1::RunReport& report) {
  const auto copy = [](const auto& from, std::initializer_list<const char*> without, auto& to) {
    using Message = std::remove_reference_t<decltype(to)>;
    google::protobuf::FieldMask left_out, mask;
    for (const char* path : without) left_out.add_paths(path);
    FieldMaskUtil::Subtract<Message>(FieldMaskUtil::GetFieldMaskForAllFields<Message>(), left_out, &mask);
    FieldMaskUtil::MergeMessageTo(from, mask, {}, &to);
  };
  v1::RunReport result;
  copy(report, {"phases"}, result);
  for (const auto& phase : report.phases()) copy(phase, {"clients", "charts"}, *result.add_phases());
  return result;
}

absl::StatusOr<std::string> ResultJson(const v1::RunReport& report) {
  std::ostringstream out;
  IOBENCH_RETURN_IF_ERROR(WriteReport(kJsonFormat, WithoutLists(report), out));
  return std::move(out).str();
}

double RateOf(const v1::PhaseReport& phase, const v1::LanePhaseReport& lane) {
  return phase.headline_in_ops() ? lane.ops_per_s() : lane.bytes_per_s();
}

uint32_t StateOf(const v1::LanePhaseReport& lane) {
  if (lane.failed()) return 3;
  if (lane.sat_out()) return 2;
  return lane.stopped() ? 1 : 0;
}

class PageBuilder {
 public:
  explicit PageBuilder(const v1::RunReport& report) : report_(report), sizes_(SizesOf(report)) {}

  json Phases() {
    json phases = json::array();
    for (const auto& phase : report_.phases()) {
      phases.push_back({{"clients", Clients(phase)}, {"lanes", Lanes(phase)}, {"charts", Charts(phase)}});
    }
    return phases;
  }
  // Names to which the columns `host` refer.
  const json& hosts() const { return hosts_; }
  const std::string& columns() const { return columns_.bytes(); }

 private:
  uint32_t HostNumber(const std::string& host) {
    const auto [found, is_new] = host_numbers_.try_emplace(host, hosts_.size());
    if (is_new) hosts_.push_back(host);
    return found->second;
  }

  bool IsLarge() const { return sizes_.lanes > kMaxExactLanes; }

  template <typename List, typename Value>
  json Column(const List& list, Precision precision, Value&& value) {
    std::vector<double> values;
    for (const auto& item : list) values.push_back(value(item));
    return columns_.Add(values, precision);
  }

  json Clients(const v1::PhaseReport& phase) {
    std::vector<uint32_t> hosts, lane_counts, lost;
    for (const auto& client : phase.clients()) {
      hosts.push_back(HostNumber(client.host()));
      lane_counts.push_back(0);
      lost.push_back(0);
      for (const auto& worker : client.workers()) {
        lane_counts.back() += worker.lanes_size();
        lost.back() += worker.lost();
      }
    }
    const auto& clients = phase.clients();
    const Precision detail = IsLarge() ? Precision::kSingle : Precision::kExact;
    using Client = v1::ClientPhaseReport;
    return {
        {"host", columns_.AddCounts(hosts)},
        {"lane_count", columns_.AddCounts(lane_counts)},
        {"workers_lost", columns_.AddCounts(lost)},
        {"bytes_per_s", Column(clients, detail, [](const Client& c) { return c.bytes_per_s(); })},
        {"ops_per_s", Column(clients, detail, [](const Client& c) { return c.ops_per_s(); })},
        {"share_of_mean", Column(clients, detail, [](const Client& c) { return c.share_of_mean(); })},
        {"p50_us", Column(clients, detail, [](const Client& c) { return c.latency_us().p50(); })},
        {"p99_us", Column(clients, detail, [](const Client& c) { return c.latency_us().p99(); })},
        {"max_us", Column(clients, detail, [](const Client& c) { return c.latency_us().max(); })},
        {"cpu_percent", Column(clients, detail, [](const Client& c) { return c.cpu_percent(); })},
    };
  }

  json Lanes(const v1::PhaseReport& phase) {
    std::vector<uint32_t> numbers, states;
    std::vector<double> rate, start_us, end_s, p99_us;
    for (const auto& client : phase.clients()) {
      for (const auto& worker : client.workers()) {
        for (const auto& lane : worker.lanes()) {
          numbers.push_back(lane.lane());
          states.push_back(StateOf(lane));
          rate.push_back(RateOf(phase, lane));
          start_us.push_back(lane.start_us());
          end_s.push_back(lane.end_s());
          p99_us.push_back(lane.p99_us());
        }
      }
    }
    const Precision precision = IsLarge() ? Precision::kThree : Precision::kExact;
    return {{"lane", columns_.AddCounts(numbers)},     {"state", columns_.AddCounts(states)},
            {"rate", columns_.Add(rate, precision)},   {"start_us", columns_.Add(start_us, precision)},
            {"end_s", columns_.Add(end_s, precision)}, {"p99_us", columns_.Add(p99_us, precision)}};
  }

  // The clients' series, one after the other, each of the same number of slices; missing ends are unknown.
  json Matrix(const v1::PhaseCharts& charts) {
    int slice_count = 0;
    for (const auto& series : charts.clients()) slice_count = std::max(slice_count, series.per_s_size());
    const int join = static_cast<int>((sizes_.cells + kMaxCells - 1) / kMaxCells);
    const int step = std::max(1, join);
    std::vector<double> cells;
    for (const auto& series : charts.clients()) {
      for (int first = 0; first < slice_count; first += step) {
        const int end = std::min(first + step, series.per_s_size());
        double sum = 0;
        for (int i = first; i < end; ++i) sum += series.per_s(i);
        cells.push_back(end > first ? sum / (end - first) : std::nan(""));
      }
    }
    return {{"slice_s", charts.slice_s() * step},
            {"slice_count", (slice_count + step - 1) / step},
            {"per_s",
             columns_.Add(cells, sizes_.cells > kMaxExactCells ? Precision::kShade : Precision::kSingle)}};
  }

  json LatencyCells(const v1::LatencyMap& map) {
    return {{"slice_s", map.slice_s()},
            {"slice_count", map.slice_count()},
            {"lowest_us", map.lowest_us()},
            {"bin_upper_us", std::vector<double>(map.bin_upper_us().begin(), map.bin_upper_us().end())},
            {"ops", Column(map.ops(), IsLarge() ? Precision::kThree : Precision::kExact,
                           [](uint64_t ops) { return static_cast<double>(ops); })}};
  }

  static json Points(const google::protobuf::RepeatedPtrField<v1::PercentilePoint>& curve) {
    json points = json::array();
    for (const auto& point : curve) points.push_back({point.percent(), point.us(), point.unsure()});
    return points;
  }

  json Charts(const v1::PhaseReport& phase) {
    const v1::PhaseCharts& charts = phase.charts();
    const auto same = [](double value) { return value; };
    json distribution = json::array(), kinds = json::array(), calls = json::array();
    for (const auto& bin : charts.distribution()) {
      distribution.push_back({bin.lower_us(), bin.upper_us(), bin.ops()});
    }
    for (const auto& kind : charts.kinds())
      kinds.push_back({{"name", kind.name()}, {"percentiles", Points(PercentileCurve(kind.histogram()))}});
    for (const auto& call : charts.calls())
      calls.push_back({{"name", call.name()},
                       {"latency", LatencyCells(call.latency())},
                       {"percentiles", Points(PercentileCurve(call.histogram()))}});
    return {{"slice_s", charts.slice_s()},
            {"bytes_per_s", Column(charts.bytes_per_s(), Precision::kExact, same)},
            {"ops_per_s", Column(charts.ops_per_s(), Precision::kExact, same)},
            {"clients", Matrix(charts)},
            {"latency", LatencyCells(charts.latency())},
            {"kinds", kinds},
            {"calls", calls},
            {"percentiles", Points(charts.percentiles())},
            {"distribution", distribution},
            {"servers", Servers(charts)}};
  }

  json Servers(const v1::PhaseCharts& charts) {
    const auto same = [](double value) { return value; };
    json servers = json::array();
    for (const auto& server : charts.servers()) {
      const auto column = [&](const auto& values) { return Column(values, Precision::kSingle, same); };
      servers.push_back({{"begin_s", server.begin_s()},
                         {"end_s", Column(server.end_s(), Precision::kExact, same)},
                         {"cpu_busy", column(server.cpu_busy())},
                         {"disk_busy", column(server.disk_busy())},
                         {"disk_read_bytes_per_s", column(server.disk_read_bytes_per_s())},
                         {"disk_write_bytes_per_s", column(server.disk_write_bytes_per_s())},
                         {"receive_bytes_per_s", column(server.receive_bytes_per_s())},
                         {"send_bytes_per_s", column(server.send_bytes_per_s())},
                         {"nfsd_rpcs_per_s", column(server.nfsd_rpcs_per_s())},
                         {"nfsd_busy_threads", column(server.nfsd_busy_threads())}});
    }
    return servers;
  }

  const v1::RunReport& report_;
  const Sizes sizes_;
  PackedColumns columns_;
  json hosts_ = json::array();
  std::unordered_map<std::string, uint32_t> host_numbers_;
};

// What the table of marks says of the marks that the report has: the page has no list of codes.
json Marks(const v1::RunReport& report) {
  json marks = json::object();
  for (const auto& phase : report.phases()) {
    for (const auto& mark : phase.marks()) {
      const MarkRow& row = RowOf(mark.code());
      if (row.code.empty()) continue;  // of a later version
      marks[mark.code()] = {
          {"means", WordOf(row.means)},
          {"severity", SeverityOf(row.means)},
          {"doc", DocOf(row.code)},
          {"read_from_memory", row.memory == MemoryPart::kRead || row.memory == MemoryPart::kMaybeRead}};
    }
  }
  return marks;
}

// What each phase is called in all formats.
json Names(const v1::RunReport& report) {
  json names = json::array();
  for (const auto& phase : report.phases()) names.push_back(PhaseNameAlone(report, phase));
  return names;
}

std::string Compressed(const std::string& bytes) {
  using google::protobuf::io::GzipOutputStream;
  std::string result;
  google::protobuf::io::StringOutputStream target(&result);
  GzipOutputStream gzip(&target);
  void* buffer = nullptr;
  int size = 0;
  size_t done = 0;
  while (done < bytes.size() && gzip.Next(&buffer, &size)) {
    const size_t count = std::min<size_t>(size, bytes.size() - done);
    bytes.copy(static_cast<char*>(buffer), count, done);
    done += count;
    if (count < static_cast<size_t>(size)) gzip.BackUp(size - static_cast<int>(count));
  }
  gzip.Close();
  return result;
}

}  // namespace

absl::StatusOr<std::string> PageData(const v1::RunReport& report) {
  PageBuilder builder(report);
  const json phases = builder.Phases();
  const absl::StatusOr<std::string> result = ResultJson(report);
  if (!result.ok()) return result.status();
  const auto dump = [](const json& value) {  // bytes that are not UTF-8 become U+FFFD, as in result.json
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  const std::string plan = report.run().has_plan() ? PlanToYaml(report.run().plan()) : "";
  const std::string text = "{\"result\":" + *result + ",\"hosts\":" + dump(builder.hosts()) +
                           ",\"plan\":" + dump(plan) + ",\"marks\":" + dump(Marks(report)) +
                           ",\"names\":" + dump(Names(report)) +
                           ",\"phases\":" + dump(phases) +
                           ",\"tables\":" + dump(PageTables(report)) + "}";
  return PackForPage(text, builder.columns());
}

std::string PackForPage(const std::string& json, const std::string& columns) {
  std::string data;
  for (int shift = 0; shift < 32; shift += 8) data += static_cast<char>(json.size() >> shift & 0xff);
  data += json;
  data.resize((data.size() + 7) / 8 * 8);
  data += columns;
  return absl::Base64Escape(Compressed(data));
}

}  // namespace iobench
