#include "coordinator/report/openmetrics/metric_text.h"

#include <cmath>
#include <utility>

#include "common/text/display_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

// The three characters that the format escapes, in label values and in help texts.
void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
}

}  // namespace

std::string MetricLabel(std::string_view name, std::string_view value) {
  std::string label(name);
  label += "=\"";
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find('\n', begin), value.size());
    if (begin > 0) label += "\\n";
    AppendEscaped(Printable(value.substr(begin, end - begin)), label);
    begin = end + 1;
  }
  return label + '"';
}

std::string JoinLabels(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ',' + b;
}

void MetricWriter::Begin(const Metric& metric) {
  name_ = metric.name;
  std::string help;
  AppendEscaped(metric.help, help);
  out_ << "# TYPE " << name_ << ' ' << metric.type << '\n';
  if (*metric.unit != '\0') out_ << "# UNIT " << name_ << ' ' << metric.unit << '\n';
  out_ << "# HELP " << name_ << ' ' << help << '\n';
}

void MetricWriter::Add(const std::string& labels, double value, const char* suffix) {
  if (!std::isfinite(value)) return;
  line_.assign(name_).append(suffix);
  if (!labels.empty()) line_.append(1, '{').append(labels).append(1, '}');
  line_ += ' ';
  AppendShortest(value, line_);
  line_ += '\n';
  out_ << line_;
}

void MetricWriter::End() {
  out_ << "# EOF\n";
}

std::string RunLabels(const v1::RunInfo& run) {
  if (run.id().empty()) return "";
  const std::string labels = MetricLabel("run", run.id());
  return run.label().empty() ? labels : JoinLabels(labels, MetricLabel("label", run.label()));
}

void WriteRunInfo(const v1::RunInfo& run, MetricWriter& writer) {
  writer.Begin({"iobench_run", "info", "", "The run that the metrics belong to"});
  if (run.id().empty()) return;
  std::string labels = MetricLabel("run", run.id());
  for (const auto& [name, value] :
       {std::pair("label", run.label()), std::pair("started_at", run.started_at()),
        std::pair("version", run.program_version()), std::pair("transport", run.transport()),
        std::pair("coordinator", run.coordinator_host()), std::pair("command", run.command())}) {
    labels = JoinLabels(labels, MetricLabel(name, value));
  }
  writer.Add(labels, 1, "_info");
}

}  // namespace iobench
