//===- compiler.cpp - from C++ text to a shared library -------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The rules of python/builder/execution/cpp_library.py for emitted programs, applied to kernels: the choice of
// compiler, the cache, and the part of its messages that is kept.
//
//===----------------------------------------------------------------------===//

#include "metal/library.h"
#include "tt/interrupt.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <regex>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tt::metal {
namespace {

namespace fs = std::filesystem;

constexpr const char *compilers[] = {"c++", "g++", "clang++"};
// -O1 takes twice the time to compile, which is most of a first run; kernels that move single elements are 15 to 25 %
// faster with it.
constexpr const char *flags[] = {
    "-std=c++20", "-Og", "-fPIC", "-shared", "-fvisibility=hidden", "-fsanitize-coverage=trace-pc"};
constexpr size_t kept = 256; // libraries in the cache
constexpr int attempts = 3;  // to load a library that other processes remove

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Splits a command line into words, with quotes and backslashes as in a shell.
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!inside)
      result.emplace_back();
    inside = true;
    if (quote ? c == quote : c == '"' || c == '\'')
      quote = quote ? 0 : c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      result.back() += text[++i];
    else
      result.back() += c;
  }
  return result;
}

/// The file that a command runs, or nothing.
std::optional<fs::path> which(const std::string &command) {
  const auto runs = [](const fs::path &path) { return fs::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0; };
  if (command.find('/') != std::string::npos)
    return runs(command) ? std::optional<fs::path>(command) : std::nullopt;
  const std::string path = environment("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const fs::path candidate = fs::path(path.substr(begin, end - begin)) / command;
    std::error_code ignored;
    if (end > begin && fs::exists(candidate, ignored) && runs(candidate))
      return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

fs::path ownLibrary() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<const void *>(&compilerCommand), &info) || !info.dli_fname)
    throw Error("cannot find the runtime's own library");
  return fs::canonical(info.dli_fname);
}

fs::path cacheFolder() {
  if (const std::string base = environment("TTMLIR_CACHE_DIR"); !base.empty())
    return fs::path(base) / "kernels";
  if (const std::string base = environment("XDG_CACHE_HOME"); !base.empty())
    return fs::path(base) / "ttmlir" / "kernels";
  const std::string home = environment("HOME");
  return (home.empty() ? fs::temp_directory_path() : fs::path(home) / ".cache") / "ttmlir" / "kernels";
}

/// Changes when the file does.
std::string stateOf(const fs::path &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0)
    return "missing";
  return std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + ":" +
         std::to_string(status.st_size);
}

/// 128 bits as hexadecimal digits; only the user chooses what is hashed.
std::string digest(std::string_view text) {
  uint64_t lanes[2] = {0xcbf29ce484222325u, 0x9e3779b97f4a7c15u};
  for (unsigned char c : text) {
    lanes[0] = (lanes[0] ^ c) * 0x100000001b3u; // FNV-1a
    lanes[1] = (lanes[1] ^ c) * 0xd6e8feb86659fd93u;
    lanes[1] ^= lanes[1] >> 32;
  }
  std::string result;
  for (uint64_t lane : lanes)
    for (int shift = 60; shift >= 0; shift -= 4)
      result += "0123456789abcdef"[lane >> shift & 15];
  return result;
}

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs a command with its output in a file; returns its exit status, or that of a shell that cannot find it.
int run(const std::vector<std::string> &command, const fs::path &output) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) // another part of the process collects children: the file tells
      return 0;
    try {
      checkInterrupt();
    } catch (...) {
      ::kill(child, SIGTERM);
      ::waitpid(child, &status, 0);
      throw;
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// The compiler's first error with the lines that show its location; everything if there is no such line.
std::string firstError(const std::string &text) {
  static const std::regex error(".*:[0-9]+(:[0-9]+)?: (fatal )?error: .*"), message(".*:[0-9]+(:[0-9]+)?: \\w+.*: .*");
  std::string result;
  int lines = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, std::min<size_t>(end - begin, 1000));
    begin = end + 1;
    if (!lines) {
      if (!std::regex_match(line, error))
        continue;
    } else if (std::regex_match(line, message)) {
      break;
    }
    result += (lines ? "\n" : "") + line;
    if (++lines == 6)
      break;
  }
  if (lines)
    return result;
  const size_t last = text.find_last_not_of(" \n");
  return last == std::string::npos ? "the compiler says nothing" : text.substr(0, last + 1);
}

/// The kernel that the messages name first: its error may show in a header that it includes.
std::optional<std::string> kernelOf(const KernelSources &sources, const std::string &messages) {
  std::optional<std::string> found;
  size_t first = messages.size();
  for (const std::string &name : sources.names)
    for (const std::string &prefix : {name, "end of " + name, "arguments of " + name})
      for (const char *place : {"\n", " "}) { // "In file included from k:1:"
        const size_t at = ("\n" + messages).find(place + prefix + ":");
        if (at < first) {
          first = at;
          found = name;
        }
      }
  return found;
}

/// Removes the least recently used libraries.
void prune(const fs::path &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> made;
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".so")
      made.emplace_back(fs::last_write_time(entry.path(), ignored), entry.path());
  if (made.size() <= kept)
    return;
  std::ranges::sort(made, std::greater());
  for (size_t i = kept; i < made.size(); ++i)
    fs::remove(made[i].second, ignored);
}

/// A temporary folder that is removed with its contents.
struct Scratch {
  fs::path path;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

void build(std::vector<std::string> command, const KernelSources &sources, const std::string &file,
           const fs::path &folder, const fs::path &made) {
  std::string name = (folder / ".XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw fs::filesystem_error("cannot make a folder", folder, std::error_code(errno, std::generic_category()));
  const Scratch scratch{name};
  const fs::path source = scratch.path / "kernels.cpp", output = scratch.path / "kernels.so",
                 messages = scratch.path / "messages";
  std::ofstream text(source, std::ios::binary);
  text << sources.text;
  text.close();
  if (!text)
    throw fs::filesystem_error("cannot write", source, std::error_code(ENOSPC, std::generic_category()));
  command.insert(command.end(), {source.string(), "-o", output.string()});
  const int status = run(command, messages);
  if (status != 0)
    checkInterrupt(); // the compiler may have got the signal as well
  if (status != 0 || !fs::exists(output)) {
    const std::string said = readFile(messages);
    const auto kernel = kernelOf(sources, said);
    throw BinaryError(file + ": " + (kernel ? "kernel \"" + *kernel + "\" does not" : "the kernels do not") +
                      " compile (" + command[0] + "):\n" + firstError(said));
  }
  fs::rename(output, made);
}

} // namespace

std::vector<std::string> compilerCommand() {
  if (auto chosen = words(environment("CXX")); !chosen.empty()) {
    if (!which(chosen[0]))
      throw Error("CXX is '" + chosen[0] + "', which cannot be run");
    return chosen;
  }
  for (const char *name : compilers)
    if (which(name))
      return {name};
  throw Error("no C++ compiler for the kernels: CXX is not set, and PATH has none of c++, g++, clang++; install one "
              "with C++20 (apt install g++) or set CXX");
}

fs::path kernelIncludes() {
  const fs::path own = ownLibrary().parent_path();
  // Installed; in the build folder.
  const fs::path folders[] = {own / "../include", own / TTRT_SDK_INCLUDE};
  for (const fs::path &folder : folders)
    if (fs::exists(folder / "tt/metal/kernel_api.h"))
      return folder.lexically_normal();
  throw Error("the headers for kernels are missing: there is no tt/metal/kernel_api.h in " +
              folders[0].lexically_normal().string() + "; install the package again, or build the target ttrt-headers");
}

/// For a debugger: no optimization, and a file with the source of each kernel, where the debugger looks for it.
static void prepareDebugger(std::vector<std::string> &command, const KernelSources &sources, const fs::path &folder) {
  try {
    fs::create_directories(folder);
    for (size_t i = 0; i < sources.names.size(); ++i) {
      std::string name = sources.names[i];
      std::ranges::replace(name, '/', '_');
      // Lines count from here on, behind the macros of a kernel.
      constexpr std::string_view begin = "#line 1\n";
      const size_t at = sources.kernels[i].find(begin);
      std::ofstream(folder / name) << sources.kernels[i].substr(at == std::string::npos ? 0 : at + begin.size());
    }
    command.insert(command.end(), {"-g", "-O0",
                                   "-fdebug-prefix-map=" + fs::current_path().string() + "=" +
                                       fs::absolute(folder).lexically_normal().string()});
  } catch (const fs::filesystem_error &error) {
    throw Error("TTRT_KERNEL_DEBUG: cannot write the sources of kernels to " + folder.string() + ": " +
                error.code().message());
  }
}

/// The shared library of the sources in the cache, where it is or is put now.
static fs::path compiledLibrary(const KernelSources &sources, const std::string &file) {
  std::vector<std::string> command = compilerCommand();
  const fs::path includes = kernelIncludes();
  command.insert(command.end(), std::begin(flags), std::end(flags));
  if (const std::string folder = environment("TTRT_KERNEL_DEBUG"); !folder.empty())
    prepareDebugger(command, sources, folder);
  // Contraction would give other bits than the kernels of the runtime.
  command.insert(command.end(),
                 {"-ffp-contract=off", "-I" + includes.string(), "-I" + (includes / "tt/metal/kernels").string()});
  std::string identity = "version " + std::to_string(kernelAbiVersion) + "\n";
  for (const std::string &word : command)
    identity += word + '\0';
  identity += stateOf(which(command[0]).value_or("")) + stateOf(ownLibrary()) +
              stateOf(includes / "tt/metal/kernel_api.h") + stateOf(includes / "tt/metal/kernel_abi.h") +
              stateOf(includes / "tt/metal/kernel_banks.h") + stateOf(includes / "tt/metal/kernel_print.h") +
              stateOf(includes / "tt/metal/kernel_noc.h") + stateOf(includes / "tt/metal/kernel_tiles.h") +
              stateOf(includes / "ttmlir/Target/TTMetal/TileOps.def") + "\n";
  const fs::path folder = cacheFolder();
  const fs::path made = folder / (digest(identity + sources.text) + ".so");
  try {
    if (fs::is_regular_file(made)) {
      std::error_code ignored; // of another user
      fs::last_write_time(made, fs::file_time_type::clock::now(), ignored);
      return made;
    }
    fs::create_directories(folder);
    build(std::move(command), sources, file, folder, made);
    prune(folder);
  } catch (const fs::filesystem_error &error) {
    throw Error("cannot keep the compiled kernels in " + folder.string() + ": " + error.code().message() +
                "; TTMLIR_CACHE_DIR names another folder");
  }
  return made;
}

CompiledKernels::CompiledKernels(const KernelSources &sources, const std::string &file) : staying(sources.alone) {
  fs::path path;
  // Another process may remove it after it was found, as one of the least recently used.
  for (int attempt = 1; !handle; ++attempt) {
    path = compiledLibrary(sources, file);
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle && attempt == attempts)
      throw Error(path.string() + " cannot be loaded: " + ::dlerror());
  }
  library = static_cast<const KernelLibrary *>(::dlsym(handle, "tt_metal_kernels"));
  if (!library || library->version != kernelAbiVersion || library->count != staying.size()) {
    ::dlclose(handle);
    throw Error(path.string() + " is no library of these kernels; delete it");
  }
  *library->api = &kernelApi();
}

CompiledKernels::~CompiledKernels() { ::dlclose(handle); }

std::shared_ptr<const CompiledKernels> compiledKernels(runtime::BinaryImage &image) {
  const Image &metal = *image.metal;
  Kept &kept = image.kept<Kept>();
  std::lock_guard lock(kept.mutex);
  if (!kept.compiled) {
    requireAllowed(image);
    const KernelSources sources = kernelSources(metal.entries);
    kept.compiled = std::make_shared<const CompiledKernels>(sources, image.name);
  }
  return kept.compiled;
}

} // namespace tt::metal
