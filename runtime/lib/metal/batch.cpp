//===- batch.cpp - programs that are compiled together --------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a TTNN program come in many small programs of their own. Each compilation takes a quarter of a second
// before it reads the first kernel.
//
//===----------------------------------------------------------------------===//

#include "binary/metal/image.h"
#include "metal/library.h"

namespace tt::metal {

JoinedPrograms joinedPrograms(std::span<const HostProgram *const> programs) {
  std::vector<std::string> texts;
  std::vector<Kernel> kernels;
  for (const HostProgram *program : programs)
    for (const HostKernel &given : program->kernels) {
      std::string text;
      for (const auto &[macro, value] : given.defines)
        text += "#define " + macro + " " + value + "\n";
      texts.push_back(text + "#line 1\n" + given.source);
      Kernel &kernel = kernels.emplace_back();
      kernel.symbol = given.name;
      kernel.compute = given.compute;
      kernel.noc = given.noc;
      kernel.compileTimeArgs = given.compileTimeArgs;
    }
  std::vector<Kernel *> all;
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].source = texts[i];
    all.push_back(&kernels[i]);
  }
  std::vector<const Kernel *> entries;
  numberKernels(all, entries);
  JoinedPrograms joined{kernelSources(entries), {}};
  size_t next = 0;
  for (const HostProgram *program : programs) {
    std::vector<uint32_t> &own = joined.entries.emplace_back();
    for (size_t i = 0; i < program->kernels.size(); ++i)
      own.push_back(kernels[next++].entry);
  }
  return joined;
}

size_t ProgramBatch::add(std::shared_ptr<const HostProgram> program, std::function<bool()> isAllowed) {
  std::lock_guard lock(mutex);
  members.push_back({std::move(program), std::move(isAllowed)});
  return members.size() - 1;
}

std::shared_ptr<const ProgramKernels> ProgramBatch::kernels(size_t number) {
  std::lock_guard lock(mutex);
  Member &requested = members[number];
  if (!requested.kernels && isTogether) {
    std::vector<Member *> chosen;
    for (Member &member : members)
      if (&member == &requested || (!member.kernels && member.isAllowed()))
        chosen.push_back(&member);
    try {
      compile(chosen);
    } catch (const BinaryError &) {
      isTogether = false; // programs before the one with the error run, and its own compilation says which it is
    }
  }
  if (!requested.kernels)
    compile({&requested});
  return requested.kernels;
}

void ProgramBatch::compile(const std::vector<Member *> &chosen) {
  std::vector<const HostProgram *> programs;
  for (const Member *member : chosen)
    programs.push_back(member->program.get());
  JoinedPrograms joined = joinedPrograms(programs);
  const auto library =
      std::make_shared<const CompiledKernels>(joined.sources, "program \"" + programs.front()->name + "\"");
  for (size_t i = 0; i < chosen.size(); ++i) {
    chosen[i]->kernels = std::make_shared<const ProgramKernels>(library, std::move(joined.entries[i]));
    chosen[i]->program = nullptr;
    chosen[i]->isAllowed = nullptr;
  }
}

} // namespace tt::metal
