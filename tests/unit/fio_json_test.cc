// fio's JSON: a job's options in fio's words, and jobs that failed. foreign_test.cc tests the figures, document_test.cc a
// whole document.
#include "coordinator/report/fio/fio_json.h"

#include <cerrno>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

// A run of one phase, whose operations are added in the order of the calls.
class FioRun {
 public:
  FioRun() {
    report_.mutable_run()->mutable_plan()->add_phases();
    report_.add_phases()->set_name("job");
  }
  v1::Operation& Does(const std::string& name, const std::string& engine) {
    v1::Operation& operation = *planned().add_assignments()->mutable_operation();
    operation.set_name(name);
    operation.set_engine(engine);
    AppendTo(*phase().mutable_operation(), name);
    AppendTo(*phase().mutable_engine(), engine);
    return operation;
  }
  v1::Phase& planned() { return *report_.mutable_run()->mutable_plan()->mutable_phases(0); }
  v1::PhaseReport& phase() { return *report_.mutable_phases(0); }
  void ForgetsPlan() { report_.mutable_run()->clear_plan(); }

  absl::Status Status() const {
    std::ostringstream out;
    return WriteFioJson(report_, out);
  }
  nlohmann::json Job() const {
    std::ostringstream out;
    REQUIRE(WriteFioJson(report_, out).ok());
    const nlohmann::json jobs = nlohmann::json::parse(out.str())["jobs"];
    REQUIRE(jobs.size() == 1);
    return jobs[0];
  }
  nlohmann::json Options() const { return Job()["job options"]; }

 private:
  static void AppendTo(std::string& names, const std::string& name) {
    if (names.find(name) == std::string::npos) absl::StrAppend(&names, names.empty() ? "" : "+", name);
  }
  v1::RunReport report_;
};

TEST_CASE("of several operations, fio's options are of the first on records, and rw of all of them") {
  FioRun run;
  run.Does("stat", "metadata").set_depth(3);
  v1::Operation& mix = run.Does("random-mix", "posix-aio");
  mix.set_depth(8);
  mix.set_direct(true);
  mix.set_access("zipf:1.1");
  CHECK(run.Options()["rw"] == "randrw");
  CHECK(run.Options()["ioengine"] == "posixaio");
  CHECK(run.Options()["iodepth"] == "8");
  CHECK(run.Options()["direct"] == "1");
  CHECK(run.Options()["random_distribution"] == "zipf:1.1");
  CHECK_FALSE(run.Options().contains("runtime"));
  CHECK_FALSE(run.Options().contains("ramp_time"));
  run.ForgetsPlan();
  (*run.phase().mutable_by_kind())["write"].set_ops(1);
  CHECK(run.Options()["rw"] == "write");
  CHECK(run.Options()["ioengine"] == "posixaio");
  CHECK_FALSE(run.Options().contains("random_distribution"));
}

TEST_CASE("rw is a word that fio knows") {
  const auto rw_of = [](const std::string& one, const std::string& other) {
    FioRun run;
    run.Does(one, "posix");
    if (!other.empty()) run.Does(other, "posix");
    return run.Options()["rw"].get<std::string>();
  };
  CHECK(rw_of("reread", "") == "read");
  CHECK(rw_of("append-log", "") == "write");
  CHECK(rw_of("random-write", "") == "randwrite");
  CHECK(rw_of("sequential-mix", "") == "rw");
  CHECK(rw_of("read", "write") == "rw");
  CHECK(rw_of("read", "random-read") == "randread");
  CHECK(rw_of("read", "random-write") == "randrw");
}

TEST_CASE("fio's fsync or fdatasync is after how many writes a lane flushes") {
  const auto options_of = [](const std::string& operation, uint64_t every, const std::string& call) {
    FioRun run;
    v1::Between& between = *run.Does(operation, "posix").mutable_between();
    if (every > 0) between.set_flush_every_ops(every);
    if (!call.empty()) between.set_flush_call(call);
    return run.Options();
  };
  CHECK(options_of("append-log", 0, "")["fdatasync"] == "1");
  CHECK_FALSE(options_of("append-log", 0, "").contains("fsync"));
  CHECK(options_of("append-log", 2, "fsync")["fsync"] == "2");
  CHECK(options_of("write", 4, "")["fsync"] == "4");
  CHECK(options_of("write", 4, "fdatasync")["fdatasync"] == "4");
  for (const nlohmann::json& none :
       {options_of("write", 0, ""), options_of("read", 4, ""), options_of("write", 4, "sync-file-range")})
    CHECK_FALSE((none.contains("fsync") || none.contains("fdatasync")));
}

TEST_CASE("the warm-up is fio's ramp_time, and not part of runtime") {
  FioRun run;
  run.Does("read", "posix");
  run.planned().mutable_stop()->set_time_s(10);
  CHECK(run.Options()["runtime"] == "10");
  CHECK_FALSE(run.Options().contains("ramp_time"));
  run.planned().mutable_stop()->set_warmup_s(2.5);
  CHECK(run.Options()["time_based"] == "1");
  CHECK(run.Options()["runtime"] == "7.5");
  CHECK(run.Options()["ramp_time"] == "2.5");
}

TEST_CASE("a phase that failed before it measured anything is a job with its error") {
  FioRun run;
  run.Does("random-read", "posix");
  run.phase().add_errors()->set_errno_value(ENOENT);
  CHECK(run.Job()["error"] == ENOENT);
  CHECK(run.Job()["read"]["iops_stddev"] == 0);
  CHECK(run.Options()["rw"] == "randread");
}

TEST_CASE("a run without operations on records is refused") {
  FioRun run;
  run.Does("create", "metadata");
  run.phase().set_metadata(true);
  CHECK(absl::IsFailedPrecondition(run.Status()));
}

}  // namespace
}  // namespace iobench
