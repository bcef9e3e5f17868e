#include "coordinator/saved_run/redact.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "common/text/shell_word.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace iobench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsAlnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool EndsPath(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("'\"`,;()[]{}|<>").find(c) != std::string_view::npos;
}

// Returns the length of the numeric address that `text` begins with; 0: it begins with none.
size_t AddressBytes(std::string_view text) {
  for (const auto& [family, characters] :
       {std::pair{AF_INET6, "0123456789abcdefABCDEF:."}, std::pair{AF_INET, "0123456789."}}) {
    std::string token(text.substr(0, text.find_first_not_of(characters)));
    while (!token.empty() && (token.back() == '.' || (token.back() == ':' && !token.ends_with("::"))))
      token.pop_back();
    if (token.size() < 3 || token.size() > INET6_ADDRSTRLEN) continue;
    if (token.size() < text.size() && IsAlnum(text[token.size()])) continue;
    std::array<unsigned char, sizeof(in6_addr)> parsed;
    if (inet_pton(family, token.c_str(), parsed.data()) == 1) return token.size();
  }
  return 0;
}

}  // namespace

// Aliases of one kind of thing, numbered in the order in which they are first seen.
class Redaction::Aliases {
 public:
  explicit Aliases(const char* prefix) : prefix_(prefix) {}
  const std::string& Of(const std::string& original) {
    const auto [place, is_new] = aliases_.try_emplace(original);
    if (is_new) place->second = absl::StrCat(prefix_, aliases_.size());
    return place->second;
  }

 private:
  const char* prefix_;
  std::unordered_map<std::string, std::string> aliases_;
};

// Texts that are known to identify something, found anywhere in another text.
class Redaction::KnownNames {
 public:
  void Add(const std::string& original, const std::string& alias) {
    for (const std::string& form : {original, Printable(original)}) {  // messages may have made it printable
      if (!form.empty()) names_.try_emplace(form, alias);
    }
  }
  const std::string* AliasOf(const std::string& original) const {
    const auto found = names_.find(original);
    return found == names_.end() ? nullptr : &found->second;
  }
  // Indexes the names by their first bytes, the longest first.
  void Sort() {
    by_start_.clear();
    for (const auto& [name, alias] : names_)
      by_start_[name.substr(0, kStartBytes)].emplace_back(&name, &alias);
    for (auto& [start, names] : by_start_) {
      std::sort(names.begin(), names.end(),
                [](const auto& a, const auto& b) { return a.first->size() > b.first->size(); });
    }
  }

  struct Found {
    size_t bytes = 0;  // 0: no name begins here
    const std::string* alias = nullptr;
  };
  // The longest name that `text` begins with. `before`: the character before it.
  Found At(std::string_view text, char before) const {
    for (size_t bytes = std::min(text.size(), kStartBytes); bytes > 0; --bytes) {
      const auto bucket = by_start_.find(std::string(text.substr(0, bytes)));
      if (bucket == by_start_.end()) continue;
      for (const auto& [name, alias] : bucket->second) {
        if (!text.starts_with(*name)) continue;
        const bool begins = name->front() == '/' || !IsAlnum(before) || !IsAlnum(name->front());
        const bool ends =
            text.size() == name->size() || !IsAlnum(text[name->size()]) || !IsAlnum(name->back());
        if (begins && ends) return {name->size(), alias};
      }
    }
    return {};
  }

 private:
  static constexpr size_t kStartBytes = 4;
  std::map<std::string, std::string> names_;
  std::unordered_map<std::string, std::vector<std::pair<const std::string*, const std::string*>>> by_start_;
};

// What is known to identify something, and its aliases.
class Redaction::LearnedNames {
 public:
  void Learn(const v1::RunRecord& run) {
    for (const v1::WorkerFacts& worker : run.workers())
      AddHostName(worker.host(), worker.server() ? hosts_ : clients_);
    for (const v1::WorkerFacts& sampler : run.samplers()) {
      AddHostName(sampler.host(), hosts_);
      LearnServer(sampler.nfs_server());
    }
    for (const v1::LeftOutClient& client : run.left_out()) AddHostName(client.client(), clients_);
    AddHostName(run.coordinator().host(), hosts_);
    for (const v1::WorkerFacts& worker : run.workers()) {
      known_.Add(worker.boot_id(), BootAlias(worker.boot_id()));
      AddPath(worker.path());
    }
    Learn(run.plan());
    for (const v1::WorkerTargets& targets : run.targets()) {
      for (const v1::TargetFacts& target : targets.targets())
        AddSource(target.mount_source(), target.filesystem());
    }
    known_.Sort();
  }

  void Learn(const v1::RunReport& report) {
    for (const v1::ClientReport& client : report.clients()) AddHostName(client.host(), clients_);
    for (const v1::LeftOutClient& client : report.run().left_out()) AddHostName(client.client(), clients_);
    AddHostName(report.run().coordinator_host(), hosts_);
    for (const v1::ClientReport& client : report.clients())
      known_.Add(client.boot_id(), BootAlias(client.boot_id()));
    Learn(report.run().plan());
    for (const v1::ClientReport& client : report.clients()) {
      for (const v1::TargetReport& target : client.targets()) {
        AddPath(target.path());
        AddSource(target.mount_source(), target.filesystem());
      }
    }
    for (const v1::PhaseReport& phase : report.phases()) {
      for (const v1::StorageTargetReport& target : phase.storage_targets()) {
        if (absl::StrContains(target.name(), ":/")) AddSource(target.name(), /*filesystem=*/"");
      }
    }
    known_.Sort();
  }

  void Learn(const v1::ValidateReport& report) {
    for (const v1::ValidateClient& client : report.clients()) AddHostName(client.host(), clients_);
    for (const v1::ServerFacts& server : report.servers()) {
      AddHostName(server.host(), hosts_);
      LearnServer(server.nfs());
    }
    AddTarget(report.path());
    AddSource(report.mount_source(), report.filesystem());
    for (const v1::ValidateClient& client : report.clients()) {
      AddPath(client.mount_point());
      AddSource(client.mount_source(), client.filesystem());
    }
    known_.Sort();
  }

  void Learn(const v1::CapacityReport& report) {
    for (const absl::string_view path : absl::StrSplit(report.path(), ", ")) AddTarget(std::string(path));
    known_.Sort();
  }

  const KnownNames& known() const { return known_; }
  const std::string& PathAlias(const std::string& path) {
    if (const std::string* const known = known_.AliasOf(path)) return *known;
    const std::string* const target = TargetThatEndsWith(path);
    return paths_.Of(target != nullptr ? *target : path);
  }
  // Returns the target that `typed` stands for if it is relative to the run's working directory; null: none is known.
  const std::string* TargetThatEndsWith(const std::string& typed) const {
    if (typed.empty() || typed[0] == '/' || typed[0] == '-') return nullptr;
    const auto found = std::find_if(targets_.begin(), targets_.end(), [&typed](const std::string& path) {
      return path.ends_with(absl::StrCat("/", typed));
    });
    return found == targets_.end() ? nullptr : &*found;
  }
  const std::string& UserAlias(const std::string& user) { return users_.Of(user); }
  const std::string& AddressAlias(const std::string& address) { return addresses_.Of(address); }
  const std::string& HostAlias(const std::string& host) { return hosts_.Of(host); }

 private:
  void Learn(const v1::Plan& plan) {
    for (const v1::Target& target : plan.targets()) AddTarget(target.path());
    AddPath(plan.server_path());
    for (const std::string& file : plan.files().existing_files()) AddPath(file);
  }
  void LearnServer(const v1::NfsServerSetup& server) {
    for (const v1::NfsExport& exported : server.exports()) AddExport(exported);
  }
  void AddTarget(const std::string& path) {
    AddPath(path);
    targets_.push_back(path);
  }
  std::string BootAlias(const std::string& boot_id) { return boots_.Of(boot_id); }
  void AddPath(const std::string& path) {
    if (path.size() <= 1) return;  // "/" itself reveals nothing
    known_.Add(path, paths_.Of(path));
  }
  // Its clients are addresses and networks, which are recognised, or names: of a host, of many ("*.example.com"), "@group".
  void AddExport(const v1::NfsExport& exported) {
    AddPath(exported.path());
    if (exported.device().find('/') != std::string::npos) known_.Add(exported.device(), sources_.Of(exported.device()));
    const std::string& clients = exported.clients();
    if (clients != "*" && AddressBytes(clients) == 0) AddHostName(clients, hosts_);
  }
  // Also notes the name without the domain.
  void AddHostName(const std::string& host, Aliases& aliases) {
    if (host.empty() || known_.AliasOf(host) != nullptr) return;
    const std::string& alias = aliases.Of(host);
    known_.Add(host, alias);
    const size_t dot = host.find('.');
    if (dot != std::string::npos && AddressBytes(host) != host.size()) known_.Add(host.substr(0, dot), alias);
  }
  // "server:/export" names a host and a path; "tank/home" is a name of its own; "tmpfs" reveals nothing.
  void AddSource(const std::string& source, const std::string& filesystem) {
    const size_t colon = source.find(":/");
    if (source.empty() || source == filesystem || source == "none") return;
    if (source.front() == '/') return AddPath(source);
    if (colon == std::string::npos) return known_.Add(source, sources_.Of(source));
    const std::string host = source.substr(0, colon);
    if (AddressBytes(host) != host.size() && host.front() != '[') AddHostName(host, hosts_);
    AddPath(source.substr(colon + 1));
  }

  Aliases clients_{"client-"}, hosts_{"host-"}, addresses_{"address-"}, boots_{"boot-"}, paths_{"/path-"},
      sources_{"source-"}, users_{"user-"};
  KnownNames known_;
  std::vector<std::string> targets_;
};

class Redaction::Redactor {
 public:
  // Learns the names of a run or report; texts may now have more of them.
  template <typename Source>
  void Learn(const Source& source) {
    names_.Learn(source);
    seen_.clear();
  }

  void RedactAll(Message& message) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* const field : fields) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) RedactValue(message, *field, i);
    }
  }

  // A report that has its command itself.
  template <typename Report>
  void RedactCommanded(Report& report) {
    Learn(report);
    const std::string command = Command(report.command());
    report.clear_command();
    RedactAll(report);
    report.set_command(command);
  }

  // Commands are quoted for a shell; earlier versions joined their words by single spaces, without quotes. Unless a name
  // of a place is in quotes, what follows it is dropped up to the next option, so that such a name with spaces leaves
  // nothing behind. Users and loads are one word.
  std::string Command(const std::string& command) {
    std::vector<QuotedWord> words;
    if (auto quoted = WordsOfCommand(command); quoted.has_value()) {
      words = *std::move(quoted);
    } else {
      for (const absl::string_view word : absl::StrSplit(command, ' ')) words.push_back({std::string(word)});
    }
    std::vector<std::string> result;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i].text;
      const std::optional<size_t> value = NameIn(word);
      if (!value.has_value()) {
        const std::string* const target = names_.TargetThatEndsWith(word);
        result.push_back(target != nullptr ? names_.PathAlias(*target) : Text(word));
        continue;
      }
      std::string place(word.substr(*value));
      bool is_whole = words[i].quoted && !place.empty();
      const bool is_user = word.starts_with("--user");
      const bool is_load = word.starts_with("--background") || word.starts_with("--mix");
      // A command's own options name hosts and users, too.
      const auto has = [&word](std::string_view text) { return word.find(text) != std::string::npos; };
      const bool is_command = word.starts_with("--launcher") || has("-phase") || has("-hook");
      const std::string_view next_option = is_command ? "--" : "-";
      while (i + 1 < words.size() &&
             (place.empty() || !(is_whole || is_user || is_load || words[i + 1].text.starts_with(next_option)))) {
        const QuotedWord& next = words[++i];
        is_whole = next.quoted && place.empty();
        absl::StrAppend(&place, place.empty() ? "" : " ", next.text);
      }
      const std::string alias = is_user ? names_.UserAlias(place) : is_load ? Loads(place) : names_.PathAlias(place);
      if (*value == word.size()) {
        result.push_back(word);
        result.push_back(alias);
      } else {
        result.push_back(absl::StrCat(word.substr(0, *value), alias));
      }
    }
    return ShellCommand(result);
  }

  const std::string& Text(const std::string& text) {
    const auto [place, is_new] = seen_.try_emplace(text);
    if (is_new) place->second = Redacted(text);
    return place->second;
  }

 private:
  // "write@1m,loads.yaml": of the loads of --background and --mix, only files are places.
  std::string Loads(const std::string& loads) {
    std::vector<std::string> items = absl::StrSplit(loads, ',');
    for (std::string& item : items) {
      if (absl::EndsWith(item, ".yaml") || absl::StrContains(item, "/")) item = names_.PathAlias(item);
    }
    return absl::StrJoin(items, ",");
  }
  // Returns where the value begins in a word of the command that is, or ends with, an option which names a place or a
  // user.
  static std::optional<size_t> NameIn(std::string_view word) {
    constexpr std::string_view kOptions[] = {
        "--out",        "--path",          "--file",     "--files",        "--existing",
        "--plan",       "--client-list",   "--listen",   "--join",         "--coordinator-host",
        "--hosts",      "--sampler-hosts", "--launcher", "--token-file",   "--write-trace",
        "--read-trace", "--remount",       "--live-csv", "--live-metrics", "--server-path",
        "--tls-cert",   "--tls-key",       "--tls-ca",   "--tls-crl",      "--resume",       "--background",
        "--user",       "--mix",           "--workbook", "--before-phase", "--after-phase",
        "--fault-hook", "--client-hook", "--without",     "--output",      "--saved",         "--waive"};
    constexpr std::string_view kPlusLetters[] = {"-+m", "-+h"};
    constexpr std::string_view kLetters = "fFXYUb";
    for (const std::string_view option : kOptions) {
      if (word == option) return word.size();
      if (word.starts_with(option) && word[option.size()] == '=') return option.size() + 1;
    }
    for (const std::string_view letter : kPlusLetters) {
      if (word.starts_with(letter)) return letter.size();
    }
    const bool has_letters = word.size() > 1 && word[0] == '-' && IsAlnum(word[1]);
    if (has_letters && kLetters.find(word[1]) != std::string_view::npos) return 2;  // -F, or -F/mnt/a
    const bool ends_with_letter = has_letters && kLetters.find(word.back()) != std::string_view::npos;
    if (ends_with_letter && std::all_of(word.begin() + 1, word.end(), IsAlnum)) return word.size();  // -Rab
    return std::nullopt;
  }

  void RedactValue(Message& message, const FieldDescriptor& field, int index) {
    const Reflection& reflection = *message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      RedactAll(field.is_repeated() ? *reflection.MutableRepeatedMessage(&message, &field, index)
                                    : *reflection.MutableMessage(&message, &field));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      if (field.is_repeated()) {
        reflection.SetRepeatedString(&message, &field, index,
                                     Text(reflection.GetRepeatedString(message, &field, index)));
      } else {
        reflection.SetString(&message, &field, Text(reflection.GetString(message, &field)));
      }
    }
  }

  // Goes through a text once, so that aliases are not replaced again.
  std::string Redacted(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size();) {
      const char before = i == 0 ? ' ' : text[i - 1];
      const size_t bytes = AliasAt(text.substr(i), before, result);
      if (bytes == 0) result += text[i];
      i += std::max<size_t>(bytes, 1);
    }
    return result;
  }

  // Appends the alias of what `text` begins with and returns its length; 0: it may stay.
  size_t AliasAt(std::string_view text, char before, std::string& result) {
    static constexpr std::string_view kUrl = "nfs://";
    bool is_path = text.starts_with(kUrl) || (!IsAlnum(before) && text.size() > 1 && text[0] == '/' &&
                                              !EndsPath(text[1]) && text[1] != '/');
    if (const KnownNames::Found known = names_.known().At(text, before); known.bytes > 0) {
      const std::string_view after = text.substr(known.bytes);
      // The run's own files keep their names, anything else below a known path is part of a longer one.
      is_path |= text[0] == '/';
      if (!is_path || !after.starts_with('/') || after.substr(1).starts_with(kDataDirectoryName)) {
        result += *known.alias;
        return known.bytes + KeepDataFile(after, result);
      }
    }
    if (is_path) {
      const size_t bytes = std::find_if(text.begin(), text.end(), EndsPath) - text.begin();
      std::string path(text.substr(0, bytes));
      while (path.size() > 1 && (path.back() == ':' || path.back() == '.')) path.pop_back();
      result += names_.PathAlias(path);
      return path.size();
    }
    if (IsAlnum(before)) return 0;
    if (const size_t bytes = before == '.' ? 0 : AddressBytes(text); bytes > 0) {
      result += names_.AddressAlias(std::string(text.substr(0, bytes)));
      return bytes;
    }
    return UserAt(text, result);
  }

  // "/cluster-iobench.data/lane-000000.0" after a target's path.
  static size_t KeepDataFile(std::string_view after, std::string& result) {
    if (!after.starts_with(absl::StrCat("/", kDataDirectoryName))) return 0;
    const size_t bytes = std::find_if(after.begin(), after.end(), EndsPath) - after.begin();
    result += after.substr(0, bytes);
    return bytes;
  }

  // The user in "user@host" or "username=user".
  size_t UserAt(std::string_view text, std::string& result) {
    for (const std::string_view key : {"username=", "user=", "domain=", "credentials="}) {
      if (!text.starts_with(key)) continue;
      const size_t bytes = std::find_if(text.begin(), text.end(), EndsPath) - text.begin();
      if (bytes == key.size()) return 0;
      absl::StrAppend(&result, std::string(key),
                      names_.UserAlias(std::string(text.substr(key.size(), bytes - key.size()))));
      return bytes;
    }
    const size_t user = NameBytes(text);
    if (user == 0 || user == text.size() || text[user] != '@') return 0;
    const std::string host(text.substr(user + 1, NameBytes(text.substr(user + 1))));
    absl::StrAppend(&result, names_.UserAlias(std::string(text.substr(0, user))), "@");
    if (host.empty()) return user + 1;
    const std::string* const known = names_.known().AliasOf(host);
    const bool is_address = AddressBytes(host) == host.size();
    result += known != nullptr ? *known : is_address ? names_.AddressAlias(host) : names_.HostAlias(host);
    return user + 1 + host.size();
  }

  static size_t NameBytes(std::string_view text) {
    const auto end = std::find_if(text.begin(), text.end(),
                                  [](char c) { return !IsAlnum(c) && c != '.' && c != '_' && c != '-'; });
    return static_cast<size_t>(end - text.begin());
  }

  LearnedNames names_;
  std::unordered_map<std::string, std::string> seen_;
};

Redaction::Redaction() : redactor_(std::make_unique<Redactor>()) {}
Redaction::~Redaction() = default;

void Redaction::Learn(const v1::RunRecord& run) {
  redactor_->Learn(run);
}

void Redaction::Learn(const v1::RunReport& report) {
  redactor_->Learn(report);
}

void Redaction::Redact(v1::RunReport& report) {
  redactor_->Learn(report);
  const std::string command = redactor_->Command(report.run().command());
  report.mutable_run()->clear_command();
  redactor_->RedactAll(report);
  report.mutable_run()->set_command(command);
}

void Redaction::Redact(v1::ValidateReport& report) {
  redactor_->RedactCommanded(report);
}

void Redaction::Redact(v1::CapacityReport& report) {
  redactor_->RedactCommanded(report);
}

void Redact(const v1::RunRecord& run, v1::RunReport& report) {
  Redaction redaction;
  // The clients' aliases are in the order of the report.
  redaction.Learn(report);
  redaction.Learn(run);
  redaction.Redact(report);
}

}  // namespace iobench
