// Hints for MPI-IO: KEY=VALUE, with keys that some MPI library has.
#include "common/mpi_io/mpi_hints.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace iobench {
namespace {

TEST_CASE("a hint is split at its first equals sign") {
  const auto hint = ParseMpiHint("cb_config_list=*:1,host=2");
  REQUIRE(hint.ok());
  CHECK(hint->first == "cb_config_list");
  CHECK(hint->second == "*:1,host=2");
}

TEST_CASE("keys of the standard, of ROMIO, of OMPIO and of vendors are known") {
  for (const char* text : {"striping_unit=1048576", "romio_ds_write=disable", "num_aggregators=2", "cray_cb_nodes_multiplier=2"}) {
    INFO(text);
    CHECK(ParseMpiHint(text).ok());
  }
}

TEST_CASE("a key that no MPI library has is refused, with the one that may be meant") {
  const auto hint = ParseMpiHint("cb_node=4");
  REQUIRE_FALSE(hint.ok());
  CHECK(std::string(hint.status().message()).find("did you mean cb_nodes?") != std::string::npos);
  for (const char* text : {"romio_cb_wriet=enable", "cray_=1", "CB_NODES=1"}) {
    INFO(text);
    CHECK_FALSE(ParseMpiHint(text).ok());
  }
}

TEST_CASE("a hint without a key or a value is refused, with the form that it has") {
  for (const char* text : {"", "cb_nodes", "cb_nodes=", "=4"}) {
    INFO(text);
    CHECK(std::string(ParseMpiHint(text).status().message()).find("KEY=VALUE") != std::string::npos);
  }
}

TEST_CASE("a key with a number takes nothing else: MPI would read 16m as 16") {
  for (const char* text : {"cb_nodes=banana", "cb_buffer_size=16m", "striping_unit=1 048", "num_aggregators=-", "cb_nodes=1.5"}) {
    INFO(text);
    CHECK(std::string(ParseMpiHint(text).status().message()).find("whole number") != std::string::npos);
  }
  for (const char* text : {"cb_nodes=4", "striping_factor=-1", "romio_cb_write=enable", "cray_cb_nodes_multiplier=x"}) {
    INFO(text);
    CHECK(ParseMpiHint(text).ok());
  }
}

TEST_CASE("a key is given once") {
  const std::vector<std::string> twice = {"cb_nodes=1", "romio_cb_write=enable", "cb_nodes=2"};
  const std::string refusal(CheckMpiHints(twice).message());
  CHECK(refusal.find("two hints for cb_nodes") != std::string::npos);
  CHECK(refusal.find("1 and 2") != std::string::npos);
  CHECK(CheckMpiHints({twice.data(), 2}).ok());
  CHECK_FALSE(CheckMpiHints(std::vector<std::string>{"cb_node=1"}).ok());
  CHECK(CheckMpiHints({}).ok());
}

}  // namespace
}  // namespace iobench
