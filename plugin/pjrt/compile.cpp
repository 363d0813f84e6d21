//===- compile.cpp - StableHLO to a program of the chip, in process -------===//
// SPDX-License-Identifier: Apache-2.0

#include "compile.h"

#include "interpreter.h"
#include "wire.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "ttmlir-c/Registration.h"

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>

namespace tt::pjrt {
namespace {

std::string_view view(MlirStringRef text) { return {text.data, text.length}; }
MlirStringRef stringRef(std::string_view text) { return mlirStringRefCreate(text.data(), text.size()); }
void append(MlirStringRef text, void *to) { static_cast<std::string *>(to)->append(text.data, text.length); }

template <class Print> std::string printed(Print &&print) {
  std::string text;
  print(append, &text);
  return text;
}

/// Returns the part of a location that helps a user: the file and line, or nothing when it is not known.
std::string placeOf(MlirLocation location) {
  std::string text = printed([&](auto callback, void *to) { mlirLocationPrint(location, callback, to); });
  if (text.starts_with("loc("))
    text = text.substr(4, text.size() - 5);
  constexpr size_t most = 300; // JAX's locations can be whole stacks
  if (text.size() > most)
    text = text.substr(0, most) + "...";
  return text == "unknown" ? "" : text;
}

/// Each text once: models have many warnings of one kind.
void warnOnce(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> *said = new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (said->insert(text).second)
    std::fprintf(stderr, "pjrt_plugin_tt: warning: %s\n", text.c_str());
}

struct Diagnostics {
  std::string errors;

  static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *self) {
    static_cast<Diagnostics *>(self)->add(diagnostic, 0);
    return mlirLogicalResultSuccess();
  }
  void add(MlirDiagnostic diagnostic, int depth) {
    const std::string message =
        printed([&](auto callback, void *to) { mlirDiagnosticPrint(diagnostic, callback, to); });
    // The whole op, which can be a module: the message before it states the error.
    if (depth && message.starts_with("see current operation"))
      return;
    const MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
    if (severity == MlirDiagnosticWarning) {
      // The index among many arrays does not help: 64-bit integers are reported once.
      const std::string place = message.find("64-bit integers") == std::string::npos
                                    ? placeOf(mlirDiagnosticGetLocation(diagnostic))
                                    : std::string();
      return warnOnce(place.empty() ? message : place + ": " + message);
    }
    if (severity == MlirDiagnosticError || depth) {
      const std::string place = placeOf(mlirDiagnosticGetLocation(diagnostic));
      if (!errors.empty())
        errors += '\n';
      errors += std::string(static_cast<size_t>(2 * depth), ' ') + (depth ? "note: " : "") + message;
      if (!place.empty())
        errors += " [" + place + "]";
    }
    for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
      add(mlirDiagnosticGetNote(diagnostic, i), depth + 1);
  }
};

/// A context with the project's dialects, which records errors.
struct Session {
  MlirContext context;
  Diagnostics diagnostics;

  Session() {
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    ttmlirRegisterAllDialects(registry);
    ttmlirRegisterAllPasses();
    context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/true);
    mlirDialectRegistryDestroy(registry);
    mlirContextAttachDiagnosticHandler(context, Diagnostics::handle, &diagnostics, nullptr);
  }
  ~Session() { mlirContextDestroy(context); }
  Session(const Session &) = delete;

  [[noreturn]] void fail(PJRT_Error_Code code, const std::string &what) const {
    throw PluginError(code, what + (diagnostics.errors.empty() ? "" : ":\n" + diagnostics.errors));
  }
};

/// Runs when the block ends.
template <class F> struct ScopeExit {
  F f;
  ~ScopeExit() { f(); }
};
template <class F> ScopeExit(F) -> ScopeExit<F>;

void run(Session &session, MlirModule module, const std::string &pipeline, const std::string &what) {
  MlirPassManager manager = mlirPassManagerCreate(session.context);
  const ScopeExit destroy{[&] { mlirPassManagerDestroy(manager); }};
  std::string refused;
  const MlirLogicalResult parsed =
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager), stringRef(pipeline), append, &refused);
  if (mlirLogicalResultIsFailure(parsed))
    invalid(what + ": the pipeline " + pipeline + " is not known: " + refused);
  if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))))
    session.fail(PJRT_Error_Code_UNIMPLEMENTED, what + " failed");
}

//===- The main function --------------------------------------------------===//

Slot slotOf(MlirType type, const std::string &what) {
  const auto text = [](MlirType printedType) {
    return printed([&](auto callback, void *to) { mlirTypePrint(printedType, callback, to); });
  };
  // Tokens of ordered effects arrive as empty arrays.
  if (text(type) == "!stablehlo.token")
    return {findType("i1"), {0}, {}, MemoryKind::Device, {}};
  if (!mlirTypeIsARankedTensor(type))
    unimplemented(what + " is " + text(type) + "; programs of tt take and give tensors");
  const std::string element = text(mlirShapedTypeGetElementType(type));
  Slot slot;
  slot.type = findType(element);
  if (!slot.type)
    unimplemented(what + " is " + text(type) + ": arrays of JAX have no element type " + element);
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    if (mlirShapedTypeIsDynamicDim(type, i))
      unimplemented(what + " is " + text(type) + ": programs of tt have static shapes");
    slot.dims.push_back(mlirShapedTypeGetDimSize(type, i));
  }
  return slot;
}

bool hasAttribute(MlirAttribute dictionary, std::string_view name) {
  return mlirAttributeIsADictionary(dictionary) &&
         !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(dictionary, stringRef(name)));
}

std::string symbolName(MlirOperation op) {
  const MlirAttribute name = mlirOperationGetAttributeByName(op, stringRef("sym_name"));
  return mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) ? ""
                                                                    : std::string(view(mlirStringAttrGetValue(name)));
}

MlirOperation findMain(MlirModule module, const std::string &name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (view(mlirIdentifierStr(mlirOperationGetName(op))) == "func.func" && symbolName(op) == "main")
      return op;
  invalid("the module " + name + " has no function main");
}

/// Numbers up to the first character that is not part of them.
std::vector<int64_t> numbers(std::string_view &text) {
  std::vector<int64_t> found;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    int64_t number = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1))
      number = number * 10 + (text.front() - '0');
    found.push_back(number);
    if (!text.empty() && text.front() == ',')
      text.remove_prefix(1);
  }
  return found;
}

std::string textOf(MlirAttribute dictionary, std::string_view name) {
  if (!hasAttribute(dictionary, name))
    return "";
  const MlirAttribute value = mlirDictionaryAttrGetElementByName(dictionary, stringRef(name));
  return mlirAttributeIsAString(value) ? std::string(view(mlirStringAttrGetValue(value))) : "";
}

/// Reads the memory and the layout that JAX requests for an argument or a result.
void readPlace(MlirAttribute attributes, Slot &slot, const std::string &what) {
  if (const std::string kind = textOf(attributes, "mhlo.memory_kind"); !kind.empty()) {
    const auto found = std::ranges::find(memoryKindNames, kind);
    if (found == memoryKindNames.end())
      invalid(what + " is in memory " + kind + "; known: device, pinned_host, unpinned_host");
    slot.memory = static_cast<MemoryKind>(found - memoryKindNames.begin());
  }
  const std::string mode = textOf(attributes, "mhlo.layout_mode");
  if (mode.empty() || mode == "default" || mode == "auto")
    return;
  std::string_view rest = mode;
  if (rest.starts_with("{"))
    rest.remove_prefix(1);
  Order order = numbers(rest);
  if (rest != "}" || order.size() != slot.dims.size())
    unimplemented(what + " of " + shapeText(*slot.type, slot.dims) + " has layout " + mode +
                  "; expected an order of its dimensions without tiles, as in {1,0}");
  (void)orderStrides(order, *slot.type, slot.dims);
  if (!std::ranges::is_sorted(order, std::greater()))
    slot.order = std::move(order);
}

void readMain(MlirModule module, Compiled &compiled) {
  compiled.name = symbolName(mlirModuleGetOperation(module));
  const MlirOperation op = findMain(module, compiled.name);
  const MlirType type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, stringRef("function_type")));
  const MlirAttribute attributes = mlirOperationGetAttributeByName(op, stringRef("arg_attrs"));
  const MlirAttribute ofResults = mlirOperationGetAttributeByName(op, stringRef("res_attrs"));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i) {
    compiled.arguments.push_back(slotOf(mlirFunctionTypeGetInput(type, i), "argument " + std::to_string(i)));
    if (mlirAttributeIsNull(attributes))
      continue;
    const MlirAttribute own = mlirArrayAttrGetElement(attributes, i);
    readPlace(own, compiled.arguments.back(), "argument " + std::to_string(i));
    if (hasAttribute(own, "tf.aliasing_output") || hasAttribute(own, "jax.buffer_donor"))
      compiled.donated.push_back(static_cast<uint32_t>(i));
  }
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    compiled.results.push_back(slotOf(mlirFunctionTypeGetResult(type, i), "result " + std::to_string(i)));
  for (size_t i = 0; !mlirAttributeIsNull(ofResults) && i < compiled.results.size(); ++i)
    readPlace(mlirArrayAttrGetElement(ofResults, static_cast<intptr_t>(i)), compiled.results[i],
              "result " + std::to_string(i));
}

/// Parses "{replicated}", "{unreduced}" or "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}", as
/// annotate-xla-shardings writes.
void split(Slot &slot, std::string_view text, const std::string &name) {
  constexpr std::string_view devices = "{devices=[";
  enum { Replicated = 0, Other = 3, Unreduced = 6 };
  if (text == "{replicated}" || text == "{unreduced}") {
    slot.sharding = Message().number(1, text == "{replicated}" ? Replicated : Unreduced).bytes();
    return;
  }
  const std::string whole(text);
  const auto refuse = [&] {
    throw PluginError(PJRT_Error_Code_INTERNAL, "the lowering of " + name + " gave " +
                                                    shapeText(*slot.type, slot.dims) + " the sharding \"" + whole +
                                                    "\"");
  };
  if (!text.starts_with(devices))
    refuse();
  text.remove_prefix(devices.size());
  const std::vector<int64_t> tile = numbers(text);
  if (!text.starts_with("]"))
    refuse();
  text.remove_prefix(1);
  const std::vector<int64_t> ids = numbers(text);
  // The parts of one part on devices, by the last entries of the tile.
  std::vector<uint64_t> last;
  if (text == " last_tile_dim_replicate}")
    last = {Replicated};
  else if (text == " last_tile_dims={unreduced}}")
    last = {Unreduced};
  else if (text == " last_tile_dims={unreduced, replicated}}")
    last = {Unreduced, Replicated};
  else if (text != "}")
    refuse();
  if (tile.size() != slot.dims.size() + last.size())
    refuse();
  Message message;
  message.number(1, Other);
  for (int64_t parts : tile)
    message.number(3, static_cast<uint64_t>(parts));
  for (int64_t id : ids)
    message.number(4, static_cast<uint64_t>(id));
  if (last == std::vector<uint64_t>{Replicated})
    message.number(6, 1);
  else
    for (uint64_t type : last)
      message.number(8, type);
  slot.sharding = message.bytes();
  for (size_t i = 0; i < slot.dims.size(); ++i) {
    if (tile[i] < 1 || slot.dims[i] % tile[i])
      refuse();
    slot.dims[i] /= tile[i];
  }
}

/// Reads the shardings of arguments and results, if the module has been partitioned.
void readShardings(MlirModule module, Compiled &compiled) {
  const MlirOperation op = findMain(module, compiled.name);
  const auto read = [&](std::vector<Slot> &slots, std::string_view list) {
    const MlirAttribute all = mlirOperationGetAttributeByName(op, stringRef(list));
    for (size_t i = 0; i < slots.size(); ++i) {
      const MlirAttribute own = mlirAttributeIsNull(all) ? all : mlirArrayAttrGetElement(all, static_cast<intptr_t>(i));
      const MlirAttribute text = mlirAttributeIsNull(own) || !mlirAttributeIsADictionary(own)
                                     ? MlirAttribute{nullptr}
                                     : mlirDictionaryAttrGetElementByName(own, stringRef("mhlo.sharding"));
      if (mlirAttributeIsNull(text) || !mlirAttributeIsAString(text))
        throw PluginError(PJRT_Error_Code_INTERNAL, "the lowering of " + compiled.name +
                                                        " gave no sharding for number " + std::to_string(i) + " of " +
                                                        std::string(list));
      split(slots[i], view(mlirStringAttrGetValue(text)), compiled.name);
    }
  };
  read(compiled.arguments, "arg_attrs");
  read(compiled.results, "res_attrs");
}

/// Reports to JAX the shardings that it requested by `jax.debug.inspect_array_sharding`.
void tellShardings(MlirModule module, const std::string &name) {
  struct Found {
    std::string name;
    Slot slot;
    std::string text;
  };
  std::vector<Found> found;
  mlirOperationWalk(
      mlirModuleGetOperation(module),
      [](MlirOperation op, void *to) {
        const auto textAt = [&](std::string_view attribute) -> std::string {
          const MlirAttribute value = mlirOperationGetAttributeByName(op, stringRef(attribute));
          return mlirAttributeIsNull(value) || !mlirAttributeIsAString(value)
                     ? ""
                     : std::string(view(mlirStringAttrGetValue(value)));
        };
        if (textAt("call_target_name") == "InspectSharding") {
          Slot slot = slotOf(mlirValueGetType(mlirOperationGetOperand(op, 0)), "a value whose sharding is requested");
          std::ranges::fill(slot.dims, 0); // of one device; any sharding divides them
          const std::string text = textAt("mhlo.sharding");
          static_cast<std::vector<Found> *>(to)->push_back(
              {textAt("backend_config"), std::move(slot), text.empty() ? "{replicated}" : text});
        }
        return MlirWalkResultAdvance;
      },
      &found, MlirWalkPreOrder);
  for (Found &row : found) {
    split(row.slot, row.text, name);
    inspect(row.name, row.slot.sharding);
  }
}

/// The module of a source, which ends in a zero as the text parser requires.
MlirModule parse(Session &session, const std::string &source) {
  const MlirStringRef bytes = stringRef(source);
  const MlirModule module = ttmlirIsPortableArtifact(bytes) ? ttmlirDeserializePortableArtifact(session.context, bytes)
                                                            : mlirModuleCreateParse(session.context, bytes);
  if (mlirModuleIsNull(module))
    session.fail(PJRT_Error_Code_INVALID_ARGUMENT, "the program does not parse");
  return module;
}

constexpr const char *partitioning = "stablehlo-spmd-pipeline";
constexpr const char *lowering = "ttir-to-ttnn-backend-pipeline";

/// The options of the lowering: the chip's, those of every framework front end, and the caller's, which take
/// precedence.
std::string optionsText(Arch arch, const std::map<std::string, std::string> &overrides) {
  std::string text = "mock-system-desc-arch=" + std::string(toString(arch)) + " ";
  text += view(ttmlirFrameworkOptions());
  for (const auto &[key, value] : overrides) {
    std::string found;
    if (!ttmlirCheckPipelineOption(stringRef(lowering), stringRef(key), stringRef(value), append, &found))
      invalid("compiler_options: " + found);
    text += " " + key + "={" + found + "}";
  }
  return text;
}

} // namespace

std::string deviceProgram(const Compiled &compiled) {
  Session session;
  const MlirModule module = parse(session, compiled.source);
  const ScopeExit destroy{[&] { mlirModuleDestroy(module); }};
  run(session, module, std::string("builtin.module(") + partitioning + ",device-program)",
      "partitioning of " + compiled.name);
  const MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  const ScopeExit destroyFlags{[&] { mlirOpPrintingFlagsDestroy(flags); }};
  mlirOpPrintingFlagsEnableDebugInfo(flags, /*enable=*/true, /*prettyForm=*/false);
  return printed([&](auto callback, void *to) {
    mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, callback, to);
  });
}

Compiled compile(std::string_view code, std::string_view format, Arch arch, int64_t partitions,
                 const std::map<std::string, std::string> &overrides, bool places) {
  if (format != "mlir")
    unimplemented("a program is given as " + std::string(format) + "; the plugin for tt takes mlir");
  Session session;
  Compiled compiled;
  compiled.source = code;
  const MlirModule module = parse(session, compiled.source);
  const ScopeExit destroy{[&] { mlirModuleDestroy(module); }};
  readMain(module, compiled);
  const std::string name = "lowering of " + compiled.name;
  if (partitions > 1) {
    run(session, module, std::string("builtin.module(") + partitioning + ")", "partitioning of " + compiled.name);
    readShardings(module, compiled);
    tellShardings(module, compiled.name);
  }
  run(session, module, "builtin.module(stablehlo-to-ttir-pipeline)", name + " to TTIR");
  run(session, module, std::string("builtin.module(") + lowering + "{" + optionsText(arch, overrides) + "})",
      name + " to TTNN");
  if (!places)
    run(session, module, "builtin.module(strip-debuginfo)", name);
  if (mlirLogicalResultIsFailure(
          ttmlirTranslateToFlatbuffer(mlirModuleGetOperation(module), append, &compiled.flatbuffer)))
    session.fail(PJRT_Error_Code_INTERNAL, "writing the program of " + compiled.name + " failed");
  return compiled;
}

} // namespace tt::pjrt
