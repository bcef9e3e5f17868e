#include "coordinator/report/workbook/surface_chart.h"

#include <xlsxwriter.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace iobench {
namespace {

constexpr const char* kRecordAxis = "500000001";  // ids that are unique within the chart
constexpr const char* kRateAxis = "500000002";
constexpr const char* kFileAxis = "500000003";
constexpr zip_uint64_t kMaxPartBytes = 64 << 20;

std::string XmlOf(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// 'surface write'!$B$4:$G$4
std::string RangeOf(const SurfaceChart& chart, uint32_t row, uint16_t first_column, uint16_t last_column) {
  std::array<char, 256> formula{};  // a sheet's name has at most 31 characters
  lxw_rowcol_to_formula_abs(formula.data(), chart.sheet.c_str(), row, first_column, row, last_column);
  return XmlOf(formula.data());
}

std::string TitleXml(const std::string& text) {
  return absl::StrCat("<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>", XmlOf(text),
                      "</a:t></a:r></a:p></c:rich></c:tx><c:overlay val=\"0\"/></c:title>");
}

std::string SeriesXml(const SurfaceChart& chart, uint32_t row) {
  const uint32_t index = row - chart.titles_row - 1;
  return absl::StrCat("<c:ser><c:idx val=\"", index, "\"/><c:order val=\"", index, "\"/>",
                      "<c:tx><c:strRef><c:f>", RangeOf(chart, row, 0, 0), "</c:f></c:strRef></c:tx>",
                      "<c:cat><c:numRef><c:f>", RangeOf(chart, chart.titles_row, 1, chart.last_column),
                      "</c:f></c:numRef></c:cat>", "<c:val><c:numRef><c:f>",
                      RangeOf(chart, row, 1, chart.last_column), "</c:f></c:numRef></c:val></c:ser>");
}

// `kind`: catAx, valAx or serAx, at `position`: b(ottom), l(eft) or r(ight).
std::string AxisXml(const char* kind, const char* id, const char* position, const std::string& title,
                    const char* crossed) {
  const bool has_rates = std::strcmp(kind, "valAx") == 0;
  return absl::StrCat(
      "<c:", kind, "><c:axId val=\"", id,
      "\"/><c:scaling><c:orientation val=\"minMax\"/></c:scaling><c:delete val=\"0\"/><c:axPos val=\"",
      position, "\"/>", has_rates ? "<c:majorGridlines/>" : "", TitleXml(title), "<c:numFmt formatCode=\"",
      has_rates ? "#,##0" : "General",
      "\" sourceLinked=\"0\"/><c:majorTickMark val=\"out\"/><c:minorTickMark val=\"none\"/>"
      "<c:tickLblPos val=\"nextTo\"/><c:crossAx val=\"",
      crossed, "\"/><c:crosses val=\"autoZero\"/></c:", kind, ">");
}

// The number in "xl/charts/chart12.xml"; 0: the part is no chart.
uint32_t ChartNumber(std::string_view part) {
  constexpr std::string_view kPrefix = "xl/charts/chart";
  if (part.substr(0, kPrefix.size()) != kPrefix) return 0;
  uint32_t number = 0;
  for (const char digit : part.substr(kPrefix.size())) {
    if (digit < '0' || digit > '9') break;
    number = number * 10 + static_cast<uint32_t>(digit - '0');
  }
  return number;
}

std::string PartOf(zip_t* archive, zip_uint64_t index) {
  zip_stat_t stat{};
  if (zip_stat_index(archive, index, 0, &stat) != 0 || stat.size > kMaxPartBytes) return "";
  zip_file_t* file = zip_fopen_index(archive, index, 0);
  if (file == nullptr) return "";
  std::string text(stat.size, '\0');
  const zip_int64_t length = zip_fread(file, text.data(), text.size());
  zip_fclose(file);
  return length == static_cast<zip_int64_t>(text.size()) ? text : "";
}

// The parts of the archive that hold area charts, in the order of their numbers.
std::vector<zip_uint64_t> AreaChartsOf(zip_t* archive) {
  std::vector<std::pair<uint32_t, zip_uint64_t>> charts;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* name = zip_get_name(archive, index, 0);
    const uint32_t number = name == nullptr ? 0 : ChartNumber(name);
    if (number > 0 && absl::StrContains(PartOf(archive, index), "<c:areaChart>"))
      charts.emplace_back(number, index);
  }
  std::sort(charts.begin(), charts.end());
  std::vector<zip_uint64_t> indices;
  for (const auto& [number, index] : charts) indices.push_back(index);
  return indices;
}

absl::Status ZipError(const char* what, zip_error_t* error) {
  return absl::InternalError(
      absl::StrCat("cannot put surface charts into the workbook: ", what, ": ", zip_error_strerror(error)));
}

// An archive that libzip may rewrite: a copy of the bytes, which libzip owns. It keeps the unchanged beginning of a
// buffer when it writes, and libzip 1.7.3 later frees that even if it was told that the buffer is not its own.
zip_source_t* ArchiveOf(const std::string& bytes, zip_error_t* error) {
  void* const copy = std::malloc(std::max<size_t>(bytes.size(), 1));
  if (copy == nullptr) {
    zip_error_set(error, ZIP_ER_MEMORY, 0);
    return nullptr;
  }
  std::memcpy(copy, bytes.data(), bytes.size());
  zip_source_t* const source = zip_source_buffer_create(copy, bytes.size(), /*freep=*/1, error);
  if (source == nullptr) std::free(copy);
  return source;
}

// Replaces the area charts of the archive by `parts`, which libzip reads when the archive is closed.
absl::Status Replace(zip_t* archive, const std::vector<std::string>& parts) {
  const std::vector<zip_uint64_t> places = AreaChartsOf(archive);
  if (places.size() != parts.size()) {
    return absl::InternalError(
        absl::StrCat("the workbook has ", places.size(), " area charts instead of ", parts.size()));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    zip_stat_t before{};
    zip_stat_index(archive, places[i], 0, &before);
    zip_source_t* part = zip_source_buffer(archive, parts[i].data(), parts[i].size(), 0);
    if (part == nullptr || zip_file_replace(archive, places[i], part, 0) != 0) {
      zip_source_free(part);
      return ZipError("replace a chart", zip_get_error(archive));
    }
    zip_file_set_mtime(archive, places[i], before.mtime, 0);  // equal reports give equal files
  }
  return absl::OkStatus();
}

}  // namespace

std::string SurfaceChartXml(const SurfaceChart& chart) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
      "<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\""
      " xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><c:chart>";
  absl::StrAppend(&xml, TitleXml("throughput by record size and file size"),
                  "<c:autoTitleDeleted val=\"0\"/>",
                  "<c:view3D><c:rotX val=\"20\"/><c:rotY val=\"30\"/><c:perspective val=\"30\"/></c:view3D>",
                  "<c:plotArea><c:layout/><c:surface3DChart><c:wireframe val=\"0\"/>");
  for (uint32_t row = chart.titles_row + 1; row <= chart.last_row; ++row)
    absl::StrAppend(&xml, SeriesXml(chart, row));
  for (const char* axis : {kRecordAxis, kRateAxis, kFileAxis})
    absl::StrAppend(&xml, "<c:axId val=\"", axis, "\"/>");
  absl::StrAppend(
      &xml, "</c:surface3DChart>", AxisXml("catAx", kRecordAxis, "b", "record size (KiB)", kRateAxis),
      AxisXml("valAx", kRateAxis, "l", chart.unit, kRecordAxis),
      AxisXml("serAx", kFileAxis, "r", "file size (KiB)", kRecordAxis), "</c:plotArea>",
      "<c:legend><c:legendPos val=\"r\"/><c:overlay val=\"0\"/></c:legend><c:plotVisOnly val=\"1\"/>",
      "<c:dispBlanksAs val=\"gap\"/></c:chart></c:chartSpace>\n");
  return xml;
}

absl::StatusOr<std::string> WithSurfaceCharts(std::string workbook, const std::vector<SurfaceChart>& charts) {
  if (charts.empty()) return workbook;
  zip_error_t error;
  zip_error_init(&error);
  const absl::Cleanup fini = [&error] { zip_error_fini(&error); };
  zip_source_t* source = ArchiveOf(workbook, &error);
  if (source == nullptr) return ZipError("open", &error);
  const absl::Cleanup free_source = [source] { zip_source_free(source); };
  zip_source_keep(source);  // closing the archive frees it once
  zip_t* archive = zip_open_from_source(source, 0, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    return ZipError("open", &error);
  }
  std::vector<std::string> parts;
  for (const SurfaceChart& chart : charts) parts.push_back(SurfaceChartXml(chart));
  absl::Status written = Replace(archive, parts);
  if (written.ok() && zip_close(archive) != 0) written = ZipError("write", zip_get_error(archive));
  if (!written.ok()) {
    zip_discard(archive);
    return written;
  }
  zip_stat_t stat{};
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) {
    return ZipError("read", zip_source_error(source));
  }
  std::string changed(stat.size, '\0');
  const zip_int64_t length = zip_source_read(source, changed.data(), changed.size());
  zip_source_close(source);
  if (length != static_cast<zip_int64_t>(changed.size())) return ZipError("read", zip_source_error(source));
  return changed;
}

}  // namespace iobench
