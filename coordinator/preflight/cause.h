// Causes that have nothing to do with how a file system behaves: the mount, the export, rights and space make calls fail
// with an errno that says so. One table says what each errno means, which check of validate answers for it, and what to
// do. Pure.
#ifndef COORDINATOR_PREFLIGHT_CAUSE_H_
#define COORDINATOR_PREFLIGHT_CAUSE_H_

#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// A row of the table.
struct Cause {
  int error;
  const char* check;    // of validate, that answers for it
  const char* meaning;  // one clause
  const char* on_nfs;   // what to do
  const char* elsewhere;
  // What to do if it comes after a fault that a hook has made: then the fault is its cause, and `failover` answers for
  // it. Null: as without a fault.
  const char* after_fault = nullptr;
  bool stops = false;  // nothing else can be checked while it lasts
};

// Null: the errno may be an answer of the file system, which a check has to judge.
const Cause* CauseOf(int error);

// "EROFS: it cannot be written there". With what statfs told where space is the cause: bytes and inodes.
std::string MeaningOf(const Cause& cause, const v1::TargetFacts& seen);
// What to do, and on which side: the client's mount, or the server's export and file system. `seen`: as the client sees
// the directory.
std::string AdviceOn(const Cause& cause, const v1::TargetFacts& seen);

// "12 MiB of 1 GiB and 0 of 64 inodes are free". Empty: unknown.
std::string FreeText(const v1::Space& space);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_CAUSE_H_
