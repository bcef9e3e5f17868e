#include "worker/data_directory/claimant.h"

#include <optional>

#include "common/host_identity.h"

namespace iobench {
namespace {

ProcessIdentity ClaimantOf(const v1::Manifest& manifest) {
  return {.place = manifest.boot_id(), .pid = manifest.pid(), .start_ticks = manifest.process_start_ticks()};
}

ProcessIdentity CoordinatorOf(const v1::Manifest& manifest) {
  return {.place = manifest.coordinator_boot_id(),
          .pid = manifest.coordinator_pid(),
          .start_ticks = manifest.coordinator_start_ticks()};
}

}  // namespace

void SignClaim(v1::Manifest& manifest) {
  const std::optional<ProcessIdentity> self = OwnIdentity();
  if (!self) return;
  manifest.set_boot_id(self->place);
  manifest.set_pid(self->pid);
  manifest.set_process_start_ticks(self->start_ticks);
}

bool IsSignedHere(const v1::Manifest& manifest) {
  const std::optional<ProcessIdentity> self = OwnIdentity();
  return self && self->place == manifest.boot_id() && self->pid == manifest.pid() &&
         self->start_ticks == manifest.process_start_ticks();
}

// Only the first processes of a boot have begun at 0.
void Disown(v1::Manifest& manifest) {
  manifest.set_process_start_ticks(0);
}

v1::TargetFacts::Owner OwnerOf(const v1::Manifest& manifest) {
  const ProcessState claimant = StateOf(ClaimantOf(manifest));
  const ProcessState coordinator = StateOf(CoordinatorOf(manifest));
  if (claimant == ProcessState::kAlive || coordinator == ProcessState::kAlive) return v1::TargetFacts::ALIVE;
  const ProcessState deciding = manifest.coordinator_boot_id().empty() ? claimant : coordinator;
  return deciding == ProcessState::kGone ? v1::TargetFacts::GONE : v1::TargetFacts::OUT_OF_SIGHT;
}

int64_t AlivePidOf(const v1::Manifest& manifest) {
  const bool claimant = StateOf(ClaimantOf(manifest)) == ProcessState::kAlive;
  return claimant ? manifest.pid() : manifest.coordinator_pid();
}

}  // namespace iobench
