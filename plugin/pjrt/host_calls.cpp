//===- host_calls.cpp - calls of Python functions by programs --------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Python gives one function, which finds the others by their names.
//
//===----------------------------------------------------------------------===//

#include "common.h"
#include "tt/ttnn/host_call.h"

#include <vector>

extern "C" {
/// An operand or result as Python sees it.
struct TtPjrtArray {
  int32_t dtype; // tt::DataType
  void *data;
  size_t bytes;
};
using TtPjrtFail = void (*)(const char *text, size_t size, void *to);
/// Calls `fail` once when the function raises.
using TtPjrtHostFunction = void (*)(const char *name, size_t inCount, const TtPjrtArray *ins, size_t outCount,
                                    const TtPjrtArray *outs, TtPjrtFail fail, void *to);
__attribute__((visibility("default"))) void ttPjrtSetHostFunction(TtPjrtHostFunction function);
}

namespace tt::pjrt {
namespace {

std::vector<TtPjrtArray> arrays(std::span<const ttnn::HostArray> from) {
  std::vector<TtPjrtArray> to;
  for (const ttnn::HostArray &array : from)
    to.push_back({static_cast<int32_t>(array.spec->dtype), array.data, array.spec->bytes()});
  return to;
}

} // namespace
} // namespace tt::pjrt

void ttPjrtSetHostFunction(TtPjrtHostFunction function) {
  tt::ttnn::setHostCaller([function](const std::string &name, std::span<const tt::ttnn::HostArray> ins,
                                     std::span<const tt::ttnn::HostArray> outs) {
    struct Failure {
      bool failed = false;
      std::string text;
    } failure;
    const std::vector<TtPjrtArray> given = tt::pjrt::arrays(ins), wanted = tt::pjrt::arrays(outs);
    function(
        name.c_str(), given.size(), given.data(), wanted.size(), wanted.data(),
        [](const char *text, size_t size, void *to) {
          auto &failure = *static_cast<Failure *>(to);
          failure.failed = true;
          failure.text.assign(text, size);
        },
        &failure);
    if (failure.failed)
      throw tt::pjrt::PluginError(PJRT_Error_Code_INTERNAL, failure.text);
  });
}
