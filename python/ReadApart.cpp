//===- ReadApart.cpp - a process that reads bytecode nobody vouches for ---===//
// SPDX-License-Identifier: Apache-2.0
//
// MLIR's reader trusts its input: damaged bytes can end or hang the process that reads them. python/ttmlir/apart.py
// keeps this process, sends it bytes, and receives bytecode that was read, verified and written again, or an error.
//
// A request is flags (1 byte) and a length (8 bytes, little-endian) with that many bytes; an answer is one byte, 1 for
// a module and 0 for an error, and a length with that many bytes. The process ends with its input.
//
//===----------------------------------------------------------------------===//

#include "ttmlir-c/Registration.h"

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace {
constexpr uint8_t allowsUnregistered = 1;
constexpr size_t alignment = 4096; // of resources, at most

bool readAll(void *to, size_t size) {
  for (auto *at = static_cast<char *>(to); size > 0;) {
    const ssize_t count = ::read(STDIN_FILENO, at, size);
    if (count <= 0)
      return false;
    at += count, size -= static_cast<size_t>(count);
  }
  return true;
}

void writeAll(const void *from, size_t size) {
  for (const auto *at = static_cast<const char *>(from); size > 0;) {
    const ssize_t count = ::write(STDOUT_FILENO, at, size);
    if (count <= 0)
      std::_Exit(1);
    at += count, size -= static_cast<size_t>(count);
  }
}

/// Bounds the allocations of a request: a module of several times its bytes, and the memory of the process itself.
void limitMemory(uint64_t bytes) {
  rlimit limit;
  ::getrlimit(RLIMIT_AS, &limit);
  const rlim_t requested = (rlim_t(4) << 30) + 64 * rlim_t(bytes);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? requested : std::min(requested, limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
}

void append(MlirStringRef text, void *to) { static_cast<std::string *>(to)->append(text.data, text.length); }

MlirLogicalResult report(MlirDiagnostic diagnostic, void *to) {
  auto &text = *static_cast<std::string *>(to);
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  text += text.empty() ? "at " : "\nat ";
  mlirLocationPrint(mlirDiagnosticGetLocation(diagnostic), append, to);
  text += ": ";
  mlirDiagnosticPrint(diagnostic, append, to);
  return mlirLogicalResultSuccess();
}

/// Whether the bytes are a module; `answer` is then its bytecode, and otherwise the error.
bool read(MlirDialectRegistry registry, MlirStringRef bytes, uint8_t flags, std::string &answer) {
  const MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirContextSetAllowUnregisteredDialects(context, flags & allowsUnregistered);
  std::string errors;
  mlirContextAttachDiagnosticHandler(context, report, &errors, nullptr);
  const MlirModule module = ttmlirIsPortableArtifact(bytes) ? ttmlirDeserializePortableArtifact(context, bytes)
                                                            : mlirModuleCreateParse(context, bytes);
  // MLIR's reader continues after some errors, with invalid attributes.
  const bool isRead = !mlirModuleIsNull(module) && errors.empty();
  if (isRead)
    mlirOperationWriteBytecode(mlirModuleGetOperation(module), append, &answer);
  else
    answer = errors.empty() ? "the bytes are no module" : errors;
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return isRead;
}
} // namespace

int main() {
  const rlimit noCore = {0, 0};
  ::setrlimit(RLIMIT_CORE, &noCore);
  const MlirDialectRegistry registry = mlirDialectRegistryCreate();
  ttmlirRegisterAllDialects(registry);
  uint8_t flags = 0;
  uint64_t size = 0;
  while (readAll(&flags, sizeof(flags)) && readAll(&size, sizeof(size))) {
    limitMemory(size);
    // One byte more: text ends in a zero.
    const size_t room = (size + 1 + alignment - 1) / alignment * alignment;
    const std::unique_ptr<char, decltype(&std::free)> bytes(static_cast<char *>(std::aligned_alloc(alignment, room)),
                                                            std::free);
    if (!bytes || !readAll(bytes.get(), size))
      return 1;
    bytes.get()[size] = '\0';
    std::string answer;
    const uint8_t isRead = read(registry, mlirStringRefCreate(bytes.get(), size), flags, answer);
    const uint64_t length = answer.size();
    writeAll(&isRead, sizeof(isRead));
    writeAll(&length, sizeof(length));
    writeAll(answer.data(), answer.size());
  }
  return 0;
}
