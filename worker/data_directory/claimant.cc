#include "worker/data_directory/claimant.h"

#include <optional>

#include "common/host_identity.h"

namespace iobench {

void SignClaim(v1::Manifest& manifest) {
  const std::optional<ProcessIdentity> self = OwnIdentity();
  if (!self) return;
  manifest.set_boot_id(self->place);
  manifest.set_pid(self->pid);
  manifest.set_process_start_ticks(self->start_ticks);
}

v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest) {
  switch (StateOf(
      {.place = manifest.boot_id(), .pid = manifest.pid(), .start_ticks = manifest.process_start_ticks()})) {
    case ProcessState::kAlive:
      return v1::TargetFacts::ALIVE;
    case ProcessState::kGone:
      return v1::TargetFacts::GONE;
    case ProcessState::kOutOfSight:
      break;
  }
  return v1::TargetFacts::OUT_OF_SIGHT;
}

}  // namespace iobench
