#include "common/status_util.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

namespace iobench {
namespace {

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

TEST_CASE("a failed system call says where, what and its errno's name", "[status]") {
  const absl::Status status = ErrnoStatus("lane 3: write /mnt/nfs/file", ENOSPC);
  CHECK(MessageOf(status) == "lane 3: write /mnt/nfs/file: No space left on device (ENOSPC)");
  CHECK(ErrnoOf(status) == ENOSPC);
}

TEST_CASE("too many open files say how many there may be, and what to do", "[status]") {
  CHECK_THAT(
      MessageOf(ErrnoStatus("lane 3: open /x", EMFILE)),
      Catch::Matchers::Matches(".*Too many open files \\(EMFILE\\): this process may have [0-9]+ files open "
                               "\\(ulimit -Hn\\); raise this limit, or use fewer lanes"));
}

TEST_CASE("the code of a failed system call is one to act on", "[status]") {
  CHECK(ErrnoStatus("x", ENOENT).code() == absl::StatusCode::kNotFound);
  CHECK(ErrnoStatus("x", EACCES).code() == absl::StatusCode::kPermissionDenied);
  CHECK(ErrnoStatus("x", EPERM).code() == absl::StatusCode::kPermissionDenied);
  CHECK(ErrnoStatus("x", ENOSPC).code() == absl::StatusCode::kResourceExhausted);
  CHECK(ErrnoStatus("x", EDQUOT).code() == absl::StatusCode::kResourceExhausted);
  CHECK(ErrnoStatus("x", EEXIST).code() == absl::StatusCode::kAlreadyExists);
  CHECK(ErrnoStatus("x", EINVAL).code() == absl::StatusCode::kInvalidArgument);
  CHECK(ErrnoStatus("x", EIO).code() == absl::StatusCode::kInternal);
}

TEST_CASE("an errno that nobody knows is shown as its number", "[status]") {
  CHECK(ErrnoName(4711) == "errno 4711");
  CHECK(ErrnoName(EIO) == "EIO");
  const absl::Status status = ErrnoStatus("x", 4711);
  CHECK(MessageOf(status) == "x: unknown error (errno 4711)");
  CHECK(ErrnoOf(status) == 4711);
}

TEST_CASE("a status without a system call has no errno", "[status]") {
  CHECK(ErrnoOf(absl::OkStatus()) == 0);
  CHECK(ErrnoOf(absl::InternalError("x")) == 0);
}

TEST_CASE("annotating keeps code and errno, and leaves success alone", "[status]") {
  const absl::Status status = Annotate(ErrnoStatus("open f", EACCES), "client c01");
  CHECK(status.code() == absl::StatusCode::kPermissionDenied);
  CHECK(MessageOf(status) == "client c01: open f: Permission denied (EACCES)");
  CHECK(ErrnoOf(status) == EACCES);
  CHECK(Annotate(absl::OkStatus(), "client c01") == absl::OkStatus());
}

TEST_CASE("a status travels in a message and comes back the same", "[status]") {
  const absl::Status status = ErrnoStatus("lane 3: pread f", EIO);
  const v1::Problem problem = ToProblem(status);
  CHECK(problem.code() == static_cast<int>(absl::StatusCode::kInternal));
  CHECK(problem.errno_value() == EIO);
  CHECK(ToStatus(problem) == status);

  CHECK(ToProblem(absl::OkStatus()).code() == 0);
  CHECK(ToStatus(v1::Problem()) == absl::OkStatus());
  CHECK(ToStatus(ToProblem(absl::AbortedError("no errno"))) == absl::AbortedError("no errno"));
}

TEST_CASE("a file name that is not UTF-8 does not make a message unreadable", "[status]") {
  struct Row {
    std::string raw;
    std::string shown;
  };
  const Row rows[] = {
      {"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80",
       "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"},
      {"latin1 \xFC.", "latin1 ?."},
      {"cut \xE2\x82", "cut ??"},
      {"overlong \xC0\xAF \xE0\x80\xAF \xF0\x80\x80\xAF", "overlong ?? ??? ????"},
      {"surrogate \xED\xA0\x80", "surrogate ???"},
      {"beyond \xF4\x90\x80\x80 \xF5", "beyond ???? ?"},
      {"lone \x80", "lone ?"},
  };
  for (const Row& row : rows) {
    const v1::Problem problem = ToProblem(absl::InternalError(row.raw));
    CHECK(problem.message() == row.shown);
    v1::Problem parsed;
    CHECK(parsed.ParseFromString(problem.SerializeAsString()));
  }
}

absl::Status FailsAt(int step, int* steps_done) {
  for (int i = 0; i < 3; ++i) {
    IOBENCH_RETURN_IF_ERROR(i == step ? absl::AbortedError("stop") : absl::OkStatus());
    ++*steps_done;
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Doubled(absl::StatusOr<int> number) {
  IOBENCH_ASSIGN_OR_RETURN(const int value, std::move(number));
  return 2 * value;
}

TEST_CASE("the macros return the first failure and go on otherwise", "[status]") {
  int steps_done = 0;
  CHECK(FailsAt(1, &steps_done) == absl::AbortedError("stop"));
  CHECK(steps_done == 1);
  steps_done = 0;
  CHECK(FailsAt(9, &steps_done).ok());
  CHECK(steps_done == 3);
  CHECK(Doubled(21).value() == 42);
  CHECK(Doubled(absl::NotFoundError("gone")).status() == absl::NotFoundError("gone"));
}

}  // namespace
}  // namespace iobench
