// What a deployment must reach and which facts it must have (--expect FILE).
#ifndef COORDINATOR_VALIDATE_PERFORMANCE_EXPECTATIONS_H_
#define COORDINATOR_VALIDATE_PERFORMANCE_EXPECTATIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

enum class Quantity { kBytesPerSecond, kPerSecond, kSeconds, kShare };

// What a threshold is compared with.
enum class Measured {
  kEachAlone,    // each client alone, in the phase
  kAllTogether,  // all clients, in the phase
  kP99,          // latency, in the phase by all and by each alone
  kLongest,
  kScaling,   // write and read
  kFairness,  // write and read
  kOutlier,   // each client alone, of the median of the others
  kNetwork    // best rate of each client alone, of its interface
};

// A key of the map `performance`.
struct ThresholdKey {
  const char* name;
  Measured measured;
  Quantity quantity;
  bool is_min = true;
  const char* phase = "";  // empty: of no phase in particular
};

struct Threshold {
  const ThresholdKey* key = nullptr;
  double limit = 0;  // B/s, 1/s, s, or a share of 1
  std::string text;  // as in the file
  int line = 0;
};

// A fact that every client must have.
struct ExpectedFact {
  enum class Relation { kOneOf, kAtLeast, kAtMost };
  std::string name;
  Relation relation = Relation::kOneOf;
  std::vector<std::string> values;  // one, unless kOneOf
  int line = 0;

  std::string Text() const;  // "rsize >= 1m"
};

struct Expectations {
  std::string file;
  std::vector<Threshold> thresholds;
  std::vector<ExpectedFact> facts;

  // The limit of a key, if it is expected.
  std::optional<double> LimitOf(std::string_view key) const;
  // "nfs.yaml:12"
  std::string PlaceOf(int line) const;
};

// Reads the maps `performance` and `facts` of a YAML file. InvalidArgument: the file is not such a map, or has an
// unknown key, a value that is not of the key's kind, or values that contradict each other; one line with file, line
// and key.
absl::StatusOr<Expectations> LoadExpectations(const std::string& path);
absl::StatusOr<Expectations> ParseExpectations(const std::string& path, const std::string& text);

// Whether a client's value is as expected. An empty value: the client does not report it. REQUIRES: a fact that
// ParseExpectations has accepted.
bool IsAsExpected(const ExpectedFact& fact, const std::string& value);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_PERFORMANCE_EXPECTATIONS_H_
