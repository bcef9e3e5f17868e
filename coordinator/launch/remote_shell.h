// What is run on another host, and how: the commands that start workers there, and the remote shell that carries them.
#ifndef COORDINATOR_LAUNCH_REMOTE_SHELL_H_
#define COORDINATOR_LAUNCH_REMOTE_SHELL_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"

namespace iobench {

// InvalidArgument: `launcher` has an unknown {word}, or a host has a port that it cannot pass on, or a user although
// srun starts the workers; one line for each fault. `launcher`: see ShellCommand.
absl::Status CheckLauncher(const std::string& launcher, std::span<const HostEntry> hosts);

// Returns the launcher that starts processes on other hosts: `asked_for` (--launcher), or $RSH, or ssh.
std::string LauncherFor(const std::string& asked_for);

// NotFound, PermissionDenied: this host does not have the launcher's program, or cannot execute it. A program that only a
// shell can name ("$HOME/bin/rsh") is taken to exist.
absl::Status CheckLauncherExists(const std::string& launcher);

// Returns what /bin/sh runs on this host to run `command`, a command in shell syntax, on `host`. `launcher` is a
// command in shell syntax in which {host}, {user}, {port} and {command} are replaced by one word each. Without {user}
// the user is part of the host ("user@node7"), without {host} the host is added, and without {command} the command is
// added last. An ssh gets the port, too, and options with which it neither waits for minutes for an unreachable host
// nor asks for a password; the user's own options take precedence. An srun is told its host by an option, and to start
// one task there; it runs programs and no shell commands, so it gets `sh -c`. An empty {user} is the user of this
// process, an empty {port} is 22. Pure, but for the user's name.
std::string ShellCommand(const std::string& launcher, const HostEntry& host, const std::string& command);
bool IsSrun(const std::string& launcher);

// What all workers of a run are told on their command lines.
struct WorkerArguments {
  std::string join_address;    // the coordinator's address as seen by clients
  double join_timeout_s = 10;  // for a worker to connect; the coordinator is already listening
  bool own_paths =
      true;  // each worker of a client list tests its entry's path; false: the plan has the paths
  bool insecure = false;          // nothing protects the connection
  bool credentials_piped = true;  // the worker's credentials come on its standard input
  std::string rights = {};  // --root … --allow …, in shell syntax, with a blank before it; empty: none
  std::string server = {};  // the same for samplers: --server-workers … --root …
};

// Returns the command, in the client's shell syntax with all names quoted, that starts the worker of a client list's
// line. `place`: the worker's position in the list, from 1. Pure.
std::string WorkerCommand(const ClientEntry& entry, uint32_t place, const WorkerArguments& words);

// Returns the command that starts the workers of a host, which have positions from `place`. `program`: tried first;
// if the host has no such file, its shell looks for cluster-iobench in its PATH. Pure.
std::string HostCommand(const HostEntry& host, uint32_t place, const std::string& program,
                        const WorkerArguments& words);

// A program that is shipped to hosts. It is kept there as
// ${XDG_CACHE_HOME:-~/.cache}/cluster-iobench/VERSION/cluster-iobench-worker.SHA256.
struct ShippedProgram {
  std::string file;          // on this host
  std::string sha256;        // of its contents
  std::string version;       // of the program
  std::string architecture;  // as printed by uname -m
};

// Printed by the commands below: the program must be copied first, and it has been copied.
inline constexpr char kCopyNeeded[] = "cluster-iobench: copy needed";
inline constexpr char kCopied[] = "cluster-iobench: copied";

// Like HostCommand, with the host's copy of `program`. Prints kCopyNeeded and starts nothing if there is no copy with
// this hash in directories that only the host's user can change. These commands need sh, sha256sum, cut, mktemp, mkdir, chmod,
// ln, mv, rm, ls and id on the host.
std::string ShippedCommand(const HostEntry& host, uint32_t place, const ShippedProgram& program,
                           const WorkerArguments& words);
// Copies standard input to where ShippedCommand looks for the program, whole or not at all, and prints kCopied. A whole
// copy that is there by then stays the same file.
std::string CopyCommand(const ShippedProgram& program);

// Returns the command that cleans these directories on a host: `program`, or else cluster-iobench of the host's PATH,
// or else the copy of `copy` that --copy-binary has left there, checked like that of ShippedCommand. Null: no copy. Pure.
std::string CleanCommand(std::span<const std::string> directories, bool force, const std::string& program,
                         const ShippedProgram* copy);
// Returns the command that removes the copies of --copy-binary, of all versions, and prints how many; files of other
// names stay. Workers that run from them go on. Pure.
std::string RemoveCopiesCommand();

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_REMOTE_SHELL_H_
