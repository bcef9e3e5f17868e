#include "worker/data_directory/manifest_file.h"

#include <string>
#include <string_view>

#include "common/status_util.h"
#include "worker/data_directory/data_names.h"
#include "worker/data_directory/manifest.h"

namespace iobench {
namespace {

constexpr size_t kMaxManifestBytes = 64 * 1024;

// Creates a temporary file with this text and returns its name.
absl::StatusOr<std::string> WriteTemporary(const Directory& data, std::string_view text) {
  std::string name = NewTemporaryName();
  IOBENCH_RETURN_IF_ERROR(WriteNewFile(data, name, text));
  return name;
}

}  // namespace

bool IsUnreadable(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status);
}

absl::StatusOr<v1::Manifest> ReadManifest(const Directory& data) {
  auto text = ReadSmallFile(data, kManifestName, kMaxManifestBytes);
  if (absl::IsFailedPrecondition(text.status())) return absl::InvalidArgumentError(text.status().message());
  if (!text.ok()) return text.status();
  auto manifest = ManifestFromJson(*text);
  if (!manifest.ok()) return Annotate(manifest.status(), data.PathOf(kManifestName));
  return manifest;
}

absl::Status CreateManifest(const Directory& data, const v1::Manifest& manifest) {
  const std::string json = ManifestToJson(manifest);
  IOBENCH_ASSIGN_OR_RETURN(const std::string temporary, WriteTemporary(data, json));
  const absl::Status linked = data.Link(temporary, kManifestName);
  data.Remove(temporary).IgnoreError();
  return absl::IsUnimplemented(linked) ? WriteNewFile(data, kManifestName, json) : linked;
}

absl::Status ReplaceManifest(const Directory& data, const v1::Manifest& manifest) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string temporary, WriteTemporary(data, ManifestToJson(manifest)));
  absl::Status renamed = data.Rename(temporary, kManifestName);
  if (!renamed.ok()) data.Remove(temporary).IgnoreError();
  return renamed;
}

}  // namespace iobench
