//===- native_code.cpp - machine code that comes with programs ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/native_code.h"
#include "tt/types.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace tt::ttnn {
namespace {

constexpr std::string_view prefix = "native:";
#if defined(__x86_64__)
constexpr std::string_view machine = "x86_64-";
#elif defined(__aarch64__)
constexpr std::string_view machine = "aarch64-";
#else
constexpr std::string_view machine = "?";
#endif

struct Code {
  std::vector<std::byte> object;
  std::string triple;
  bool isAllowed = false;
  void *handle = nullptr; // stays open: functions may run as long as the process does
};
struct Table {
  std::mutex mutex;
  std::map<uint64_t, Code> codes;
};
Table &table() {
  static Table *created = new Table; // outlives threads that still run at exit
  return *created;
}

std::string hex(uint64_t hash) {
  char text[17] = {};
  std::to_chars(text, text + 16, hash, 16);
  return text;
}

std::string listed(std::span<const uint64_t> bytes) {
  std::string text;
  for (uint64_t each : bytes)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text;
}

/// The system's loader reads files only: this is one in memory.
void *load(const Code &code) {
  const int file = ::memfd_create("native-code", MFD_CLOEXEC);
  if (file < 0)
    throw OpError("native code cannot be loaded: no memory for it");
  const std::byte *from = code.object.data();
  for (size_t left = code.object.size(); left != 0;) {
    const ssize_t written = ::write(file, from, left);
    if (written <= 0) {
      ::close(file);
      throw OpError("native code cannot be loaded: no memory for its " + std::to_string(code.object.size()) + " bytes");
    }
    from += written;
    left -= static_cast<size_t>(written);
  }
  void *handle = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  // The loader knows libraries by their path: this path stays in use as long as the library.
  if (handle)
    return handle;
  const char *error = ::dlerror();
  const std::string message = error ? error : "";
  ::close(file);
  throw OpError("native code cannot be loaded: " + message);
}

} // namespace

void addNativeCode(uint64_t hash, std::span<const std::byte> object, std::string triple) {
  std::lock_guard lock(table().mutex);
  const auto [found, isNew] = table().codes.try_emplace(hash);
  if (!isNew) {
    // Permission is given by hash: it must not apply to other code.
    if (!std::ranges::equal(found->second.object, object))
      throw Error("native code " + hex(hash) + " is not what was loaded under this hash before");
    return;
  }
  found->second.object.assign(object.begin(), object.end());
  found->second.triple = std::move(triple);
}

void allowNativeCode(uint64_t hash) {
  std::lock_guard lock(table().mutex);
  const auto found = table().codes.find(hash);
  if (found == table().codes.end())
    throw Error("no file with native code " + hex(hash) + " is loaded");
  found->second.isAllowed = true;
}

bool isNativeCodeAllowed(uint64_t hash, std::span<const std::byte> code) {
  std::lock_guard lock(table().mutex);
  const auto found = table().codes.find(hash);
  return found != table().codes.end() && found->second.isAllowed && std::ranges::equal(found->second.object, code);
}

std::string_view nativeMachine() { return machine; }

bool isNative(std::string_view function) { return function.starts_with(prefix); }

NativeFunction nativeFunction(std::string_view function, std::span<const uint64_t> bytes) {
  const std::string_view rest = function.substr(prefix.size());
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), hash, 16);
  const std::string name(rest.substr(static_cast<size_t>(end - rest.data())));
  if (error != std::errc() || name.size() < 2 || name[0] != ':')
    throw OpError("debug.host_call: the function is \"" + std::string(function) +
                  "\"; expected \"native:<hash>:<function>\"");
  std::lock_guard lock(table().mutex);
  const auto found = table().codes.find(hash);
  if (found == table().codes.end())
    throw OpError("debug.host_call: the file has no native code " + hex(hash) + " for \"" + name.substr(1) + "\"");
  Code &code = found->second;
  if (!code.isAllowed)
    throw OpError("debug.host_call: \"" + name.substr(1) +
                  "\" is native code of the file, which can do anything that this process may; load the file with "
                  "allow_native (ttrt run --allow-native) if you trust where it comes from");
  if (!std::string_view(code.triple).starts_with(machine))
    throw OpError("debug.host_call: native code of the file is for " + code.triple + ", and this machine is " +
                  std::string(machine) + "...; compile the program here");
  if (!code.handle)
    code.handle = load(code);
  const std::string symbol = name.substr(1) + "_helper";
  void *address = ::dlsym(code.handle, symbol.c_str());
  if (!address)
    throw OpError("debug.host_call: the native code of the file has no function \"" + name.substr(1) + "\"");
  const auto *sizes =
      static_cast<const uint64_t *>(::dlsym(code.handle, (name.substr(1) + target::codeSizesSuffix).c_str()));
  if (!sizes || !std::ranges::equal(std::span(sizes + 1, *sizes), bytes))
    throw OpError("debug.host_call: \"" + name.substr(1) + "\" of the native code is for " +
                  (sizes ? listed({sizes + 1, *sizes}) : "no known") + " bytes of operands and results, and is given " +
                  listed(bytes) + "; compile the program again");
  return reinterpret_cast<NativeFunction>(address);
}

} // namespace tt::ttnn
