#include "coordinator/mix/observed_mix.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/mix/mix.h"
#include "worker/client/mountstats.h"

namespace iobench {
namespace {

using Catch::Contains;

// The lines of one NFSv4 mount after `age` seconds. Each op line: ops, and its rtt and execute time in ms.
struct Counts {
  uint64_t read = 0, read_bytes = 0, write = 0, write_bytes = 0, getattr = 0, lookup = 0, open = 0,
           remove = 0, commit = 0;
};
std::string Text(uint64_t age_s, const Counts& counts) {
  const auto line = [](const char* name, uint64_t ops, uint64_t rtt_ms, uint64_t execute_ms,
                       uint64_t again = 0) {
    return absl::StrCat("\t", name, ": ", ops, " ", ops + again, " 0 0 0 0 ", rtt_ms, " ", execute_ms,
                        " 0\n");
  };
  return absl::StrCat("device rootfs mounted on / with fstype rootfs\n",
                      "device filer:/home mounted on /mnt/home with fstype nfs4 statvers=1.1\n", "\tage:\t",
                      age_s, "\n", "\tbytes:\t", counts.read_bytes, " ", counts.write_bytes, " 0 0 ",
                      counts.read_bytes, " ", counts.write_bytes, " 0 0\n",
                      "\txprt:\ttcp 800 1 1 0 0 10 10 0 10 0 2 0 0\n",
                      "\txprt:\ttcp 801 1 1 0 0 10 10 0 10 0 2 0 0\n", "\tper-op statistics\n",
                      line("READ", counts.read, 2 * counts.read, 3 * counts.read, counts.read / 100),
                      line("WRITE", counts.write, 4 * counts.write, 5 * counts.write),
                      line("GETATTR", counts.getattr, counts.getattr, counts.getattr),
                      line("LOOKUP", counts.lookup, counts.lookup, counts.lookup),
                      line("OPEN", counts.open, counts.open, 2 * counts.open),
                      line("REMOVE", counts.remove, counts.remove, counts.remove),
                      line("COMMIT", counts.commit, 10 * counts.commit, 10 * counts.commit));
}

v1::NfsDelta Delta(const std::string& before, const std::string& after) {
  const auto was = ParseMountstats(before), is = ParseMountstats(after);
  REQUIRE(was.size() == 1);
  const auto delta = NfsDeltaBetween(was[0], is[0]);
  REQUIRE(delta.has_value());
  return *delta;
}

const v1::MixPart& PartOf(const v1::MixGroup& group, std::string_view operation) {
  for (const v1::MixPart& part : group.parts()) {
    if (part.operation() == operation) return part;
  }
  FAIL("no part " << operation);
  return group.parts(0);
}

const v1::ObservedRequest& RequestOf(const v1::MixGroup& group, std::string_view name) {
  for (const v1::ObservedRequest& request : group.observed().requests()) {
    if (request.name() == name) return request;
  }
  FAIL("no request " << name);
  return group.observed().requests(0);
}

const ObservedMount kHome{.client = "c1",
                          .mount_point = "/mnt/home",
                          .source = "filer:/home",
                          .filesystem = "nfs4",
                          .started_at = "2026-01-01T00:00:00Z"};

// 10 s with 1000 reads, and 30 s with 3000 reads and everything else.
ObservedLoad FortySeconds() {
  const Counts start{
      .read = 7, .read_bytes = 70000, .write = 3, .write_bytes = 900, .getattr = 5, .lookup = 1};
  Counts middle = start, end = start;
  middle.read += 1000;
  middle.read_bytes += 1000 * 8200;
  end.read += 4000;
  end.read_bytes += 4000 * 8200;
  end.write += 800;
  end.write_bytes += 800 * 65536;
  end.getattr += 1200;
  end.lookup += 400;
  end.open = 400;
  end.remove = 40;
  end.commit = 80;
  ObservedLoad load;
  load.Add(0, 10, Delta(Text(100, start), Text(110, middle)));
  load.Add(10, 30, Delta(Text(110, middle), Text(140, end)));
  return load;
}

TEST_CASE("two readings give the exact rates of requests, and their means, maxima and sizes") {
  const v1::MixGroup group = FortySeconds().Group(kHome);
  CHECK(group.name() == "c1");
  const v1::Observation& observed = group.observed();
  CHECK(observed.seconds() == 40);
  CHECK(observed.source() == "filer:/home");
  CHECK(observed.read_bytes_per_s() == 820'000);
  CHECK(observed.write_bytes_per_s() == Approx(800 * 65536 / 40.0).epsilon(1e-5));
  CHECK(observed.retransmissions_per_s() == 1);  // 40 in 40 s
  const v1::ObservedRequest& read = RequestOf(group, "READ");
  CHECK(read.per_s() == 100);
  CHECK(read.max_per_s() == 100);
  CHECK(read.mean_bytes() == 8200);
  CHECK(read.rtt_ms() == 2);
  CHECK(read.execute_ms() == 3);
  CHECK(read.in_flight() == Approx(0.3));  // Little: 100 per s, 3 ms each
  const v1::ObservedRequest& write = RequestOf(group, "WRITE");
  CHECK(write.per_s() == 20);
  CHECK(write.max_per_s() == Approx(800 / 30.0).epsilon(1e-5));
  CHECK(RequestOf(group, "COMMIT").per_s() == 2);
  CHECK(RequestOf(group, "COMMIT").replayed_as().empty());
  CHECK(RequestOf(group, "LOOKUP").replayed_as() == "stat");
  REQUIRE(observed.intervals_size() == 2);
  CHECK(observed.requests(0).name() == "READ");
  CHECK(observed.intervals(1).at_s() == 10);
  CHECK(observed.intervals(0).per_s(0) == 100);
  CHECK(observed.intervals(0).per_s(1) == 0);
}

TEST_CASE("requests become operations of the same rates, with records of the mean size") {
  const v1::MixGroup group = FortySeconds().Group(kHome);
  REQUIRE(group.parts_size() == 5);  // also random-write, stat
  const v1::MixPart& reads = PartOf(group, "random-read");
  CHECK(reads.ops_per_s() == 100);
  CHECK(reads.record_bytes() == 8192);  // 8200, to a multiple of 4 KiB
  CHECK(reads.lanes() == Approx(0.3));
  // Each file that is made has one of the 20 writes.
  CHECK(PartOf(group, "random-write").ops_per_s() == Approx(19).epsilon(1e-4));
  CHECK(PartOf(group, "recreate").tree().file_bytes() == 65536);
  CHECK(PartOf(group, "random-write").record_bytes() == 65536);
  CHECK(PartOf(group, "stat").ops_per_s() == 40);  // 30 GETATTR and 10 LOOKUP
  // One removal per second comes with one file made, which 10 opens per second include.
  CHECK(PartOf(group, "recreate").ops_per_s() == Approx(2).epsilon(1e-4));
  CHECK(PartOf(group, "open-close").ops_per_s() == Approx(9).epsilon(1e-4));
  CHECK(RequestOf(group, "REMOVE").replayed_per_s() == Approx(1).epsilon(1e-4));
  CHECK(RequestOf(group, "OPEN").replayed_as() == "open-close, recreate");
  CHECK(RequestOf(group, "OPEN").not_replayed().empty());
  CHECK(RequestOf(group, "COMMIT").not_replayed() == "replayed writes are stable when they end (-I)");
  CHECK(group.parts(0).operation() == "random-read");
}

TEST_CASE("an interval much shorter than the others is not the busiest") {
  const auto reads = [](uint64_t count) { return Text(100, {.read = count, .read_bytes = count * 8192}); };
  ObservedLoad load;
  load.Add(0, 10, Delta(reads(0), reads(1000)));
  load.Add(10, 10, Delta(reads(1000), reads(2200)));
  load.Add(20, 0.001, Delta(reads(2200), reads(2201)));
  const v1::MixGroup group = load.Group(kHome);
  CHECK(RequestOf(group, "READ").max_per_s() == 120);
  CHECK(group.observed().intervals_size() == 3);
  ObservedLoad only;
  only.Add(0, 0.5, Delta(reads(0), reads(50)));
  CHECK(RequestOf(only.Group(kHome), "READ").max_per_s() == 100);
}

TEST_CASE("what was asked hardly ever has no part, because a part needs a worker") {
  const Counts none{}, some{.read = 100'000, .read_bytes = 409'600'000, .lookup = 90};
  ObservedLoad load;
  load.Add(0, 100, Delta(Text(1, none), Text(101, some)));
  const v1::MixGroup group = load.Group(kHome);
  CHECK(group.parts_size() == 1);
  CHECK(RequestOf(group, "LOOKUP").per_s() == Approx(0.9));
  CHECK(RequestOf(group, "LOOKUP").replayed_as().empty());
}

TEST_CASE("sizes of two kinds of intervals are kept, and sizes that every interval mixes have their mean") {
  const auto reads = [](uint64_t ops, uint64_t bytes) {
    v1::NfsDelta delta;
    (*delta.mutable_ops())["READ"].set_ops(ops);
    delta.set_server_read_bytes(ops * bytes);
    return delta;
  };
  ObservedLoad two_kinds, mixed;
  two_kinds.Add(0, 10, reads(300, 4096));
  two_kinds.Add(10, 10, reads(100, 65536));
  two_kinds.Add(20, 20, reads(200, 65536));
  const v1::MixGroup group = two_kinds.Group(kHome);
  REQUIRE(group.parts_size() == 2);
  CHECK(group.parts(0).record_bytes() == 4096);
  CHECK(group.parts(0).ops_per_s() == 7.5);  // 300 in 40 s
  CHECK(group.parts(1).record_bytes() == 65536);
  CHECK(group.parts(1).ops_per_s() == 7.5);
  for (const uint64_t mean_bytes : {20480, 36864, 65536}) mixed.Add(0, 10, reads(100, mean_bytes));
  REQUIRE(mixed.Group(kHome).parts_size() == 1);
  CHECK(mixed.Group(kHome).parts(0).record_bytes() == 40960);
}

TEST_CASE("small records are multiples of 512 bytes") {
  const Counts none{}, some{.read = 100, .read_bytes = 70'000, .write = 100, .write_bytes = 100};
  ObservedLoad load;
  load.Add(0, 10, Delta(Text(1, none), Text(11, some)));
  CHECK(PartOf(load.Group(kHome), "random-read").record_bytes() == 512);  // 700
  CHECK(PartOf(load.Group(kHome), "random-write").record_bytes() == 512);
}

TEST_CASE("reads by READ_PLUS are reads, and reads at the end of a file still have a record") {
  v1::NfsDelta delta;
  (*delta.mutable_ops())["READ"].set_ops(100);
  (*delta.mutable_ops())["READ_PLUS"].set_ops(300);
  delta.set_server_read_bytes(400 * 16384);
  ObservedLoad load;
  load.Add(0, 10, delta);
  CHECK(PartOf(load.Group(kHome), "random-read").ops_per_s() == 40);
  CHECK(PartOf(load.Group(kHome), "random-read").record_bytes() == 16384);
  delta.set_server_read_bytes(0);
  ObservedLoad at_end;
  at_end.Add(0, 10, delta);
  CHECK(PartOf(at_end.Group(kHome), "random-read").record_bytes() == 512);
}

TEST_CASE("an idle mount, and one that was lost, have no parts") {
  ObservedLoad load;
  load.AddLost();
  CHECK(load.Group(kHome).parts().empty());
  load.Add(5, 10, Delta(Text(1, {}), Text(11, {})));
  CHECK(load.Group(kHome).parts().empty());
  CHECK(load.Group(kHome).observed().lost_intervals() == 1);
}

TEST_CASE("a remount between two readings is no interval") {
  const auto before = ParseMountstats(Text(100, {.read = 10})),
             after = ParseMountstats(Text(3, {.read = 20}));
  CHECK_FALSE(NfsDeltaBetween(before[0], after[0]).has_value());
}

TEST_CASE("the file that is written is a mix, and says what the counters cannot tell") {
  const v1::Mix mix = MixOfObservation(FortySeconds().Group(kHome));
  const std::string text = MixFileText(mix);
  CHECK_THAT(text,
             Contains("# observed on one client for 40 s") && Contains("#   c1: filer:/home at /mnt/home\n"));
  CHECK_THAT(text, Contains("--mix-factor 1 -I`"));
  ObservedLoad only_names;
  only_names.Add(0, 10, Delta(Text(1, {}), Text(11, {.getattr = 100})));
  CHECK_THAT(MixFileText(MixOfObservation(only_names.Group(kHome))), Contains("--mix-factor 1`"));
  CHECK_THAT(text, Contains("do not distinguish sequential from random"));
  CHECK_THAT(text, Contains("per_s: [100, "));
  const auto file = std::filesystem::temp_directory_path() / "observed_mix_test.yaml";
  std::ofstream(file) << text;
  const auto read = FindMix(file.string());
  std::filesystem::remove(file);
  INFO(read.status().message());
  REQUIRE(read.ok());
  CHECK(HasRates(*read));
  CHECK(read->name() == "observed_mix_test");
  CHECK(PartOf(read->groups(0), "random-read").ops_per_s() == 100);
  CHECK(PartOf(read->groups(0), "random-read").name() == "random-read 8 KiB");
  CHECK(read->groups(0).observed().requests_size() == mix.groups(0).observed().requests_size());
}

TEST_CASE("merged mixes keep a group for each client, under names that differ") {
  const v1::Mix one = MixOfObservation(FortySeconds().Group(kHome));
  const std::vector<v1::Mix> both = {one, one};
  const auto merged = MergeMixes(both);
  REQUIRE(merged.ok());
  CHECK_THAT(MixFileText(*merged), Contains("# merged from 2 mixes\n#   c1: "));
  REQUIRE(merged->groups_size() == 2);
  CHECK(merged->groups(0).name() == "c1");
  CHECK(merged->groups(1).name() == "c1 (2)");
  CHECK(merged->notes_size() == one.notes_size());
  v1::Mix shares;
  v1::MixPart& part = *shares.add_parts();
  part.set_operation("stat");
  part.set_percent(100);
  const std::vector<v1::Mix> unlike = {one, shares};
  CHECK_THAT(std::string(MergeMixes(unlike).status().message()), Contains("use the same for all groups"));
}

}  // namespace
}  // namespace iobench
