// An NFSv3 server in this process with its files in memory. It counts the calls it receives and misbehaves as a test
// requests, so that a test can check every single call on the network.
#ifndef TESTS_SUPPORT_SCRIPTED_NFS_SERVER_H_
#define TESTS_SUPPORT_SCRIPTED_NFS_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/mutex.h"

namespace iobench {

enum class NfsProc : uint32_t {
  kNull = 0,
  kGetattr = 1,
  kLookup = 3,
  kAccess = 4,
  kRead = 6,
  kWrite = 7,
  kCreate = 8,
  kFsinfo = 19,
  kCommit = 21,
};

// Listens on a free port on 127.0.0.1, for MOUNT and NFS. Exports only /export, which contains the directory
// /export/dir. Every member may be called at any time; settings apply to later calls.
class ScriptedNfsServer {
 public:
  ScriptedNfsServer();
  ~ScriptedNfsServer();
  ScriptedNfsServer(const ScriptedNfsServer&) = delete;
  ScriptedNfsServer& operator=(const ScriptedNfsServer&) = delete;

  // nfs://127.0.0.1/PATH?nfsport=…
  std::string Url(const std::string& path = "/export/dir") const;

  // ---- files of /export/dir
  void Put(const std::string& name, const std::string& content);
  void AddSymlink(const std::string& name);
  std::string ContentOf(const std::string& name);
  std::optional<std::string> CommittedContentOf(const std::string& name);  // at the last COMMIT

  // ---- what was received
  int CountOf(NfsProc proc);
  void ForgetCounts();
  int MostInFlight(NfsProc proc);                 // answered together, with AnswerTogether
  std::vector<uint32_t> StabilitiesAsked();       // of each WRITE
  std::vector<uint32_t> LengthsOf(NfsProc proc);  // of each READ or WRITE, as requested

  // ---- misbehaviour
  void SetMaxTransfer(uint32_t bytes);  // limits rtmax and wtmax; call it before a connection is made
  void AnswerAtMost(uint32_t bytes);       // limits each READ or WRITE; 0: no limit
  void AnswerTogether(NfsProc proc, int count);   // delays replies until this many calls are waiting
  void FailAll(NfsProc proc, uint32_t nfsstat3);  // 0: stop failing
  void HoldAtMost(uint64_t bytes_of_all_files, uint32_t nfsstat3);  // beyond it, WRITE returns nfsstat3
  void Commits(uint32_t stability);  // the stability in WRITE's reply, whatever was requested
  void Restart();                    // the write verifier changes, connections stay
  void AllowAccess(uint32_t mask);
  void LeaveOutAttributes();      // in LOOKUP and CREATE, and CREATE's handle
  void FallSilent(NfsProc proc);  // accepts these calls without a reply
  void CloseConnections();

 private:
  struct Node {
    uint32_t type = 1;  // ftype3
    std::string content = {};
    std::string committed = {};
    std::map<std::string, uint64_t> entries = {};
  };
  struct Connection {
    int fd = -1;
    std::string received = {};
  };
  struct Held {
    int fd = -1;
    std::string answer;
  };
  struct Call;
  class Xdr;

  void Serve();
  bool Receive(Connection& connection);
  void Answer(Connection& connection, const std::string& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Mount(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Nfs(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Read(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Create(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lookup(Call& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteAttributes(Xdr& out, uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t AddNode(const std::string& name, Node node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Node& NodeOf(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  int listener_ = -1;
  int wake_[2] = {-1, -1};  // a pipe: wakes the thread to check for new settings
  uint16_t port_ = 0;
  std::thread thread_;

  Mutex mutex_;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  bool closes_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<uint64_t, Node> nodes_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 3;
  std::map<uint32_t, int> counts_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, int> max_together_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> stabilities_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, std::vector<uint32_t>> lengths_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, uint32_t> failures_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, int> together_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, std::vector<Held>> held_ ABSL_GUARDED_BY(mutex_);
  std::map<uint32_t, bool> silent_ ABSL_GUARDED_BY(mutex_);
  uint32_t transfer_max_ ABSL_GUARDED_BY(mutex_) = 1 << 20;
  uint32_t answer_at_most_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t capacity_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  uint32_t full_status_ ABSL_GUARDED_BY(mutex_) = 28;
  std::optional<uint32_t> commits_ ABSL_GUARDED_BY(mutex_);
  uint64_t verifier_ ABSL_GUARDED_BY(mutex_) = 1;
  uint32_t access_ ABSL_GUARDED_BY(mutex_) = 0x3f;
  bool attributes_ ABSL_GUARDED_BY(mutex_) = true;
};

// While it exists, the server defers these calls (NFS3ERR_JUKEBOX), but only until it has seen the second one.
class Deferring {
 public:
  Deferring(ScriptedNfsServer& server, NfsProc proc) {
    server.ForgetCounts();
    server.FailAll(proc, 10008);
    recall_ = std::thread([this, &server, proc] {
      while (!ends_ && server.CountOf(proc) < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      server.FailAll(proc, 0);
    });
  }
  ~Deferring() {
    ends_ = true;
    recall_.join();
  }
  Deferring(const Deferring&) = delete;
  Deferring& operator=(const Deferring&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::thread recall_;
};

}  // namespace iobench

#endif  // TESTS_SUPPORT_SCRIPTED_NFS_SERVER_H_
