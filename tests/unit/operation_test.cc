#include "common/model/operation.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/op.h"

namespace iobench {
namespace {

std::vector<std::string> NamesFor(const char* number_or_name) {
  const auto operations = OperationsFor(number_or_name);
  REQUIRE(operations.ok());
  std::vector<std::string> names;
  for (const OperationSpec* operation : *operations) names.emplace_back(operation->name);
  return names;
}

std::string ErrorFor(const char* number_or_name) {
  const auto operations = OperationsFor(number_or_name);
  CHECK(operations.status().code() == absl::StatusCode::kNotFound);
  return std::string(operations.status().message());
}

using Names = std::vector<std::string>;

TEST_CASE("a kind of op of another version is in no set of kinds") {
  constexpr OpKinds kSome = {OpKind::kRead, OpKind::kWrite};
  for (const int value : {31, 32, 33, 65, 255}) CHECK_FALSE(kSome.Has(static_cast<OpKind>(value)));
  CHECK(kSome.Has(OpKind::kWrite));
}

TEST_CASE("an IOzone number gives its rows, retests last", "[operation]") {
  CHECK(NamesFor("0") == Names{"write", "rewrite"});
  CHECK(NamesFor("1") == Names{"read", "reread"});
  CHECK(NamesFor("2") == Names{"random-read", "random-write"});
  CHECK(NamesFor("3") == Names{"backward-read"});
  CHECK(NamesFor("4") == Names{"record-rewrite"});
  CHECK(NamesFor("5") == Names{"stride-read"});
  CHECK(NamesFor("6") == Names{"fwrite", "refwrite"});
  CHECK(NamesFor("7") == Names{"fread", "refread"});
  CHECK(NamesFor("8") == Names{"random-mix"});
  CHECK(NamesFor("9") == Names{"pwrite", "repwrite"});
  CHECK(NamesFor("10") == Names{"pread", "repread"});
  CHECK(NamesFor("11") == Names{"pwritev", "repwritev"});
  CHECK(NamesFor("12") == Names{"preadv", "repreadv"});
}

TEST_CASE("a name gives its own row only", "[operation]") {
  CHECK(NamesFor("write") == Names{"write"});
  CHECK(NamesFor("repread") == Names{"repread"});
  for (const OperationSpec& operation : Operations()) {
    CHECK(FindOperation(operation.name).value() == &operation);
  }
}

TEST_CASE("the table ascends by IOzone's numbers and no name or title comes twice", "[operation]") {
  int number = 0;
  std::set<std::string_view> names;
  std::set<std::string_view> titles;
  for (const OperationSpec& operation : Operations()) {
    // Those that IOzone does not have come last.
    const int place = operation.iozone_number == kNotIozone ? 100 : operation.iozone_number;
    CHECK(place >= number);
    number = place;
    CHECK(names.insert(operation.name).second);
    CHECK(titles.insert(operation.title).second);
    CHECK(operation.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
  }
}

TEST_CASE("every number of IOzone's has a row", "[operation]") {
  for (int number = 0; number <= 12; ++number) CHECK(OperationsFor(std::to_string(number)).ok());
}

TEST_CASE("only the first writes make files, everything else that moves data needs them", "[operation]") {
  const std::set<std::string_view> makers = {"write", "fwrite", "pwrite", "pwritev", "putc", "append-log"};
  for (const OperationSpec& operation : Operations()) {
    if (operation.is_metadata()) continue;
    INFO(std::string(operation.name));
    CHECK(operation.creates_files == makers.contains(operation.name));
    CHECK(operation.needs_data == !operation.creates_files);
    if (operation.creates_files) CHECK(operation.kinds == OpKinds{OpKind::kWrite});
  }
}

TEST_CASE("a row says pattern, access and call", "[operation]") {
  struct Row {
    const char* name;
    Pattern pattern;
    OpKinds kinds;
    Call call;
    bool retest;
  };
  const Row rows[] = {
      {"rewrite", Pattern::kSequential, OpKind::kWrite, Call::kStream, true},
      {"read", Pattern::kSequential, OpKind::kRead, Call::kStream, false},
      {"reread", Pattern::kSequential, OpKind::kRead, Call::kStream, true},
      {"random-read", Pattern::kRandom, OpKind::kRead, Call::kPositional, false},
      {"random-write", Pattern::kRandom, OpKind::kWrite, Call::kPositional, false},
      {"backward-read", Pattern::kBackward, OpKind::kRead, Call::kPositional, false},
      {"record-rewrite", Pattern::kFirstRecord, OpKind::kWrite, Call::kPositional, false},
      {"stride-read", Pattern::kStride, OpKind::kRead, Call::kPositional, false},
      {"random-mix", Pattern::kRandomMix, {OpKind::kRead, OpKind::kWrite}, Call::kPositional, false},
      {"pwrite", Pattern::kSequential, OpKind::kWrite, Call::kPositional, false},
      {"repread", Pattern::kSequential, OpKind::kRead, Call::kPositional, true},
      {"fwrite", Pattern::kSequential, OpKind::kWrite, Call::kStdio, false},
      {"refread", Pattern::kSequential, OpKind::kRead, Call::kStdio, true},
      {"putc", Pattern::kSequential, OpKind::kWrite, Call::kCharacter, false},
      {"getc", Pattern::kSequential, OpKind::kRead, Call::kCharacter, false},
      {"repwritev", Pattern::kRandom, OpKind::kWrite, Call::kVector, true},
      {"preadv", Pattern::kRandom, OpKind::kRead, Call::kVector, false},
      {"sequential-mix", Pattern::kSequentialMix, {OpKind::kRead, OpKind::kWrite}, Call::kStream, false},
      {"update", Pattern::kSequential, OpKind::kUpdate, Call::kStream, false},
      {"seeks", Pattern::kRandomMix, {OpKind::kRead, OpKind::kUpdate}, Call::kPositional, false},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    const OperationSpec& operation = **FindOperation(row.name);
    CHECK(operation.pattern == row.pattern);
    CHECK(operation.kinds == row.kinds);
    CHECK(operation.call == row.call);
    CHECK(operation.retest == row.retest);
  }
}

TEST_CASE("of what kind an operation's ops are, and how a mix divides them where nobody says",
          "[operation]") {
  CHECK((*FindOperation("read"))->kind() == OpKind::kRead);
  CHECK((*FindOperation("rewrite"))->kind() == OpKind::kWrite);
  CHECK((*FindOperation("update"))->kind() == OpKind::kUpdate);
  CHECK(!(*FindOperation("update"))->mixes());
  CHECK((*FindOperation("update"))->reads());
  CHECK((*FindOperation("update"))->writes());
  CHECK((*FindOperation("random-mix"))->kind() == OpKind::kWrite);
  CHECK((*FindOperation("random-mix"))->default_read_percent() == 50);
  CHECK((*FindOperation("sequential-mix"))->mixes());
  CHECK((*FindOperation("seeks"))->kind() == OpKind::kUpdate);
  CHECK((*FindOperation("seeks"))->mixes());
  CHECK((*FindOperation("seeks"))->default_read_percent() == 90);
}

TEST_CASE("a mistyped name is answered with the nearest ones", "[operation]") {
  CHECK(ErrorFor("rnd-read") == "unknown operation \"rnd-read\"; did you mean random-read?");
  CHECK(ErrorFor("Random_Read") == "unknown operation \"Random_Read\"; did you mean random-read?");
  CHECK(ErrorFor("stride-raed") == "unknown operation \"stride-raed\"; did you mean stride-read?");
  CHECK(ErrorFor("reead") == "unknown operation \"reead\"; did you mean read or reread?");
}

TEST_CASE("a name like none of ours is answered with all of them", "[operation]") {
  for (const char* name : {"frobnicate", "", "-1", "x"}) {
    const std::string error = ErrorFor(name);
    CHECK_THAT(error, Catch::StartsWith(std::string("unknown operation \"") + name +
                                        "\"; known: 0 write, rewrite; 1 read"));
    CHECK_THAT(error, Catch::Contains("; 12 preadv, repreadv; and by name "));
    CHECK_THAT(error, Catch::Contains("update, seeks"));
  }
}

TEST_CASE("a number that IOzone does not have is answered with all that there are", "[operation]") {
  CHECK_THAT(ErrorFor("13"), Catch::StartsWith("unknown operation number 13; known: 0 write"));
  CHECK_THAT(ErrorFor("99999999999999999999"),
             Catch::StartsWith("unknown operation number 99999999999999999999;"));
}

TEST_CASE("metadata operations, seeks and logs have their figure in ops, all others in bytes", "[operation]") {
  for (const OperationSpec& spec : Operations()) {
    INFO(spec.name);
    CHECK(spec.headline_in_ops() == (spec.is_metadata() || spec.name == "seeks" || spec.name == "append-log"));
    CHECK(spec.flushes_each_with.has_value() == (spec.name == "append-log"));
  }
}

TEST_CASE("kinds of op have names", "[operation]") {
  CHECK(std::string(NameOf(OpKind::kRead)) == "read");
  CHECK(std::string(NameOf(OpKind::kWrite)) == "write");
}

}  // namespace
}  // namespace iobench
