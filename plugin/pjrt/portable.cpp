//===- portable.cpp - modules as JAX sends them ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "portable.h"
#include "common.h"

#include <atomic>

namespace {

/// Makes text of a portable artefact: calls `done` with it, or with a message when `failed`.
using Done = void (*)(const char *text, size_t size, bool failed, void *to);
using Reader = void (*)(const char *bytes, size_t size, Done done, void *to);
std::atomic<Reader> reader;

bool isPortable(std::string_view code) {
  constexpr std::string_view magic = "ML\xefR", producer = "StableHLO_v";
  // The magic number, one byte of version, and the producer.
  return code.starts_with(magic) && code.size() > 5 && code.substr(5).starts_with(producer);
}

} // namespace

/// The Python package gives jaxlib's reader of StableHLO's versions.
extern "C" __attribute__((visibility("default"))) void ttPjrtSetArtifactReader(Reader given) { reader = given; }

namespace tt::pjrt {

MlirModule parseModule(MlirContext context, std::string_view code) {
  std::string text;
  if (isPortable(code)) {
    const Reader read = reader;
    if (!read)
      unimplemented("the program is a portable artefact of StableHLO, and there is no reader for it: import "
                    "pjrt_plugin_tt, or give the program as text");
    struct Result {
      std::string text;
      bool failed = false;
    } result;
    read(
        code.data(), code.size(),
        [](const char *made, size_t size, bool failed, void *to) {
          *static_cast<Result *>(to) = {std::string(made, size), failed};
        },
        &result);
    if (result.failed)
      invalid("the portable artefact of StableHLO cannot be read: " + result.text);
    text = std::move(result.text);
  } else
    text = code; // ends in a zero, which MLIR's parser of text wants
  return mlirModuleCreateParse(context, mlirStringRefCreate(text.c_str(), text.size()));
}

} // namespace tt::pjrt
