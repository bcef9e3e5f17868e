#include "worker/data_directory/manifest.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const v1::KeptPasses& passes) {
  const v1::WrittenPass& pass = passes.pass();
  Json json;
  json["operation"] = pass.operation();
  json["record_bytes"] = pass.record_bytes();
  json["stride_records"] = pass.stride_records();
  json["bytes_per_lane"] = pass.bytes_per_lane();
  json["seed"] = pass.seed();
  json["phase"] = pass.phase();
  json["low"] = passes.low();
  json["high"] = passes.high();
  json["lanes"] = passes.lanes();
  json["passes"] = passes.passes();
  json["ops"] = passes.ops();
  return json;
}

// Throws Json::exception.
void PassesFrom(const Json& json, v1::KeptPasses& passes) {
  v1::WrittenPass& pass = *passes.mutable_pass();
  pass.set_operation(json.at("operation").get<std::string>());
  pass.set_record_bytes(json.at("record_bytes").get<uint64_t>());
  pass.set_stride_records(json.at("stride_records").get<uint32_t>());
  pass.set_bytes_per_lane(json.at("bytes_per_lane").get<uint64_t>());
  pass.set_seed(json.at("seed").get<uint64_t>());
  pass.set_phase(json.at("phase").get<uint32_t>());
  for (const Json& each : json.at("low")) passes.add_low(each.get<uint32_t>());
  for (const Json& each : json.at("high")) passes.add_high(each.get<uint32_t>());
  for (const Json& each : json.at("lanes")) passes.add_lanes(each.get<uint32_t>());
  for (const Json& each : json.at("passes")) passes.add_passes(each.get<uint64_t>());
  for (const Json& each : json.at("ops")) passes.add_ops(each.get<uint64_t>());
}

}  // namespace

std::string ManifestToJson(const v1::Manifest& manifest) {
  Json json;
  json["program"] = manifest.program();
  json["format"] = manifest.format();
  json["run_id"] = manifest.run_id();
  json["state"] = manifest.state() == v1::Manifest::KEPT ? "kept" : "active";
  json["created_at"] = manifest.created_at();
  json["created_by"] = manifest.created_by();
  if (!manifest.boot_id().empty()) {
    json["process"]["boot_id"] = manifest.boot_id();
    json["process"]["pid"] = manifest.pid();
    json["process"]["start_ticks"] = manifest.process_start_ticks();
  }
  if (!manifest.coordinator_boot_id().empty()) {
    json["coordinator"]["boot_id"] = manifest.coordinator_boot_id();
    json["coordinator"]["pid"] = manifest.coordinator_pid();
    json["coordinator"]["start_ticks"] = manifest.coordinator_start_ticks();
  }
  json["workers"] = manifest.workers();
  json["lanes_per_worker"] = manifest.lanes_per_worker();
  json["targets"] = manifest.targets();
  json["files"]["bytes_per_lane"] = manifest.files().bytes_per_lane();
  json["files"]["files_per_lane"] = manifest.files().files_per_lane();
  json["files"]["shared_file"] = manifest.files().shared_file();
  json["files"]["interleaved"] = manifest.files().interleaved();
  if (manifest.files().has_block_bytes()) json["files"]["block_bytes"] = manifest.files().block_bytes();
  if (manifest.grown_bytes_per_lane() > 0) json["files"]["grown_bytes_per_lane"] = manifest.grown_bytes_per_lane();
  json["seed"] = manifest.seed();
  if (manifest.has_names()) {
    json["names"]["lanes"] = manifest.names().lanes();
    json["names"]["files_per_lane"] = manifest.names().files_per_lane();
    json["names"]["shared_file"] = manifest.names().shared_file();
    json["names"]["trees"] = manifest.names().trees();
    if (manifest.names().fill_lanes() > 0) json["names"]["fill_lanes"] = manifest.names().fill_lanes();
  }
  // The contents of the files. The rest of DataContent says how they were generated, which later runs need not know.
  Json& data = json["data"];
  data["kind"] = v1::DataContent::Kind_Name(manifest.data().kind());
  data["pattern_byte"] = manifest.data().pattern_byte();
  data["compress_percent"] = manifest.data().compress_percent();
  data["verify"] = manifest.data().verify();
  data["generation_low"] = manifest.generation_low();
  data["generation_high"] = manifest.generation_high();
  data["unit_bytes"] = manifest.unit_bytes();
  if (manifest.has_passes()) data["passes"] = ToJson(manifest.passes());
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<v1::Manifest> ManifestFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("program", Json()) != kManifestProgram) {
    return absl::InvalidArgumentError("not a cluster-iobench manifest");
  }
  if (json.value("format", Json()) != kManifestFormat) {
    return absl::UnimplementedError(absl::StrCat("its manifest has format ",
                                                 json.value("format", Json()).dump(),
                                                 ", which this version of cluster-iobench does not know"));
  }
  try {
    v1::Manifest manifest;
    manifest.set_program(kManifestProgram);
    manifest.set_format(kManifestFormat);
    manifest.set_run_id(json.at("run_id").get<uint64_t>());
    manifest.set_state(json.at("state").get<std::string>() == "kept" ? v1::Manifest::KEPT
                                                                     : v1::Manifest::ACTIVE);
    manifest.set_created_at(json.at("created_at").get<std::string>());
    manifest.set_created_by(json.at("created_by").get<std::string>());
    manifest.set_workers(json.at("workers").get<uint32_t>());
    manifest.set_lanes_per_worker(json.at("lanes_per_worker").get<uint32_t>());
    manifest.set_targets(json.at("targets").get<uint32_t>());
    const Json& files = json.at("files");
    manifest.mutable_files()->set_bytes_per_lane(files.at("bytes_per_lane").get<uint64_t>());
    manifest.mutable_files()->set_files_per_lane(files.at("files_per_lane").get<uint32_t>());
    manifest.mutable_files()->set_shared_file(files.at("shared_file").get<bool>());
    manifest.mutable_files()->set_interleaved(
        files.value("interleaved", false));  // missing in earlier versions
    if (files.contains("block_bytes")) manifest.mutable_files()->set_block_bytes(files.at("block_bytes").get<uint64_t>());
    manifest.set_grown_bytes_per_lane(files.value("grown_bytes_per_lane", uint64_t{0}));
    manifest.set_seed(json.at("seed").get<uint64_t>());
    if (json.contains("names")) {  // missing in earlier versions
      const Json& names = json.at("names");
      manifest.mutable_names()->set_lanes(names.at("lanes").get<uint32_t>());
      manifest.mutable_names()->set_files_per_lane(names.at("files_per_lane").get<uint32_t>());
      manifest.mutable_names()->set_shared_file(names.at("shared_file").get<bool>());
      manifest.mutable_names()->set_trees(names.at("trees").get<uint32_t>());
      manifest.mutable_names()->set_fill_lanes(names.value("fill_lanes", 0u));  // missing unless --fill
    }
    if (json.contains("process")) {  // missing in earlier versions
      const Json& process = json.at("process");
      manifest.set_boot_id(process.at("boot_id").get<std::string>());
      manifest.set_pid(process.at("pid").get<int64_t>());
      manifest.set_process_start_ticks(process.at("start_ticks").get<uint64_t>());
    }
    if (json.contains("coordinator")) {  // missing in earlier versions
      const Json& coordinator = json.at("coordinator");
      manifest.set_coordinator_boot_id(coordinator.at("boot_id").get<std::string>());
      manifest.set_coordinator_pid(coordinator.at("pid").get<int64_t>());
      manifest.set_coordinator_start_ticks(coordinator.at("start_ticks").get<uint64_t>());
    }
    if (!json.contains("data")) return manifest;  // from an earlier version: its data cannot be verified
    const Json& data = json.at("data");
    v1::DataContent::Kind kind = v1::DataContent::UNSPECIFIED;
    v1::DataContent::Kind_Parse(data.at("kind").get<std::string>(), &kind);
    manifest.mutable_data()->set_kind(kind);
    manifest.mutable_data()->set_pattern_byte(data.at("pattern_byte").get<uint32_t>());
    manifest.mutable_data()->set_compress_percent(data.at("compress_percent").get<uint32_t>());
    manifest.mutable_data()->set_verify(data.at("verify").get<bool>());
    manifest.set_generation_low(data.at("generation_low").get<uint32_t>());
    manifest.set_generation_high(data.at("generation_high").get<uint32_t>());
    manifest.set_unit_bytes(data.at("unit_bytes").get<uint32_t>());
    if (data.contains("passes")) PassesFrom(data.at("passes"), *manifest.mutable_passes());
    return manifest;
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("unreadable manifest: ", error.what()));
  }
}

}  // namespace iobench
