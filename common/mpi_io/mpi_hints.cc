#include "common/mpi_io/mpi_hints.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/text/near_names.h"

namespace iobench {
namespace {

constexpr std::string_view kKeys[] = {
    // reserved by the MPI standard
    "access_style", "cb_block_size", "cb_buffer_size", "cb_nodes", "chunked", "chunked_item", "chunked_size",
    "collective_buffering", "file_perm", "filename", "io_node_list", "nb_proc", "num_io_nodes", "striping_factor",
    "striping_unit",
    // ROMIO
    "cb_config_list", "direct_io", "direct_read", "direct_write", "ind_rd_buffer_size", "ind_wr_buffer_size",
    "romio_cb_alltoall", "romio_cb_ds_threshold", "romio_cb_fr_alignment", "romio_cb_fr_types", "romio_cb_pfr",
    "romio_cb_read", "romio_cb_write", "romio_ds_read", "romio_ds_write", "romio_lustre_co_ratio",
    "romio_lustre_coll_threshold", "romio_lustre_ds_in_coll", "romio_min_fdomain_size", "romio_no_indep_rw",
    "romio_synchronized_flush", "romio_visibility_immediate", "start_iodevice", "striping_layout",
    // OMPIO
    "num_aggregators",
};

// Those of the keys above that have a whole number. -1 is one: ROMIO's for all servers of a Lustre.
constexpr std::string_view kNumberKeys[] = {
    "cb_block_size", "cb_buffer_size", "cb_nodes", "ind_rd_buffer_size", "ind_wr_buffer_size", "nb_proc", "num_aggregators",
    "num_io_nodes", "romio_cb_ds_threshold", "romio_cb_fr_alignment", "romio_lustre_co_ratio", "romio_lustre_coll_threshold",
    "romio_min_fdomain_size", "start_iodevice", "striping_factor", "striping_unit",
};

// Keys of vendors and file systems, by how they begin.
constexpr std::string_view kPrefixes[] = {"bgl_",   "cray_",  "daos_",  "ibm_",    "impi_",
                                          "mpich_", "panfs_", "pvfs2_", "unifyfs_"};

bool IsWholeNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

absl::StatusOr<std::pair<std::string_view, std::string_view>> ParseMpiHint(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the hint \"", std::string(text), "\" (--mpi-hint, mpi_io.hints): write it as KEY=VALUE, such as cb_nodes=4"));
  }
  const std::string_view key = text.substr(0, equals);
  const bool known = std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys) ||
                     std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [key](std::string_view prefix) {
                       return key.size() > prefix.size() && key.starts_with(prefix);
                     });
  if (!known) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no MPI library has the hint \"", std::string(key), "\" (--mpi-hint, mpi_io.hints), and MPI would ignore it",
        DidYouMean(key, {kKeys, kKeys + std::size(kKeys)})));
  }
  const std::string_view value = text.substr(equals + 1);
  const bool has_number = std::find(std::begin(kNumberKeys), std::end(kNumberKeys), key) != std::end(kNumberKeys);
  if (has_number && !IsWholeNumber(value)) {
    return absl::InvalidArgumentError(absl::StrCat("the hint \"", std::string(text), "\" (--mpi-hint, mpi_io.hints): ",
                                                   std::string(key), " has a whole number, without a unit"));
  }
  return std::pair(key, value);
}

absl::Status CheckMpiHints(std::span<const std::string> hints) {
  std::map<std::string_view, std::string_view> values;
  for (const std::string& text : hints) {
    const auto hint = ParseMpiHint(text);
    if (!hint.ok()) return hint.status();
    const auto [earlier, is_new] = values.insert(*hint);
    if (is_new) continue;
    return absl::InvalidArgumentError(absl::StrCat("two hints for ", std::string(hint->first), " (--mpi-hint, mpi_io.hints), ",
                                                   std::string(earlier->second), " and ", std::string(hint->second),
                                                   ": MPI would use only one, so give only one"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
