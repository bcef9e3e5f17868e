#include "coordinator/report/iozone/iozone_tests.h"

#include <cctype>
#include <iterator>

namespace iobench {
namespace {

// clang-format off
constexpr IozoneTest kTests[] = {
    {"write",          {"", "write", 9, 9},              "Writer",         "Initial write",  "initial writers \t",   "",   true,  "write", ""},
    {"rewrite",        {"", "rewrite", 9, 9},            "Re-writer",      "Rewrite",        "rewriters \t",         "",   true,  "Rewrite", "write"},
    {"read",           {"", "read", 8, 9},               "Reader",         "Read",           "readers \t\t",         "",   true,  "Read", ""},
    {"reread",         {"", "reread", 10, 9},            "Re-Reader",      "Re-read",        "re-readers \t",        "",   false, "Reread", "read"},
    {"random-read",    {"random", "read", 8, 9},         "Random read",    "Random read",    "random readers \t",    "",   false, "Random Read", ""},
    {"random-write",   {"random", "write", 10, 9},       "Random write",   "Random write",   "random writers \t",    "",   false, "Random Write", ""},
    {"backward-read",  {"bkwd", "read", 9, 9},           "Backward read",  "Reverse Read",   "reverse readers \t",   "",   false, "Read Backwards", ""},
    {"record-rewrite", {"record", "rewrite", 10, 10},    "Record rewrite", "Record rewrite", "record rewriters \t",  "",   false, "Record Rewrite", ""},
    {"stride-read",    {"stride", "read", 10, 10},       "Stride read",    "Stride read",    "stride readers \t",    "",   false, "Stride Read", ""},
    {"fwrite",         {"", "fwrite", 9, 9},             "Fwrite",         "Fwrite",         "fwriters \t",          "\t", true,  "Fwrite", ""},
    {"refwrite",       {"", "frewrite", 9, 9},           "Re-Fwrite",      "Re-fwrite",      "re-fwriters \t",       "\t", true,  "Re-Fwrite", "fwrite"},
    {"fread",          {"", "fread", 9, 9},              "Fread",          "Fread",          "freaders \t",          "\t", true,  "Fread", ""},
    {"refread",        {"", "freread", 9, 9},            "Re-Fread",       "Re-fread",       "re-freaders \t",       "\t", true,  "Re-Fread", "fread"},
    {"pwrite",         {"", "pwrite", 8, 8},             "Pwrite",         "Pwrite",         "pwrite writers \t",    "",   false, "Pwrite", ""},
    {"repwrite",       {"", "repwrite", 9, 9},           "Re-Pwrite",      "Re-pwrite",      "re-pwrite writers \t", "",   false, "Re-Pwrite", "pwrite"},
    {"pread",          {"", "pread", 8, 8},              "Pread",          "Pread",          "pread readers \t",     "",   false, "Pread", ""},
    {"repread",        {"", "repread", 9, 9},            "Re-Pread",       "Re-pread",       "re-pread readers \t",  "",   false, "Re-Pread", "pread"},
    {"pwritev",        {"", "pwritev", 9, 9},            "Pwritev",        "Pwritev",        "pwritev writers \t",   "",   false, "Pwritev", ""},
    {"repwritev",      {"", "repwritev", 10, 10},        "Re-Pwritev",     "Re-pwritev",     "re-pwritev writers \t", "",  false, "Re-Pwritev", "pwritev"},
    {"preadv",         {"", "preadv", 10, 10},           "Preadv",         "Preadv",         "preadv readers \t",    "",   false, "Preadv", ""},
    {"repreadv",       {"", "repreadv", 9, 9},           "Re-Preadv",      "Re-preadv",      "re-preadv readers \t", "",   false, "Re-Preadv", "preadv"},
    // IOzone runs it with several lanes only.
    {"random-mix",     {},                               "",               "Mixed workload", "mixed workload \t",    "",   false, "Mixed", ""},
    {"sequential-mix", {},                               "",               "Mixed workload", "mixed workload \t",    "",   false, "Mixed", ""},
};
// clang-format on

// "initial write" becomes "Initial write".
std::string Capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::span<const IozoneTest> IozoneTests() {
  return kTests;
}

size_t IozoneTestNumber(const std::string& operation) {
  size_t number = 0;
  while (number < std::size(kTests) && operation != kTests[number].operation) ++number;
  return number;
}

// IOzone does not loop, so it has no words for a phase that mostly overwrites what it has written first.
std::string IozoneLabel(const v1::PhaseReport& phase) {
  if (!phase.first_pass().headline().empty()) return Capitalized(phase.title());
  const size_t number = IozoneTestNumber(phase.operation());
  return number < std::size(kTests) ? kTests[number].label : Capitalized(phase.title());
}

std::string IozoneLogName(const v1::PhaseReport& phase) {
  const size_t number = IozoneTestNumber(phase.operation());
  return number < std::size(kTests) ? kTests[number].log_name : Capitalized(phase.title());
}

}  // namespace iobench
