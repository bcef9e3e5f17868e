#include "common/model/offset_latency_file.h"

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

struct LogName {
  std::string_view operation, stem;
};

// IOzone's own names, up to frol; the others follow the same pattern.
constexpr LogName kLogNames[] = {
    {"write", "wol"},
    {"rewrite", "rwol"},
    {"read", "rol"},
    {"reread", "rrol"},
    {"backward-read", "revol"},
    {"stride-read", "strol"},
    {"random-read", "randrol"},
    {"random-write", "randwol"},
    {"pwrite", "pwol"},
    {"pread", "prol"},
    {"fwrite", "fwol"},
    {"fread", "frol"},
    {"record-rewrite", "recwol"},
    {"random-mix", "mixol"},
    {"repwrite", "rpwol"},
    {"repread", "rprol"},
    {"refwrite", "rfwol"},
    {"refread", "rfrol"},
    {"pwritev", "pwvol"},
    {"repwritev", "rpwvol"},
    {"preadv", "prvol"},
    {"repreadv", "rprvol"},
};

std::string StemOf(std::string_view operation) {
  for (const LogName& name : kLogNames) {
    if (name.operation == operation) return std::string(name.stem);
  }
  return absl::StrCat(std::string(operation), "_ol");
}

}  // namespace

std::string OffsetLatencyFile(std::string_view operation, uint32_t lane, bool only_lane) {
  const std::string file = absl::StrCat(StemOf(operation), ".dat");
  return only_lane ? file : absl::StrCat("Child_", lane, "_", file);
}

}  // namespace iobench
