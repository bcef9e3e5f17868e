#include "coordinator/validate/checks/user_trials.h"

#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr uint32_t kFirstFile =
    1000;  // of those in the directory; the check of owners has the ones before it
constexpr char kSquashAdvice[] =
    "export without all_squash, or expect that permissions and owners do not tell users apart";

// The answers of one peer, by trial; those of its second user begin with "other ".
using Answers = std::map<std::string, v1::TrialResult>;

v1::ActingUser UserOf(uint32_t id) {
  constexpr uint32_t kFirstGroup = 61300,
                     kGroups = 4;  // few enough for AUTH_SYS: more are what `groups` tries
  v1::ActingUser user;
  user.set_user(id);
  user.set_group(id);
  if (id == kTrialUserId) {
    for (uint32_t i = 0; i < kGroups; ++i) user.add_groups(kFirstGroup + i);
  }
  return user;
}

class UserTrials {
 public:
  UserTrials(CheckContext& context, uint32_t directory, bool as_root)
      : context_(context), directory_(directory), as_root_(as_root) {}

  // One call of each peer, all at the same time. `shift`: on the files of the peer so many places further.
  // user: 0: the worker's own.
  absl::Status Do(std::initializer_list<const char*> trials, uint32_t user = 0, size_t shift = 0,
                  const char* prefix = "") {
    std::map<uint32_t, CallList> calls;
    for (size_t i = 0; i < context_.peers.size(); ++i) {
      CallList list(directory_);
      v1::FileAction& action = list.Add(
          v1::FileAction::TRY, kFirstFile + static_cast<uint32_t>((i + shift) % context_.peers.size()));
      for (const char* const trial : trials) action.add_trials(trial);
      if (user != 0 && as_root_) *action.mutable_as_user() = UserOf(user);
      calls.emplace(context_.peers[i], std::move(list));
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers results, context_.files.DoAll(calls));
    for (const auto& [worker, of_worker] : results) {
      if (of_worker[0].problem().code() != 0) refused_ = of_worker[0].problem().message();
      for (const v1::TrialResult& trial : of_worker[0].trials()) {
        answers_[worker][absl::StrCat(prefix, trial.name())] = trial;
      }
    }
    return absl::OkStatus();
  }

  const std::map<uint32_t, Answers>& answers() const { return answers_; }
  const std::string& refused() const { return refused_; }  // why no trial could run; empty: they ran

 private:
  CheckContext& context_;
  const uint32_t directory_;
  const bool as_root_;
  std::map<uint32_t, Answers> answers_;
  std::string refused_;
};

// Judges the answers, peer by peer.
class UserJudge {
 public:
  UserJudge(const CheckContext& context, bool as_root, Outcome& outcome)
      : context_(context), as_root_(as_root), outcome_(outcome) {}

  // Whom files belong to. What is wrong there explains the rest, so that JudgeModes is for when no client has failed.
  void JudgeOwners(uint32_t worker, const Answers& answers, const OwnerSeen& own) {
    worker_ = worker;
    answers_ = &answers;
    ++judged_;
    const std::string& mine = AnswerTo("own-file");
    const uint32_t user = as_root_ ? kTrialUserId : own.process_user;
    const auto shown = static_cast<uint32_t>(mine.empty() ? user : answers.at("own-file").number());
    if (!mine.empty() && mine != "yes" && mine != "other") {
      Fault(absl::StrCat("user ", user, " cannot create a file in a directory that is open to all"),
            Why("own-file"), "check the permissions of the export, and which users it squashes");
      return;
    }
    if (!as_root_) return;
    if (shown != user) {
      JudgeOther(user, shown, own);
    } else {
      JudgeGiving(own);
    }
  }

  void JudgeModes(uint32_t worker, const Answers& answers, const OwnerSeen& own) {
    worker_ = worker;
    answers_ = &answers;
    ModesOf(as_root_ ? kTrialUserId : own.process_user);
  }

  bool owners_count() const { return verdict_.fault.empty() && !no_owners_; }

  // A fault that only some clients have is theirs.
  UserVerdict Take() {
    if (!faulty_.empty() && faulty_.size() < judged_) {
      verdict_.fault = absl::StrCat(absl::StrJoin(faulty_, ", "), ": ", verdict_.fault);
    }
    return std::move(verdict_);
  }

 private:
  const std::string& AnswerTo(const std::string& trial) const {
    static const std::string kNone;
    const auto found = answers_->find(trial);
    return found == answers_->end() ? kNone : found->second.answer();
  }
  // "chown: EINVAL"
  std::string Why(const std::string& trial) const {
    const v1::TrialResult& result = answers_->at(trial);
    if (result.problem().code() != 0) return Printable(result.problem().message());
    return result.answer() == "other" ? Printable(result.detail())
                                      : absl::StrCat(result.failed_call(), ": ", result.answer());
  }
  void Say(const std::string& what, const std::string& why) {
    outcome_.Evidence(absl::StrCat(context_.NameOf(worker_), ": ", what, why.empty() ? "" : ": ", why));
  }
  void Fault(const std::string& what, const std::string& why, const std::string& advice) {
    Say(what, why);
    faulty_.insert(context_.NameOf(worker_));
    if (!verdict_.fault.empty()) return;
    verdict_.fault = what;
    verdict_.advice = advice;
  }
  void Doubt(const std::string& what, const std::string& why, const std::string& advice) {
    Say(what, why);
    if (!verdict_.doubt.empty()) return;
    verdict_.doubt = what;
    if (verdict_.fault.empty()) verdict_.advice = advice;
  }

  // A user whose files are shown as another's: all users are one on the server (the other one reads what only the owner
  // may), or the server knows who it is and the client is not told.
  void JudgeOther(uint32_t user, uint32_t shown, const OwnerSeen& own) {
    const bool all_are_one = AnswerTo("near read-file") == "yes";
    const std::string becomes =
        absl::StrCat("files of user ", user, " belong to ", shown, IsNobody(shown) ? " (nobody)" : "");
    if (all_are_one && shown == own.owner && context_.IsNfs() && own.owner != 0) {
      Fault(absl::StrCat("all users become user ", shown, " on the server (all_squash, anonuid=", shown, ")"),
            "", kSquashAdvice);
    } else if (all_are_one) {
      // vfat, or a mount option uid=
      Doubt(
          absl::StrCat("the file system keeps no owners: files of all users belong to ", shown), "",
          "let only one user work there, or look for all_squash with this anonuid, or for the mount option uid=");
      no_owners_ = true;
    } else if (IsNobody(shown)) {
      Fault("the names of users are not mapped: owners are shown as nobody", becomes, kIdmapAdvice);
    } else {
      Fault("users are mapped to others", becomes, "use the same users and idmapping on server and clients");
    }
  }

  void JudgeGiving(const OwnerSeen& own) {
    const std::string& given = AnswerTo("root give-away");
    const bool root_is_squashed = own.owner != own.process_user;
    if (given.empty() || given == "yes" || (given == "EPERM" && root_is_squashed)) return;
    if (given == "EINVAL" && context_.IsNfs()) {
      Fault("the server does not know the user that a file is given to", Why("root give-away"), kIdmapAdvice);
    } else if (given == "EPERM") {
      Doubt("root may not give files away", Why("root give-away"),
            "expect that tar, rsync -a and cp -a cannot restore owners; in a container, CAP_CHOWN is needed");
    } else {
      Fault("root cannot give files away", Why("root give-away"), "check how server and clients map users");
    }
  }

  void ModesOf(uint32_t user) {
    const char* const modes_advice =
        "find out what sets modes there: the server's file system, its ACLs, or a mount option";
    for (const char* const trial : {"modes", "inherit"}) {
      const std::string& answer = AnswerTo(trial);
      if (answer.empty() || answer == "yes" || (*trial == 'i' && !IsMade("make-shared"))) continue;
      Fault(*trial == 'm' ? absl::StrCat("user ", user, " cannot set the mode of its file")
                          : "a setgid directory does not give its group to new names",
            Why(trial), modes_advice);
    }
    if (AnswerTo("umask") == "other") {
      Doubt("new files do not get the rights that the umask leaves", Why("umask"),
            "look for a default ACL of the directory (getfacl), or a mask of the server");
    }
    if (AnswerTo("no-rights") == "yes" && user != 0) {
      Fault(absl::StrCat("user ", user, " opens a file of mode 0000"), "", modes_advice);
    }
    if (!as_root_) return;
    if (AnswerTo("give-away") == "yes") {
      Doubt(absl::StrCat("user ", user, " may give its files to others"), "",
            "expect that users get round quotas; other file systems let only root do it");
    }
    const std::string next =
        context_.peers.size() > 1 ? " of the same user on another client" : " of its own";
    if (const std::string& read = AnswerTo("read-file"); !read.empty() && read != "yes") {
      Fault(absl::StrCat("user ", user, " cannot read a file", next), Why("read-file"),
            "use the same users and idmapping on all clients");
    }
    if (AnswerTo("other read-file") == "yes") {
      Fault(absl::StrCat("user ", kOtherTrialUserId, " reads a file of mode 0600 of user ", user), "",
            modes_advice);
    }
    if (IsMade("make-sticky") && AnswerTo("leave-in-sticky") == "yes" &&
        AnswerTo("other remove-from-sticky") == "yes") {
      Fault(absl::StrCat("user ", kOtherTrialUserId, " removes a file of user ", user,
                         " from a sticky directory"),
            "", modes_advice);
    }
  }
  bool IsMade(const char* trial) const { return AnswerTo(absl::StrCat("root ", trial)) == "yes"; }

  const CheckContext& context_;
  const bool as_root_;
  Outcome& outcome_;
  uint32_t worker_ = 0;
  const Answers* answers_ = nullptr;
  size_t judged_ = 0;  // peers
  std::set<std::string> faulty_;
  bool no_owners_ = false;  // users are one, which is no fault there
  UserVerdict verdict_;
};

}  // namespace

absl::StatusOr<UserVerdict> TryUsers(CheckContext& context, uint32_t directory,
                                     const std::map<uint32_t, OwnerSeen>& own, Outcome& outcome) {
  bool as_root = true;
  for (const auto& [worker, seen] : own) as_root &= seen.process_user == 0;
  UserTrials trials(context, directory, as_root);
  IOBENCH_RETURN_IF_ERROR(trials.Do({"make-shared", "make-sticky", "give-away"}, 0, 0, "root "));
  IOBENCH_RETURN_IF_ERROR(trials.Do(
      {"own-file", "modes", "no-rights", "umask", "give-away", "inherit", "leave-in-sticky"}, kTrialUserId));
  const std::string refused = trials.refused();
  if (as_root && refused.empty()) {
    // On the files of its own, and on those of another client.
    IOBENCH_RETURN_IF_ERROR(trials.Do({"read-file"}, kOtherTrialUserId, 0, "near "));
    IOBENCH_RETURN_IF_ERROR(trials.Do({"read-file"}, kTrialUserId, 1));
    IOBENCH_RETURN_IF_ERROR(trials.Do({"read-file", "remove-from-sticky"}, kOtherTrialUserId, 1, "other "));
  }
  IOBENCH_RETURN_IF_ERROR(trials.Do({"clear-owners"}, 0, 0, "root "));
  UserVerdict verdict;
  if (refused.empty()) {
    UserJudge judge(context, as_root, outcome);
    for (const auto& [worker, answers] : trials.answers()) {
      if (const auto seen = own.find(worker); seen != own.end())
        judge.JudgeOwners(worker, answers, seen->second);
    }
    const bool owners_count = judge.owners_count();
    for (const auto& [worker, answers] : trials.answers()) {
      const auto seen = own.find(worker);
      if (seen != own.end() && owners_count) judge.JudgeModes(worker, answers, seen->second);
    }
    verdict = judge.Take();
    if (!as_root) verdict.not_checked = "other users, because the workers are not root";
  } else {
    verdict.not_checked = absl::StrCat("ordinary users: ", Printable(refused));
  }
  return verdict;
}

}  // namespace iobench
