#include "coordinator/mix/mix_text.h"

#include <catch2/catch.hpp>
#include <string>

#include "coordinator/mix/mix.h"

namespace iobench {
namespace {

using Catch::Contains;

v1::Mix Parsed(const std::string& text) {
  const auto mix = FindMix(text);
  INFO(text << ": " << mix.status().message());
  REQUIRE(mix.ok());
  return *mix;
}

std::string Refusal(const std::string& text) {
  const auto mix = FindMix(text);
  INFO(text);
  REQUIRE_FALSE(mix.ok());
  const std::string message(mix.status().message());
  CHECK(message.find('\n') == std::string::npos);
  return message;
}

TEST_CASE(
    "random reads and writes are one mixed operation, and the part without a percentage gets the rest") {
  const v1::Mix mix = Parsed("70r:30w@8k + metadata 10%");
  REQUIRE(mix.groups_size() == 1);
  REQUIRE(mix.groups(0).parts_size() == 2);
  const v1::MixPart& data = mix.groups(0).parts(0);
  CHECK(data.operation() == "random-mix");
  CHECK(data.read_percent() == 70);
  CHECK(data.record_bytes() == 8192);
  CHECK(data.percent() == 90);
  CHECK(data.name() == "random-mix 70/30 8 KiB");
  CHECK(mix.groups(0).parts(1).operation() == "stat");
  CHECK(mix.groups(0).parts(1).percent() == 10);
  CHECK_FALSE(HasRates(mix));
}

TEST_CASE("reads alone, writes alone, and sequential ones, with or without blanks") {
  CHECK(Parsed("100r@4").groups(0).parts(0).operation() == "random-read");
  CHECK(Parsed("100r@4").groups(0).parts(0).record_bytes() == 4096);
  CHECK(Parsed("100w@4k").groups(0).parts(0).operation() == "random-write");
  CHECK(Parsed("100r@1m seq").groups(0).parts(0).operation() == "read");
  CHECK(Parsed("0r:100w@1m seq").groups(0).parts(0).operation() == "write");
  const v1::Mix both = Parsed("70r:30w@1m seq 50%+random-read@4k 20 %+open-close 30%");
  REQUIRE(both.groups(0).parts_size() == 4);
  CHECK(both.groups(0).parts(0).operation() == "read");
  CHECK(both.groups(0).parts(0).percent() == Approx(35));
  CHECK(both.groups(0).parts(1).operation() == "write");
  CHECK(both.groups(0).parts(1).percent() == Approx(15));
  CHECK(both.groups(0).parts(2).record_bytes() == 4096);
  CHECK(both.groups(0).parts(3).operation() == "open-close");
}

TEST_CASE("a part may have several record sizes with shares") {
  const v1::Mix mix = Parsed("70r:30w@4k:60,64k:40 + 100r@1m seq 10%");
  const v1::MixPart& data = mix.groups(0).parts(0);
  CHECK(data.record_bytes() == 65536);
  REQUIRE(data.records_size() == 2);
  CHECK(data.records(0).record_bytes() == 4096);
  CHECK(data.records(0).percent() == 60);
  CHECK(data.name() == "random-mix 70/30 4 KiB 60 %, 64 KiB 40 %");
  CHECK_THAT(Refusal("100r@4k:60,64k:30"), Contains("add up to 90"));
  CHECK_THAT(Refusal("100r@4k:60,64k"), Contains("\"64k\"") && Contains("has no share"));
  CHECK_THAT(Refusal("preadv@4k:50,8k:50"), Contains("preadv has one size"));
}

TEST_CASE("a mix that does not add up, or is no mix, is refused in one line that shows the syntax") {
  CHECK_THAT(Refusal("70r:40w@8k"), Contains("add up to 110, not to 100") && Contains("70r:30w@8k"));
  CHECK_THAT(Refusal("100r@8k 50% + stat 40%"), Contains("add up to 90 (50 + 40), not to 100"));
  CHECK_THAT(Refusal("100r@8k + stat 100%"), Contains("leaves nothing for \"100r@8k\""));
  CHECK_THAT(Refusal("100r@8k + stat"), Contains("only one part may have no percentage"));
  CHECK_THAT(Refusal("70r:30w 20% + stat"), Contains("its record size is missing"));
  CHECK_THAT(Refusal("70r:30w@8q"), Contains("8q"));
  CHECK_THAT(Refusal("100r@8k fast"), Contains("\"fast\" is not known here"));
  CHECK_THAT(Refusal("stat seq 10% + 100r@8k"), Contains("\"seq\" is for reads and writes"));
  CHECK_THAT(Refusal("100r@8k + + stat 5%"), Contains("nothing between two +"));
  CHECK_THAT(Refusal("100r@8k + stat 0%"), Contains("\"0%\" is not a percentage"));
  CHECK_THAT(Refusal("100r@8k + frobnicate 5%"), Contains("\"frobnicate\" is no operation"));
  CHECK_THAT(Refusal("100r@8k + stat@4k 5%"), Contains("a metadata operation has no records"));
  CHECK_THAT(Refusal("100r@8k + create 5%"), Contains("part 2 (create)") && Contains("file-mix"));
  CHECK_THAT(Refusal("random-read 5% + stat"), Contains("its record size is missing"));
  CHECK_THAT(Refusal("home-directorys"), Contains("there is no mix") && Contains("home-directories"));
  CHECK_THAT(Refusal("/no/such.yaml"), Contains("/no/such.yaml"));
}

TEST_CASE("a mix that is written has either shares or rates, in all of its groups") {
  const auto refused = [](v1::Mix mix) { return std::string(CompleteMix(mix).message()); };
  v1::Mix mix;
  CHECK_THAT(refused(mix), Contains("it has no parts"));
  v1::MixPart& part = *mix.add_parts();
  part.set_operation("random-read");
  part.set_record_bytes(4096);
  CHECK_THAT(refused(mix), Contains("neither a percentage (percent) nor a rate"));
  part.set_percent(100);
  part.set_ops_per_s(5);
  CHECK_THAT(refused(mix), Contains("a percentage and a rate"));
  part.clear_ops_per_s();
  part.set_read_percent(50);
  CHECK_THAT(refused(mix), Contains("read_percent is for random-mix"));
  part.clear_read_percent();
  CHECK(refused(mix).empty());
  v1::MixPart& other = *mix.add_parts();
  other.set_operation("stat");
  other.set_ops_per_s(3);
  CHECK_THAT(refused(mix), Contains("some parts have a percentage and some a rate"));
  mix.mutable_parts()->RemoveLast();
  *mix.add_groups()->add_parts() = mix.parts(0);
  CHECK_THAT(refused(mix), Contains("parts and groups"));
  mix.clear_parts();
  v1::MixPart& rated = *mix.add_groups()->add_parts();
  rated.set_operation("stat");
  rated.set_ops_per_s(3);
  CHECK_THAT(refused(mix), Contains("group 2") && Contains("use the same for all groups"));
}

TEST_CASE("every mix that comes with the program is right") {
  for (const char* const name : {"build-eda", "genomics", "home-directories", "ml-training", "vm-images"}) {
    const v1::Mix mix = Parsed(name);
    CHECK(mix.name() == name);
    CHECK_FALSE(mix.description().empty());
    CHECK_FALSE(mix.notes().empty());
  }
}

}  // namespace
}  // namespace iobench
