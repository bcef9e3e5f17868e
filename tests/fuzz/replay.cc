// Stands in for libFuzzer where it is not available: runs a fuzz target on every file of its corpus, and on a fixed
// number of random changes of these. The same seed gives the same inputs.
//   usage: fuzz_NAME CORPUS [COUNT [SEED [FIRST]]]      FIRST: the change to begin with, to repeat a failure
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                                unsigned int seed);
// Defined by the address sanitizer, which ends the process without a signal.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr size_t kMaxInputBytes = 64 << 10;
constexpr unsigned int kHangS = 60;

std::mt19937_64 g_random;
std::string g_input;    // the current one
char g_name[128] = "";  // its name
constexpr char kSavedAs[] = "fuzz-failure.input";

size_t Below(size_t limit) {
  return std::uniform_int_distribution<size_t>(0, limit - 1)(g_random);
}

// Async-signal-safe.
void SayWhich() {
  const auto say = [](const char* text, size_t size) {
    [[maybe_unused]] const ssize_t n = ::write(2, text, size);
  };
  say("failed at ", 10);
  say(g_name, std::char_traits<char>::length(g_name));
  const int file = ::open(kSavedAs, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0 && ::write(file, g_input.data(), g_input.size()) >= 0)
    say(", saved as fuzz-failure.input", 29);
  say("\n", 1);
}

void OnSignal(int number) {
  if (number == SIGALRM) {
    [[maybe_unused]] const ssize_t n = ::write(2, "hang: ", 6);
  }
  SayWhich();
  ::_exit(1);
}

void Run(const std::string& name, std::string input) {
  std::snprintf(g_name, sizeof g_name, "%s", name.c_str());
  g_input = std::move(input);
  ::alarm(kHangS);
  // A copy of exactly this size, so that the address sanitizer sees reads beyond its end.
  const std::vector<uint8_t> exact(g_input.begin(), g_input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ::alarm(0);
}

std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One change of bytes, as fuzzers make them.
void ChangeBytes(std::string& text, size_t max_size) {
  static const std::string kWords[] = {"0",     "-1",   "18446744073709551615",
                                       "1e999", "nan",  "\xff\xff\xff\xff\x0f",
                                       "\n",    "#",    "[",
                                       "]",     "*",    ":",
                                       "&a ",   "*a ",  "../",
                                       "\t",    "<<: ", std::string(1, '\0')};
  const size_t at = text.empty() ? 0 : Below(text.size());
  const size_t length = text.empty() ? 0 : 1 + Below(std::min<size_t>(text.size() - at, 64));
  switch (Below(7)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(Below(256));
      break;
    case 1:
      if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << Below(8)));
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(text.empty() ? 0 : Below(text.size()), std::string(text, at, length));
      break;
    case 4:
      text.insert(at, kWords[Below(std::size(kWords))]);
      break;
    case 5: {
      const std::string word = kWords[Below(std::size(kWords))];
      text.replace(at, std::min(word.size(), text.size() - at), word);
      break;
    }
    default:
      text.resize(at);
  }
  text.resize(std::min(text.size(), max_size));
}

std::string Changed(const std::vector<std::string>& corpus) {
  std::string text = corpus[Below(corpus.size())];
  if (LLVMFuzzerCustomMutator != nullptr) {
    text.reserve(kMaxInputBytes);
    for (size_t i = 1 + Below(4); i > 0; --i) {
      const size_t size = text.size();
      text.resize(kMaxInputBytes);
      text.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(text.data()), size, kMaxInputBytes,
                                          static_cast<unsigned int>(g_random())));
    }
    return text;
  }
  if (Below(4) == 0) {  // the head of one, the tail of another
    const std::string& other = corpus[Below(corpus.size())];
    text.resize(Below(text.size() + 1));
    text += other.substr(Below(other.size() + 1));
  }
  for (size_t i = 1 + Below(6); i > 0; --i) ChangeBytes(text, kMaxInputBytes);
  return text;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  ChangeBytes(text, max_size);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS [COUNT [SEED [FIRST]]]\n", argv[0]);
    return 2;
  }
  const size_t count = argc > 2 ? std::stoull(argv[2]) : 1000;
  const size_t seed = argc > 3 ? std::stoull(argv[3]) : 1;
  const size_t first = argc > 4 ? std::stoull(argv[4]) : 0;
  for (const int number : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    if (number == SIGALRM || __sanitizer_set_death_callback == nullptr) ::signal(number, OnSignal);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(SayWhich);

  // In place of a corpus, one file: an input that a fuzzer has saved.
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(argv[1])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  } else if (std::filesystem::exists(argv[1])) {
    files.emplace_back(argv[1]);
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const std::filesystem::path& file : files) {
    corpus.push_back(FileText(file));
    Run(file.filename().string(), corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no input in %s\n", argv[0], argv[1]);
    return 2;
  }
  for (size_t i = first; i < count; ++i) {
    g_random.seed(seed * 1'000'003 + i);
    Run("change " + std::to_string(i) + " of seed " + std::to_string(seed), Changed(corpus));
  }
  std::printf("%zu inputs of the corpus and %zu changes of them with seed %zu\n", corpus.size(), count, seed);
  return 0;
}
