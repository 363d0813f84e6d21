//===- source.cpp - the kernels of a binary as one C++ program ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// One compilation takes a quarter of a second, most of it the start of the compiler: all kernels are compiled together.
//
//===----------------------------------------------------------------------===//

#include "metal/library.h"

#include <algorithm>
#include <set>

namespace tt::metal {
namespace {

constexpr std::string_view space = " \t";

/// The function that the compiler calls at each jump of a kernel, see the flags of compiler.cpp. Threads count on their
/// own: they would wait for each other to change one number.
constexpr std::string_view jumps = R"(
#if defined(__clang__)
#define TT_METAL_WITHOUT_JUMPS __attribute__((no_sanitize("coverage")))
#else
#define TT_METAL_WITHOUT_JUMPS __attribute__((no_sanitize_coverage))
#endif
namespace tt::metal {
constexpr int32_t jumpsOfPause = 1 << 14;
static thread_local int32_t jumpsLeft = jumpsOfPause;
}
extern "C" TT_METAL_WITHOUT_JUMPS void __sanitizer_cov_trace_pc() {
  const int32_t left = tt::metal::jumpsLeft - 1;
  tt::metal::jumpsLeft = left;
  if (left > 0 || !tt::metal::api)
    return;
  tt::metal::jumpsLeft = tt::metal::jumpsOfPause;
  tt::metal::api->pause();
}
)";

/// The rest of a line that begins with `directive` ("include"), or nothing.
std::optional<std::string_view> directive(std::string_view line, std::string_view name) {
  const auto skip = [&] { line.remove_prefix(std::min(line.find_first_not_of(space), line.size())); };
  skip();
  if (!line.starts_with('#'))
    return std::nullopt;
  line.remove_prefix(1);
  skip();
  if (!line.starts_with(name))
    return std::nullopt;
  line.remove_prefix(name.size());
  skip();
  return line;
}

/// Whether a line does nothing but include a header of tt-metal's kernels, whose functions are declared in any case.
bool includesKernelHeader(std::string_view line) {
  constexpr std::string_view headers[] = {"api/",   "compute_kernel_api/", "compute_kernel_api.h", "dataflow_api.h",
                                          "debug/", "tools/profiler/"};
  const auto name = directive(line, "include");
  const size_t end = name && name->starts_with('"') ? name->find('"', 1) : std::string_view::npos;
  if (end == std::string_view::npos)
    return false;
  std::string_view rest = name->substr(end + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r"), rest.size()));
  return (rest.empty() || rest.starts_with("//")) &&
         std::ranges::any_of(headers, [&](std::string_view header) { return name->substr(1).starts_with(header); });
}

template <class F> void forEachLine(std::string_view text, F f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// A kernel without the lines that include headers of tt-metal, which have another place in each of its versions.
std::string withoutKernelHeaders(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  forEachLine(source, [&](std::string_view line) {
    if (!includesKernelHeader(line))
      result += line;
    result += '\n';
  });
  return result;
}

/// A name as the compiler prints it: in quotes, without characters that end them.
std::string quoted(std::string_view symbol) {
  std::string result;
  for (char c : symbol)
    result += static_cast<unsigned char>(c) < 32 || c == '"' || c == '\\' ? '_' : c;
  return result;
}

/// Returns the declarations of one kernel, in addition to the functions of all kernels.
std::string arguments(const Kernel &kernel) {
  const size_t count = kernel.compileTimeArgs.size();
  std::string text = "constexpr uint32_t kernel_compile_time_args[] = {";
  for (uint32_t value : kernel.compileTimeArgs)
    text += std::to_string(value) + "u, ";
  text += "0u};\n"
          "constexpr uint32_t get_compile_time_arg_val(uint32_t index) {\n"
          "  if (uint64_t(index) + 1 > " +
          std::to_string(count) + ")\n    tt::metal::api->badCompileTimeArgument(index, " + std::to_string(count) +
          ");\n"
          "  return kernel_compile_time_args[index];\n}\n"
          "template <uint32_t index = 0, uint32_t = 0>\n"
          "using TensorAccessorArgs = tt::metal::AccessorArgs<kernel_compile_time_args, " +
          std::to_string(count) +
          ", index>;\n"
          "[[maybe_unused]] constexpr uint8_t noc_index = " +
          std::to_string(kernel.noc) + ";\n";
  return text;
}

} // namespace

bool staysOnCore(std::string_view source) {
  // Names of dataflow_api.h that reach other memory contain one of the first words; "tt::" reaches the table of
  // functions. The rest could build a name that is not in the text.
  constexpr std::string_view words[] = {"noc",          "semaphore", "fabric", "Accessor", "AddrGen",  "bank",
                                        "load_from_l1", "tt",        "asm",    "static ",  "static\t", "extern",
                                        "thread_local", "\\",        "%:",     "??",       "\r",       "/*"};
  constexpr std::string_view headers[] = {"\"dataflow_api.h\"", "\"compute_kernel_api.h\"", "\"compute_kernel_api/",
                                          "\"api/dataflow/dataflow_api.h\"", "\"api/compute/"};
  bool stays = true;
  forEachLine(source, [&](std::string_view line) {
    if (const auto name = directive(line, "include")) {
      // Nothing behind the header's name.
      const size_t end = name->find('"', 1);
      stays &= std::ranges::any_of(headers, [&](std::string_view header) { return name->starts_with(header); }) &&
               name->find("..") == std::string_view::npos && end != std::string_view::npos &&
               name->find_first_not_of(space, end + 1) == std::string_view::npos;
      return;
    }
    stays &= line.find('#') == std::string_view::npos && std::ranges::none_of(words, [&](std::string_view word) {
               return line.find(word) != std::string_view::npos;
             });
  });
  return stays;
}

KernelSources kernelSources(std::span<const Kernel *const> entries) {
  KernelSources result;
  std::string &text = result.text;
  text = "#include \"tt/metal/kernel_api.h\"\n";
  // Headers of other projects, before any namespace: they have guards, so that they are empty in the source.
  std::set<std::string_view> headers;
  for (const Kernel *kernel : entries)
    forEachLine(kernel->source, [&](std::string_view line) {
      if (const auto name = directive(line, "include"); name && name->starts_with('<'))
        headers.insert(name->substr(0, name->find('>') + 1));
    });
  for (std::string_view header : headers)
    text += "#include " + std::string(header) + "\n";
  std::set<std::string> taken;
  for (const Kernel *kernel : entries) {
    std::string name = quoted(kernel->symbol);
    for (int i = 2; !taken.insert(name).second; ++i)
      name = quoted(kernel->symbol) + "#" + std::to_string(i);
    const std::string number = std::to_string(result.names.size());
    text += "#line 1 \"arguments of " + name + "\"\nnamespace kernel_" + number +
            " {\nnamespace kernel_namespace {}\n" + arguments(*kernel) + "#line 1 \"" + name + "\"\n" +
            withoutKernelHeaders(kernel->source) + "\n#line 1 \"end of " + name + "\"\n";
    forEachLine(kernel->source, [&](std::string_view line) {
      if (const auto defined = directive(line, "define"))
        text += "#undef " + std::string(defined->substr(0, defined->find_first_of(" \t("))) + "\n";
    });
    // The entry is MAIN if there is one, else kernel_main; either may be in NAMESPACE. A template yields to MAIN.
    text += "using namespace kernel_namespace;\n"
            "template <class... T> void kernel_entry(T... none) { kernel_main(none...); }\n"
            "void entry() { kernel_entry(); }\n} // namespace kernel_" +
            number + "\n";
    result.names.push_back(std::move(name));
    result.kernels.emplace_back(kernel->source);
    result.alone.push_back(staysOnCore(kernel->source));
  }
  text += "#line 1 \"jumps\"\n" + std::string(jumps);
  text += "#line 1 \"entries\"\nstatic void (*const entries[])() = {";
  for (size_t i = 0; i < entries.size(); ++i)
    text += "kernel_" + std::to_string(i) + "::entry, ";
  text += "nullptr};\n"
          "extern \"C\" __attribute__((visibility(\"default\"))) const tt::metal::KernelLibrary tt_metal_kernels = {\n"
          "    tt::metal::kernelAbiVersion, " +
          std::to_string(entries.size()) + ", &tt::metal::api, entries};\n";
  return result;
}

} // namespace tt::metal
