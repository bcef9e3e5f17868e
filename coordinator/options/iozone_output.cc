#include "coordinator/options/iozone_output.h"

#include <cstdint>

namespace iobench {
namespace {

struct OutputOption {
  OptionName name;
  void (v1::IozoneOutput::*set)(bool);
};

constexpr OutputOption kOutputOptions[] = {
    {"excel", &v1::IozoneOutput::set_excel},
    {"show-ops", &v1::IozoneOutput::set_ops_per_s},
    {"show-latency", &v1::IozoneOutput::set_us_per_op},
    {"show-lanes", &v1::IozoneOutput::set_children},
    {"machine", &v1::IozoneOutput::set_machine},
    {"show-cpu", &v1::IozoneOutput::set_cpu},
    {"latency-bands", &v1::IozoneOutput::set_histograms},
    {"time-log", &v1::IozoneOutput::set_log},
    {"auto", &v1::IozoneOutput::set_auto_mode},
    {"all-records", &v1::IozoneOutput::set_all_records},
    {"no-retest", &v1::IozoneOutput::set_no_retest},
};

struct SizeOption {
  OptionName name;
  void (*set)(v1::IozoneOutput&, uint64_t bytes);
};

constexpr SizeOption kSizeOptions[] = {
    {"min-size", [](v1::IozoneOutput& output, uint64_t bytes) { output.set_min_file_bytes(bytes); }},
    {"max-size", [](v1::IozoneOutput& output, uint64_t bytes) { output.set_max_file_bytes(bytes); }},
    {"size",
     [](v1::IozoneOutput& output, uint64_t bytes) {
       if (bytes != kSizeByMemory) output.add_file_bytes(bytes);
     }},
    {"record", [](v1::IozoneOutput& output, uint64_t bytes) { output.add_record_bytes(bytes); }},
};

}  // namespace

std::optional<v1::IozoneOutput> IozoneOutputOf(const GivenOptions& given) {
  v1::IozoneOutput output;
  for (const OutputOption& option : kOutputOptions) {
    if (given.Has(option.name)) (output.*option.set)(true);
  }
  for (const SizeOption& option : kSizeOptions) {
    for (const uint64_t bytes : given.Numbers(option.name)) option.set(output, bytes);
  }
  if (output.ByteSizeLong() == 0) return std::nullopt;
  return output;
}

}  // namespace iobench
