// Where the bytes that a phase read came from: a server, a disk, or the clients' own memory.
#ifndef COORDINATOR_ANALYSIS_PHASE_PHASE_READS_H_
#define COORDINATOR_ANALYSIS_PHASE_PHASE_READS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coordinator/analysis/phase/phase_view.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Returns the sources of what the lanes of a client read in their timed regions, warm-up included. mountstats covers
// lanes on NFS, /proc/self/io those on local file systems; what libnfs reads comes from its server. A process is also
// charged for what it reads over NFS, so beside NFS nothing is known of the local ones. Bytes that no counter covers
// are `unknown`, and so is what storage that compresses delivered less of. Holes are taken to be spread evenly. nullopt: the lanes read nothing, or with an engine that moves nothing. `host`: see ClientDelta.
std::optional<v1::ReadSources> ReadSourcesOf(const PhaseView& view, const v1::HostDelta& host,
                                             const ClientPart& part);

// Returns the lanes of a client that read what no counter covers, except from file systems in memory.
std::vector<const AlignedLane*> UncountedReaders(const PhaseView& view, const v1::HostDelta& host,
                                                 const ClientPart& part);

// Fills read_sources of the phase and its clients. REQUIRES: the clients are filled, with their host_delta.
void FillReads(const PhaseView& view, v1::PhaseReport& report);

// Divides the server_bytes of the phase's read_sources into what came from the servers' memory and from their disks. Does
// nothing unless samplers cover all of the phase and all of the servers, as far as their NFS counters show, and the
// disks that they see are where the data are: not on servers that fetch them over the network themselves. What the disks
// delivered for others counts, too, so the part from memory is a lower bound. REQUIRES: read_sources and servers are
// filled.
void FillServerReads(const PhaseView& view, v1::PhaseReport& report);

// Returns the total size of the files that lanes use; lanes that use the same files count once. 0: the phase works on
// names, or on nothing.
uint64_t FileBytesOf(const PhaseView& view, std::span<const AlignedLane* const> lanes);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_PHASE_READS_H_
