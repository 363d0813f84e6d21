//===- plugin.cpp - the table of functions that JAX loads -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "client.h"
#include "extensions.h"
#include "functions.h"
#include "profiler.h"

#include "ttmlir-c/Registration.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>

namespace tt::pjrt {

void errorGetCode(PJRT_Error_GetCode_Args &args) { args.code = args.error->code; }

void pluginInitialize(PJRT_Plugin_Initialize_Args &) {}

namespace {

std::array<int64_t, 3> stablehloVersion(bool newest) {
  std::array<int64_t, 3> version{};
  ttmlirPortableArtifactVersion(
      newest,
      [](MlirStringRef text, void *to) {
        auto &numbers = *static_cast<std::array<int64_t, 3> *>(to);
        std::sscanf(std::string(text.data, text.length).c_str(), "%" SCNd64 ".%" SCNd64 ".%" SCNd64, &numbers[0],
                    &numbers[1], &numbers[2]);
      },
      &version);
  return version;
}

} // namespace

void pluginAttributes(PJRT_Plugin_Attributes_Args &args) {
  // The versions of StableHLO that are read: JAX writes none newer.
  static const std::array<int64_t, 3> current = stablehloVersion(/*newest=*/true), oldest = stablehloVersion(false);
  static const auto row = [](std::string_view name, const std::array<int64_t, 3> &version) {
    PJRT_NamedValue value{};
    value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    value.name = name.data(), value.name_size = name.size();
    value.type = PJRT_NamedValue_kInt64List;
    value.int64_array_value = version.data(), value.value_size = version.size();
    return value;
  };
  static const std::array attributes{row("stablehlo_current_version", current),
                                     row("stablehlo_minimum_version", oldest)};
  args.attributes = attributes.data(), args.num_attributes = attributes.size();
}

namespace {

void errorDestroy(PJRT_Error_Destroy_Args *args) { delete args->error; }
void errorMessage(PJRT_Error_Message_Args *args) { give(args->error->message, args->message, args->message_size); }

Api makeApi() {
  Api api{};
  api.struct_size = sizeof(Api);
  api.extension_start = arrayExtensions(profilerExtension());
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = apiMinor;
  api.PJRT_Error_Destroy = errorDestroy;
  api.PJRT_Error_Message = errorMessage;
#define X(name, function) api.name = guarded<#name, name##_Args_STRUCT_SIZE, &function>;
  TT_PJRT_FUNCTIONS(X)
#undef X
#define X(name) api.name = &missing<#name, name##_Args>;
  TT_PJRT_MISSING(X)
#undef X
  addLaterFunctions(api);
  return api;
}

} // namespace
} // namespace tt::pjrt

extern "C" __attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi() {
  static const tt::pjrt::Api api = tt::pjrt::makeApi();
  return &api;
}
