#include "coordinator/command_line/examples.h"

#include "absl/strings/str_cat.h"
#include "common/text/terminal_width.h"

namespace iobench {
namespace {

constexpr Example kOfRun[] = {
    {"cluster-iobench /mnt/nfs", "this host: write, read, random access"},
    {"cluster-iobench /mnt/nfs --dry-run", "only print what it would do"},
    {"cluster-iobench /mnt/nfs -i 0 -i 1 -c -e -r 1m -s 4g", "IOzone's letters: 4 GiB per lane"},
    {"cluster-iobench --hosts 'c[01-32]' /mnt/nfs -i 0 -i 1 -e", "32 clients, over ssh"},
    {"mpirun -np 32 cluster-iobench /mnt/nfs", "every MPI rank is a worker"},
    {"cluster-iobench --spawn 8 /mnt/nfs", "8 worker processes on this host"},
    {"cluster-iobench /mnt/nfs --require 'write>=900MiB/s'", "exit code 4 if it is slower"},
    {"cluster-iobench --suite smoke /mnt/nfs", "a short check; --suite list lists all"},
};
constexpr Example kOfPreflight[] = {
    {"cluster-iobench preflight --hosts 'c[01-32]' --path /mnt/nfs", "what is wrong with 32 clients"},
};
constexpr Example kOfValidate[] = {
    {"cluster-iobench validate --hosts 'c[01-04]' --path /mnt/nfs", "four clients of one mount"},
    {"cluster-iobench validate --spawn 2 --path /mnt/nfs", "one host, with two worker processes"},
    {"cluster-iobench validate --list", "the names of all checks"},
};
constexpr Example kOfCapacity[] = {
    {"cluster-iobench capacity --hosts 'c[01-04]' --path /mnt/nfs --slo 'p99<=10ms'",
     "the highest load under a limit"},
    {"cluster-iobench capacity --spawn 4 --path /mnt/nfs --load 20000", "the headroom over today's load"},
};
constexpr Example kOfWorker[] = {
    {"cluster-iobench worker --join head:9400 --token-file token --root /mnt/nfs", "serve one run"},
};
constexpr Example kOfReport[] = {
    {"cluster-iobench report DIR --verbose", "all details on the console"},
    {"cluster-iobench report DIR --format markdown --output report.md", "a document to hand over"},
};
constexpr Example kOfCompare[] = {
    {"cluster-iobench compare before after --fail-under 95", "exit code 4 if a phase is below 95 %"},
};
constexpr Example kOfHistory[] = {
    {"cluster-iobench history cluster-iobench.out", "all runs of a directory"},
};
constexpr Example kOfObserve[] = {
    {"cluster-iobench observe --path /mnt/nfs --for 1h --output seen.yaml",
     "what this client does in an hour"},
};
constexpr Example kOfSelftest[] = {
    {"cluster-iobench selftest --hosts 'c[01-32]'", "clocks, start skew and fixed costs of these clients"},
};
constexpr Example kOfClean[] = {
    {"cluster-iobench clean /mnt/nfs", "remove what a crashed run left there"},
};
constexpr Example kOfTranslate[] = {
    {"cluster-iobench translate 'fio --name=t --rw=randread --bs=4k --size=1g'",
     "our line, and what differs"},
    {"cluster-iobench translate jobs.fio", "the same for a file of jobs"},
};

struct ExamplesOfCommand {
  std::string_view command;
  std::span<const Example> examples;
};
constexpr ExamplesOfCommand kExamples[] = {
    {"run", kOfRun},           {"preflight", kOfPreflight}, {"validate", kOfValidate},
    {"capacity", kOfCapacity}, {"worker", kOfWorker},       {"report", kOfReport},
    {"compare", kOfCompare},   {"history", kOfHistory},     {"observe", kOfObserve},
    {"selftest", kOfSelftest}, {"clean", kOfClean},         {"translate", kOfTranslate},
};

}  // namespace

std::span<const Example> ExamplesOf(std::string_view command) {
  for (const ExamplesOfCommand& each : kExamples) {
    if (each.command == command) return each.examples;
  }
  return {};
}

std::string ExamplesText(std::string_view command, size_t columns) {
  // Beside the line if there is room for both, otherwise below it.
  constexpr size_t kBeside = 60, kBelow = 6, kBothColumns = 100;
  const size_t indent = columns >= kBothColumns ? kBeside : kBelow;
  std::string text;
  for (const Example& example : ExamplesOf(command)) {
    absl::StrAppend(&text, text.empty() ? "Examples:\n" : "",
                    Hanging(absl::StrCat("  ", std::string(example.line)), indent, example.does, columns));
  }
  return text;
}

}  // namespace iobench
