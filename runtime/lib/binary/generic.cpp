//===- generic.cpp - the kernels of ttnn.generic --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/generic.h"
#include "core/native_code.h"
#include "core/op.h"
#include "ttmlir/Target/TTNN/Schema.h"

namespace tt::runtime {

void forEachKernel(const ttnn::Attributes &generic,
                   const std::function<void(const ttnn::StructAttribute &, const std::string &)> &f) {
  const auto *program = generic.find<ttnn::StructAttribute>("program");
  const ttnn::Attribute *kernels = program ? ttnn::field(*program, "kernels") : nullptr;
  const auto *list = kernels ? std::get_if<ttnn::ListAttribute>(&kernels->value) : nullptr;
  if (list)
    for (const ttnn::Attribute &each : list->items)
      if (const auto *kernel = std::get_if<ttnn::StructAttribute>(&each.value))
        if (const ttnn::Attribute *source = ttnn::field(*kernel, "source"))
          if (const auto *text = std::get_if<std::string>(&source->value))
            f(*kernel, *text);
}

std::string kernelCodeOf(const ttnn::Attributes &generic) {
  std::string code = "kernels of ttnn.generic in C++\n";
  forEachKernel(generic, [&](const ttnn::StructAttribute &kernel, const std::string &source) {
    code += kernel.type + "," + std::to_string(source.size()) + "\n" + source;
  });
  return code;
}

void allowKernels(const ttnn::Attributes &generic) {
  const std::string code = kernelCodeOf(generic);
  const uint64_t hash = target::hashOfCode(code.data(), code.size());
  ttnn::addNativeCode(hash, std::as_bytes(std::span(code)), "the compiler of kernels");
  ttnn::allowNativeCode(hash);
}

bool areAllowed(const ttnn::Attributes &generic) {
  const std::string code = kernelCodeOf(generic);
  return ttnn::isNativeCodeAllowed(target::hashOfCode(code.data(), code.size()), std::as_bytes(std::span(code)));
}

void requireAllowed(const ttnn::Attributes &generic) {
  if (!areAllowed(generic))
    throw OpError("ttnn.generic: its kernels are C++ code, which can do anything that this process may once it is "
                  "compiled; load the file with allow_native (ttrt run --allow-native) if you trust where it comes "
                  "from");
}

} // namespace tt::runtime
