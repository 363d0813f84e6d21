//===- extensions.cpp - layouts, shardings, attributes of devices ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "extensions.h"

#include "buffer.h"
#include "executable.h"

#include <map>
#include <mutex>

namespace tt::pjrt {
namespace {

/// Arguments begin with their size and a chain of extensions.
struct Head {
  size_t struct_size;
  PJRT_Extension_Base *extension_start;
};

//===- Layouts (API 0.93) -------------------------------------------------===//

/// The order of dimensions, by default from the last to the first, as XLA writes it: "{2,1,0}".
struct Layout {
  std::string text;
  explicit Layout(size_t rank, const Order &order = {}) {
    for (size_t i = 0; i < rank; ++i)
      text += (i ? "," : "") + std::to_string(order.empty() ? static_cast<int64_t>(rank - 1 - i) : order[i]);
    text = "{" + text + "}";
  }
};

struct Destroy : Head {
  Layout *layout;
};
struct Serialize : Head {
  const Layout *layout;
  const char *bytes; // out, alive until `destroy` is called with `owner`
  size_t size;
  void *owner;
  void (*destroy)(void *);
};
struct OfBuffer : Head {
  PJRT_Buffer *buffer;
  Layout *layout; // out, destroyed by the caller
};
/// The default layouts of a client or a topology.
struct Default : Head {
  void *of;
  PJRT_Buffer_Type type;
  const int64_t *dims;
  size_t rank;
  Layout *layout; // out, destroyed by the caller
};
struct OfProgram : Head {
  PJRT_Executable *executable;
  size_t count;               // out
  const void *const *layouts; // out, alive as long as the program
};

void layoutDestroy(Destroy &args) { delete args.layout; }
void layoutSerialize(Serialize &args) {
  auto *text = new std::string(args.layout->text);
  args.bytes = text->data(), args.size = text->size();
  args.owner = text;
  args.destroy = [](void *owner) { delete static_cast<std::string *>(owner); };
}
void layoutOfBuffer(OfBuffer &args) { args.layout = new Layout(args.buffer->dims.size(), args.buffer->order); }
void layoutByDefault(Default &args) { args.layout = new Layout(args.rank); }

template <auto list> void layoutsOf(OfProgram &args) {
  const std::vector<const void *> &layouts = (*args.executable->program).*list;
  args.count = layouts.size(), args.layouts = layouts.data();
}

struct Layouts {
  PJRT_Extension_Base base;
  PJRT_Error *(*destroy)(Destroy *);
  PJRT_Error *(*serialize)(Serialize *);
  PJRT_Error *(*ofClient)(Default *);
  PJRT_Error *(*ofBuffer)(OfBuffer *);
  PJRT_Error *(*ofTopology)(Default *);
  PJRT_Error *(*ofOutputs)(OfProgram *);
  PJRT_Error *(*ofParameters)(OfProgram *);
};

//===- Shardings (API 0.91) -----------------------------------------------===//

constexpr auto shardingsType = static_cast<PJRT_Extension_Type>(19);

struct ShardingsOf : Head {
  PJRT_Executable *executable;
  size_t count;                 // out
  const char *const *shardings; // out: messages xla.OpSharding, or nullptr where there are none
  const size_t *sizes;          // out
};

template <auto list, auto slots> void shardingsOf(ShardingsOf &args) {
  const Program &program = *args.executable->program;
  args.count = (program.compiled.*slots).size();
  const Program::Shardings &known = program.*list;
  args.shardings = known.bytes.empty() ? nullptr : known.bytes.data();
  args.sizes = known.bytes.empty() ? nullptr : known.sizes.data();
}

struct Shardings {
  PJRT_Extension_Base base;
  PJRT_Error *(*ofParameters)(ShardingsOf *);
  PJRT_Error *(*ofOutputs)(ShardingsOf *);
};

//===- Attributes of devices (API 0.92) -----------------------------------===//

struct DeviceAttributes : Head {
  PJRT_Device *device;
  const PJRT_NamedValue *attributes; // out, alive as long as the device
  size_t count;
  void *owner;
  void (*destroy)(void *);
};

void deviceAttributes(DeviceAttributes &args) {
  const std::vector<PJRT_NamedValue> &attributes = args.device->description->attributes;
  args.attributes = attributes.data(), args.count = attributes.size();
  args.owner = nullptr, args.destroy = [](void *) {};
}

} // namespace

const void *layoutOf(const Order &order, size_t rank) {
  static std::mutex mutex;
  static auto *known = new std::map<std::string, Layout>;
  const std::lock_guard lock(mutex);
  Layout layout(rank, order);
  return &known->try_emplace(layout.text, layout).first->second;
}

void addLaterFunctions(Api &api) {
  api.deviceGetAttributes =
      reinterpret_cast<void *>(guarded<"PJRT_Device_GetAttributes", sizeof(DeviceAttributes), &deviceAttributes>);
}

PJRT_Extension_Base *arrayExtensions(PJRT_Extension_Base *next) {
#define TT_FUNCTION(name, function) guarded<name, sizeof(ArgumentOf<decltype(&function)>::type), &function>
  constexpr auto arguments = &Compiled::arguments, results = &Compiled::results;
  static Shardings shardings{
      {sizeof(Shardings), shardingsType, next},
      TT_FUNCTION("PJRT_Shardings_PJRT_Executable_ParameterShardings",
                  (shardingsOf<&Program::argumentShardings, arguments>)),
      TT_FUNCTION("PJRT_Shardings_PJRT_Executable_OutputShardings", (shardingsOf<&Program::resultShardings, results>)),
  };
  static Layouts layouts{
      {sizeof(Layouts), PJRT_Extension_Type_Layouts, &shardings.base},
      TT_FUNCTION("PJRT_Layouts_MemoryLayout_Destroy", layoutDestroy),
      TT_FUNCTION("PJRT_Layouts_MemoryLayout_Serialize", layoutSerialize),
      TT_FUNCTION("PJRT_Layouts_PJRT_Client_GetDefaultLayout", layoutByDefault),
      TT_FUNCTION("PJRT_Layouts_PJRT_Buffer_MemoryLayout", layoutOfBuffer),
      TT_FUNCTION("PJRT_Layouts_PJRT_Topology_GetDefaultLayout", layoutByDefault),
      TT_FUNCTION("PJRT_Layouts_PJRT_Executable_GetOutputLayouts", layoutsOf<&Program::resultLayouts>),
      TT_FUNCTION("PJRT_Layouts_PJRT_Executable_GetParameterLayouts", layoutsOf<&Program::argumentLayouts>),
  };
#undef TT_FUNCTION
  return &layouts.base;
}

} // namespace tt::pjrt
