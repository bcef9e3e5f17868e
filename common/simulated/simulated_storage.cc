#include "common/simulated/simulated_storage.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

absl::Status BadPart(const std::string& part, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "simulated storage (--engine sim:): \"", part, "\" ", std::string(why),
      "; there are servers=N, service=TIME, distribution=constant or exponential, link=BYTES_PER_S, round-trip=TIME, "
      "baseline=BYTES_PER_S, burst=BYTES, contention=SHARE and crosstalk=SHARE"));
}

absl::Status ReadTime(const std::string& part, const std::string& value, double min_ns, double& ns) {
  constexpr double kMaxNs = 1e12;
  const absl::StatusOr<double> seconds = ParseSeconds(value, 1);
  if (!seconds.ok()) return BadPart(part, "is no time such as 200us");
  ns = *seconds * 1e9;
  return ns >= min_ns && ns <= kMaxNs ? absl::OkStatus() : BadPart(part, "is not a time from 1us to 1000s");
}

absl::Status ReadShare(const std::string& part, const std::string& value, double& share) {
  const bool ok = absl::SimpleAtod(value, &share) && share >= 0 && share <= 1;
  return ok ? absl::OkStatus() : BadPart(part, "is not from 0 to 1");
}

absl::Status ReadBytes(const std::string& part, const std::string& value, const char* wanted, double& bytes) {
  const absl::StatusOr<uint64_t> parsed = ParseBytes(value, 1);
  if (!parsed.ok() || *parsed == 0) return BadPart(part, wanted);
  bytes = static_cast<double>(*parsed);
  return absl::OkStatus();
}

absl::Status ReadPart(const std::string& part, SimulatedStorage& storage) {
  const std::pair<std::string, std::string> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
  const std::string &key = sides.first, &value = sides.second;
  if (key == "servers") {
    const bool ok = absl::SimpleAtoi(value, &storage.servers) && storage.servers >= 1 &&
                    storage.servers <= SimulatedStorage::kMaxServers;
    return ok ? absl::OkStatus() : BadPart(part, "is not a number of servers from 1 to 256");
  }
  if (key == "service") return ReadTime(part, value, 1e3, storage.service_ns);
  if (key == "round-trip") return ReadTime(part, value, 0, storage.round_trip_ns);
  if (key == "contention") return ReadShare(part, value, storage.contention);
  if (key == "crosstalk") return ReadShare(part, value, storage.crosstalk);
  if (key == "distribution") {
    storage.exponential = value == "exponential";
    return storage.exponential || value == "constant" ? absl::OkStatus()
                                                      : BadPart(part, "is not constant or exponential");
  }
  constexpr const char* kRate = "is not a number of bytes per second such as 100MiB";
  if (key == "link") return ReadBytes(part, value, kRate, storage.link_bytes_per_s);
  if (key == "baseline") return ReadBytes(part, value, kRate, storage.baseline_bytes_per_s);
  if (key == "burst") return ReadBytes(part, value, "is not a number of bytes such as 4GiB", storage.burst_bytes);
  return BadPart(part, "is unknown");
}

}  // namespace

absl::StatusOr<SimulatedStorage> ParseSimulatedStorage(std::string_view text) {
  SimulatedStorage storage;
  if (text.empty()) return storage;
  for (const auto& part : absl::StrSplit(std::string(text), ',')) {
    IOBENCH_RETURN_IF_ERROR(ReadPart(std::string(part), storage));
  }
  if (storage.scales_by_usl() && storage.servers > 1) {
    return absl::InvalidArgumentError(
        "simulated storage (--engine sim:): contention and crosstalk take the place of servers: leave servers= out");
  }
  if ((storage.baseline_bytes_per_s > 0) != (storage.burst_bytes > 0)) {
    return absl::InvalidArgumentError(
        "simulated storage (--engine sim:): a token bucket has baseline= and burst=: give both or neither");
  }
  constexpr double kLongestRefillSeconds = 1e7;
  if (storage.burst_bytes > kLongestRefillSeconds * storage.baseline_bytes_per_s) {
    return absl::InvalidArgumentError(
        "simulated storage (--engine sim:): at its baseline=, the token bucket would need over 10^7 s for its burst=");
  }
  return storage;
}

}  // namespace iobench
