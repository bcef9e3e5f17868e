#include "common/net/nfs_url.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

NfsUrl Parsed(std::string_view text) {
  const auto url = ParseNfsUrl(text);
  INFO(text << ": " << url.status());
  REQUIRE(url.ok());
  return *url;
}

std::string Refusal(std::string_view text) {
  const auto url = ParseNfsUrl(text);
  INFO(text);
  REQUIRE(absl::IsInvalidArgument(url.status()));
  return std::string(url.status().message());
}

TEST_CASE("a URL says host, path and arguments") {
  const NfsUrl url = Parsed("nfs://Server.Example/export/dir?nfsport=12049&mountport=12050&uid=1000");
  REQUIRE(url.host == "server.example");
  REQUIRE(url.path == "/export/dir");
  REQUIRE(url.ToText() == "nfs://server.example/export/dir");
  REQUIRE(url.ForLibnfs() == "nfs://server.example/export/dir?nfsport=12049&mountport=12050&uid=1000");
  REQUIRE(url.Source() == "server.example:/export/dir");
  REQUIRE(url.Server() == "server.example:12049");
}

TEST_CASE("a server that every host has by this name is told from others") {
  for (const char* const url : {"nfs://localhost/e", "nfs://127.0.0.1:2049/e", "nfs://[::1]/e"}) {
    REQUIRE(Parsed(url).IsOfThisHost());
  }
  for (const char* const url : {"nfs://localhost.example/e", "nfs://10.0.0.1/e"}) {
    REQUIRE_FALSE(Parsed(url).IsOfThisHost());
  }
}

TEST_CASE("a port behind the host is an argument to libnfs, which does not know it there") {
  REQUIRE(Parsed("nfs://h:2050/e").ForLibnfs() == "nfs://h/e?nfsport=2050");
  REQUIRE(Parsed("nfs://[FE80::1]:2050/e?uid=0").ForLibnfs() == "nfs://[fe80::1]/e?nfsport=2050&uid=0");
  REQUIRE(Parsed("nfs://[::1]/e").host == "[::1]");
}

TEST_CASE("the scheme is written in any case, and shown in lower") {
  REQUIRE(Parsed("NFS://h/E?uid=1").ForLibnfs() == "nfs://h/E?uid=1");
  REQUIRE(Parsed("Nfs://h/E").ToText() == "nfs://h/E");
}

TEST_CASE("escapes are refused, and a percent sign that begins none is a name's") {
  REQUIRE_THAT(Refusal("nfs://h/with%20space"), Catch::Contains("\"%20\"") && Catch::Contains("escapes"));
  REQUIRE_THAT(Refusal("nfs://h/e%2F"), Catch::Contains("\"%2F\""));
  REQUIRE(Parsed("nfs://h/100%/50%2").path == "/100%/50%2");
  REQUIRE(Parsed("nfs://[fe80::1%25]/e").host == "[fe80::1%25]");
}

TEST_CASE("slashes that mean nothing are left out") {
  REQUIRE(Parsed("nfs://h//export///dir//").path == "/export/dir");
  REQUIRE(Parsed("nfs://h/").path == "/");
  REQUIRE(Parsed("nfs://h///?uid=1").ToText() == "nfs://h/");
}

TEST_CASE("what is below a directory keeps its arguments") {
  REQUIRE(Parsed("nfs://h/e?uid=1").Below("x").ForLibnfs() == "nfs://h/e/x?uid=1");
  REQUIRE(Parsed("nfs://h/").Below("x").ToText() == "nfs://h/x");
  REQUIRE(PathBelow("nfs://h/e?uid=1", "x") == "nfs://h/e/x");
  REQUIRE(Parsed("nfs://h/e/x?uid=1").WithoutLast("x").ForLibnfs() == "nfs://h/e?uid=1");
  REQUIRE(Parsed("nfs://h/x").WithoutLast("x").path == "/");
  REQUIRE(Parsed("nfs://h/e/x?uid=1").Parent().ForLibnfs() == "nfs://h/e?uid=1");
  REQUIRE(Parsed("nfs://h/").Parent().path == "/");
  REQUIRE(Parsed("nfs://h/e/xx").WithoutLast("x").path == "/e/xx");
  REQUIRE(PathBelow("/mnt/nfs", "x") == "/mnt/nfs/x");
}

TEST_CASE("what is no URL of a directory is refused with what is wrong") {
  const std::pair<const char*, const char*> bad[] = {
      {"nfs://", "no path"},         {"nfs://server", "no path"},       {"nfs:///export", "no host"},
      {"nfs://:2049/e", "no host"},  {"nfs://[]/e", "no host"},         {"nfs://[::1/e", "without"},
      {"nfs://[::1]x/e", "follows"}, {"nfs://::1/e", "brackets"},       {"nfs://h:port/e", "not a port"},
      {"nfs://h:0/e", "not a port"}, {"nfs://h:65536/e", "not a port"}, {"nfs://user@h/e", "not a host"},
      {"nfs://h/a/../b", "\"..\""},  {"nfs://h/./a", "\".\""},          {"nfs://h/with space", "space"},
      {"/mnt/nfs", "nfs://"},
  };
  for (const auto& [text, what] : bad) REQUIRE_THAT(Refusal(text), Catch::Contains(what));
}

TEST_CASE("arguments that would measure something else are refused with the reason") {
  REQUIRE_THAT(Refusal("nfs://h/e?readahead=1048576"), Catch::Contains("memory"));
  REQUIRE_THAT(Refusal("nfs://h/e?pagecache=1024"), Catch::Contains("memory"));
  REQUIRE_THAT(Refusal("nfs://h/e?dircache=1"), Catch::Contains("memory"));
  REQUIRE_THAT(Refusal("nfs://h/e?autoreconnect=-1"), Catch::Contains("in flight"));
  REQUIRE_THAT(Refusal("nfs://h/e?version=4"), Catch::Contains("NFSv3"));
  REQUIRE_THAT(Refusal("nfs://h/e?version=x"), Catch::Contains("NFSv3"));
  REQUIRE_THAT(Refusal("nfs://h/e?cache=1"), Catch::Contains("unknown argument \"cache\""));
  REQUIRE_THAT(Refusal("nfs://h/e?uid=me"), Catch::Contains("number"));
  REQUIRE_THAT(Refusal("nfs://h/e?timeo=0"), Catch::Contains("tenths"));
  REQUIRE(Parsed("nfs://h/e?timeo=600").ForLibnfs() == "nfs://h/e?timeo=600");
  REQUIRE_THAT(Refusal("nfs://h/e?nfsport=99999"), Catch::Contains("port"));
  REQUIRE_THAT(Refusal("nfs://h:1/e?nfsport=2"), Catch::Contains("twice"));
  REQUIRE(Parsed("nfs://h/e?version=3").arguments.size() == 1);
}

TEST_CASE("only what begins like one is taken for a URL") {
  REQUIRE(IsNfsUrl("nfs://h/e"));
  REQUIRE(IsNfsUrl("NFS://h/e"));
  for (const char* const path : {"/nfs://h/e", "nfs:/h", "nfs", "", "./nfs://x"})
    REQUIRE_FALSE(IsNfsUrl(path));
}

}  // namespace
}  // namespace iobench
