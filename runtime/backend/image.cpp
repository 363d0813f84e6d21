//===- image.cpp - device images, checked ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "image.h"

#include "archive.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace tt::backend {
namespace {

using nlohmann::json;

constexpr int version = 3;
constexpr const char *descriptionFile = "device.json";
constexpr const char *programFile = "backend_build_binaries/epoch_programs/program.ttnn";
constexpr const char *modelsFile = "models.json"; // of several images in one file
constexpr const char *fields[] = {
    "version", "name",    "arch",       "chip_ids",  "devtype", "grid",        "harvested_rows", "training", "inputs",
    "targets", "outputs", "parameters", "arguments", "results", "input_names", "output_names",   "program",  "exact",
};
constexpr uint64_t mostDescription = 64 << 20; // bytes
constexpr int64_t tile = 32;
/// Rows of cores that a chip may lack, as in frontends/pybuda/config.py.
constexpr bool isHarvestable(uint64_t row) { return row >= 1 && row <= 11 && row != 6; }

/// PyTorch's types: the device's replacement, and the representation in a file.
struct Element {
  const char *name;
  DataType dtype;
  size_t bytes;
};
constexpr Element elements[] = {
    {"float32", DataType::Float32, 4}, {"float16", DataType::Float16, 2}, {"bfloat16", DataType::BFloat16, 2},
    {"float64", DataType::Float32, 8}, {"int32", DataType::Int32, 4},     {"int64", DataType::Int32, 8},
    {"int16", DataType::Int32, 2},     {"int8", DataType::Int32, 1},      {"uint8", DataType::UInt8, 1},
    {"uint16", DataType::UInt16, 2},   {"uint32", DataType::UInt32, 4},   {"bool", DataType::Bool, 1},
};

const Element &element(const std::string &name) {
  const auto found = std::ranges::find_if(elements, [&](const Element &each) { return name == each.name; });
  if (found == std::end(elements))
    throw Error("the type " + name + " is not one of the device's");
  return *found;
}

struct Format {
  DataFormat format;
  DataType dtype;
};
/// The first name of a type is the backend's.
constexpr Format formats[] = {
    {DataFormat::Float32, DataType::Float32},    {DataFormat::Float16, DataType::Float16},
    {DataFormat::Float16_b, DataType::BFloat16}, {DataFormat::Int32, DataType::Int32},
    {DataFormat::RawUInt8, DataType::UInt8},     {DataFormat::RawUInt16, DataType::UInt16},
    {DataFormat::UInt16, DataType::UInt16},      {DataFormat::RawUInt32, DataType::UInt32},
    {DataFormat::RawUInt8, DataType::Bool},
};

/// Converts values of a type that the device lacks to the replacement.
template <class From, class To> void convert(std::byte *to, const std::byte *from, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof value);
    if constexpr (std::is_integral_v<From>)
      if (value < std::numeric_limits<To>::min() || value > std::numeric_limits<To>::max())
        throw Error("the value " + std::to_string(value) + " is none of an int32, which the device has instead");
    const To result = static_cast<To>(value);
    std::memcpy(to + i * sizeof(To), &result, sizeof result);
  }
}

/// Elements in rows, from tiles of 32 x 32 that are padded with zeros.
Bytes untiled(const Bytes &tiles, const Shape &shape, size_t width) {
  const int64_t columns = shape.empty() ? 1 : shape.back(), rows = columns ? volume(shape) / columns : 0;
  const int64_t across = (columns + tile - 1) / tile, down = (rows + tile - 1) / tile;
  if (tiles.size != static_cast<uint64_t>(across * down * tile * tile) * width)
    throw Error("has " + std::to_string(tiles.size) + " bytes; expected " + std::to_string(across * down) +
                " tiles of " + std::to_string(tile * tile * width));
  const size_t bytes = static_cast<size_t>(rows * columns) * width;
  Bytes found{sim::allocateHost(bytes, "a parameter"), bytes};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; column += tile) {
      const int64_t from = ((row / tile * across + column / tile) * tile + row % tile) * tile;
      std::memcpy(found.data.get() + (row * columns + column) * width, tiles.data.get() + from * width,
                  std::min(tile, columns - column) * width);
    }
  return found;
}

/// The parts of a file that belong to one image.
class Reader {
public:
  Reader(const Archive &archive, std::string prefix) : archive(archive), prefix(std::move(prefix)) {}

  Model model() {
    const json about = description();
    if (const json &found = field(about, "version"); found != version)
      fail("version " + found.dump() + "; this backend reads " + std::to_string(version));
    for (const char *name : fields)
      field(about, name);
    for (const auto &[name, value] : about.items())
      if (std::ranges::find(fields, name) == std::end(fields))
        fail(std::string(descriptionFile) + ": it has " + name + ", which is not known");
    Model model;
    const std::string arch = field(about, "arch");
    if (arch != "Grayskull" && arch != "Wormhole_B0")
      fail("arch is " + arch + "; expected Grayskull or Wormhole_B0");
    model.arch = arch == "Grayskull" ? ARCH::GRAYSKULL : ARCH::WORMHOLE_B0;
    for (const uint64_t row : numbers(about, "harvested_rows")) {
      if (!isHarvestable(row))
        fail(std::string(descriptionFile) + ": harvested_rows has " + std::to_string(row) +
             "; expected rows 1 to 5 and 7 to 11");
      model.harvestedRows.push_back(static_cast<uint32_t>(row));
    }
    const json &exact = field(about, "exact");
    if (!exact.is_boolean())
      fail(std::string(descriptionFile) + ": exact is " + exact.dump() + "; expected true or false");
    model.exact = exact;
    model.program = prefixed(field(about, "program"));
    model.inputs = ports(about, "inputs", "input_names");
    model.outputs = ports(about, "outputs", "output_names");
    for (const json &each : field(about, "parameters"))
      model.parameters.push_back(parameter(each));
    model.arguments = numbers(about, "arguments");
    model.results = numbers(about, "results");
    model.binary = program();
    check(model);
    return model;
  }

private:
  [[noreturn]] void fail(const std::string &why) const { throw Error(archive.path() + ": " + prefix + why); }

  const json &field(const json &about, const char *name) const {
    const auto found = about.find(name);
    if (found == about.end())
      fail(std::string(descriptionFile) + ": it has no " + name);
    return *found;
  }

  /// JSON's other numbers, and true, would be read as some number.
  std::vector<size_t> numbers(const json &about, const char *name) const {
    const json &found = field(about, name);
    if (!found.is_array())
      fail(std::string(descriptionFile) + ": " + name + " is " + found.dump() + "; expected numbers");
    for (const json &each : found)
      if (!each.is_number_unsigned())
        fail(std::string(descriptionFile) + ": " + name + " has " + each.dump() + "; expected numbers, 0 or more");
    return found;
  }

  /// The name of an item of this image among those of all images.
  std::string prefixed(const std::string &name) const {
    return prefix.empty() ? name : prefix.substr(0, prefix.size() - 1) + "." + name;
  }

  Bytes read(const std::string &name) const {
    if (!archive.has(prefix + name))
      fail("no device image: it has no " + name);
    return archive.read(prefix + name);
  }

  json description() const {
    if (archive.has(prefix + descriptionFile) && archive.size(prefix + descriptionFile) > mostDescription)
      fail(std::string(descriptionFile) + " has more than " + std::to_string(mostDescription) + " bytes");
    json about = json::parse(read(descriptionFile).text());
    if (!about.is_object())
      fail(std::string(descriptionFile) + " is damaged: it is " + about.type_name() + "; expected object");
    return about;
  }

  std::vector<Port> ports(const json &about, const char *kind, const char *names) const {
    const json &tensors = field(about, kind), &called = field(about, names);
    if (tensors.size() != called.size())
      fail(std::string(descriptionFile) + ": " + std::to_string(tensors.size()) + " " + kind + " and " +
           std::to_string(called.size()) + " " + names);
    std::vector<Port> found;
    for (size_t i = 0; i < tensors.size(); ++i) {
      Port port{prefixed(called[i]), tensors[i].at(0), element(tensors[i].at(1)).dtype};
      if (port.shape.size() > PY_TENSOR_DIMS || volume(port.shape) > std::numeric_limits<uint32_t>::max())
        fail(std::string(descriptionFile) + ": " + port.name + " has shape " + toString(port.shape) +
             "; a tensor of the host has " + std::to_string(PY_TENSOR_DIMS) + " dimensions and 2^32 elements at most");
      found.push_back(std::move(port));
    }
    return found;
  }

  runtime::Tensor parameter(const json &entry) const {
    const std::string name = entry.at(0), file = entry.at(3);
    const Shape shape = entry.at(1);
    const Element &type = element(entry.at(2));
    const bool inTiles = file.ends_with(".tiles.bin");
    if (!inTiles && !file.ends_with(".bin"))
      fail("parameter " + name + " is stored for Python (" + file +
           "); save the image with PYBUDA_TTI_BACKEND_FORMAT=1, or tti_dump_format=\"backend\"");
    try {
      Bytes values = read(file);
      if (inTiles)
        values = untiled(values, shape, type.bytes);
      const auto count = static_cast<uint64_t>(volume(shape));
      if (values.size != count * type.bytes)
        throw Error("has " + std::to_string(values.size) + " bytes; expected " + std::to_string(count * type.bytes));
      if (type.bytes != storageBytes(type.dtype)) {
        const size_t bytes = count * storageBytes(type.dtype);
        const Bytes converted{sim::allocateHost(bytes, "a parameter"), bytes};
        const auto from = std::string(type.name) == "float64" ? &convert<double, float>
                          : type.bytes == 8                   ? &convert<int64_t, int32_t>
                          : type.bytes == 2                   ? &convert<int16_t, int32_t>
                                                              : &convert<int8_t, int32_t>;
        from(converted.data.get(), values.data.get(), count);
        values = converted;
      }
      return runtime::createHostTensor(values.data.get(), shape, type.dtype);
    } catch (const Error &error) {
      fail("the values of parameter " + name + ": " + error.what());
    }
  }

  runtime::Binary program() const {
    const Bytes bytes = read(programFile);
    auto binary = runtime::Binary::load(bytes.span(), bytes.data, archive.path() + ": " + prefix + programFile);
    if (binary.identifier() != "TTNN")
      fail(std::string(programFile) + ": has kernels in C++; an image holds a TTNN program");
    return binary;
  }

  /// Checks that the program has the inputs and outputs of the description.
  void check(const Model &model) const {
    if (model.binary.programs().empty())
      fail("its program is empty");
    const runtime::Program &program = model.binary.program(0);
    if (model.arguments.size() != program.inputs.size())
      fail(std::string(descriptionFile) + ": arguments has " + std::to_string(model.arguments.size()) +
           " numbers; the program has " + std::to_string(program.inputs.size()) + " inputs");
    const size_t parameters = model.parameters.size(), given = parameters + model.inputs.size();
    for (size_t i = 0; i < model.arguments.size(); ++i) {
      const size_t number = model.arguments[i];
      if (number >= given)
        fail(std::string(descriptionFile) + ": arguments has " + std::to_string(number) + "; expected less than " +
             std::to_string(given));
      if (number < parameters)
        agree("argument", i, program.spec(program.inputs[i]), model.parameters[number].shape());
      else
        agree("argument", i, program.spec(program.inputs[i]), model.inputs[number - parameters].shape);
    }
    if (model.results.size() != model.outputs.size())
      fail(std::string(descriptionFile) + ": results has " + std::to_string(model.results.size()) + " numbers for " +
           std::to_string(model.outputs.size()) + " outputs");
    for (size_t i = 0; i < model.results.size(); ++i) {
      if (model.results[i] >= program.outputs.size())
        fail(std::string(descriptionFile) + ": results has " + std::to_string(model.results[i]) + "; the program has " +
             std::to_string(program.outputs.size()) + " outputs");
      agree("result", i, program.spec(program.outputs[model.results[i]]), model.outputs[i].shape);
    }
  }

  void agree(const char *what, size_t number, const TensorSpec &spec, const Shape &shape) const {
    if (volume(spec.shape) != volume(shape))
      fail(std::string(descriptionFile) + ": " + what + " " + std::to_string(number) + " is " + toString(shape) +
           "; the program has " + toString(spec.shape));
  }

  const Archive &archive;
  const std::string prefix;
};

} // namespace

DataType dataTypeOf(DataFormat format) {
  const auto found = std::ranges::find(formats, format, &Format::format);
  if (found == std::end(formats))
    throw Error("a tensor of the host has format " + std::to_string(static_cast<int>(format)) +
                "; expected Float32, Float16, Float16_b, Int32, UInt16, RawUInt8, RawUInt16 or RawUInt32");
  return found->dtype;
}

DataFormat formatOf(DataType dtype) {
  const auto found = std::ranges::find(formats, dtype, &Format::dtype);
  return found == std::end(formats) ? DataFormat::Invalid : found->format;
}

bool isFloat(DataType dtype) {
  return dtype == DataType::Float32 || dtype == DataType::Float16 || dtype == DataType::BFloat16;
}

const Port &Image::port(const std::string &name) const {
  for (const Model &model : models)
    for (const auto *ports : {&model.inputs, &model.outputs})
      for (const Port &port : *ports)
        if (port.name == name)
          return port;
  std::string known;
  for (const auto *names : {&inputNames, &outputNames})
    for (const std::string &each : *names)
      known += (known.empty() ? "" : ", ") + each;
  throw Error(path + ": there is no queue " + name + "; there are " + (known.empty() ? "none" : known));
}

std::shared_ptr<const Image> loadImage(const std::string &path) {
  const Archive archive(path);
  const auto image = std::make_shared<Image>();
  image->path = path;
  std::string reading = modelsFile;
  try {
    std::vector<std::string> prefixes = {""};
    if (archive.has(modelsFile)) {
      prefixes = json::parse(archive.read(modelsFile).text()).at("models");
      for (std::string &each : prefixes)
        each += "/";
    }
    for (const std::string &prefix : prefixes) {
      reading = prefix + descriptionFile;
      image->models.push_back(Reader(archive, prefix).model());
    }
  } catch (const json::exception &error) {
    throw Error(path + ": " + reading + " is damaged: " + error.what());
  } catch (const Error &error) {
    if (std::string_view(error.what()).starts_with(path))
      throw;
    throw Error(path + ": " + reading + ": " + error.what());
  }
  for (const Model &model : image->models) {
    image->programNames.push_back(model.program);
    for (const auto &[ports, names] :
         {std::pair{&model.inputs, &image->inputNames}, std::pair{&model.outputs, &image->outputNames}})
      for (const Port &port : *ports)
        names->push_back(port.name);
  }
  std::vector<std::string> all = image->inputNames;
  all.insert(all.end(), image->outputNames.begin(), image->outputNames.end());
  std::ranges::sort(all);
  if (const auto twice = std::ranges::adjacent_find(all); twice != all.end())
    throw Error(path + ": two queues are called " + *twice);
  return image;
}

namespace {

/// The same text for the same folder, whether it exists yet or not, and whatever the working directory.
std::string resolved(const std::string &outputPath) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path whole = fs::absolute(outputPath.empty() ? "." : outputPath, error);
  const fs::path found = error ? fs::path() : fs::weakly_canonical(whole, error);
  if (error)
    throw Error("the output path " + outputPath + ": " + error.message());
  return (found.has_filename() || !found.has_relative_path() ? found : found.parent_path()).string();
}

} // namespace
} // namespace tt::backend

namespace tt {

tt_device_image::tt_device_image(const std::string &tti_path, const std::string &output_path)
    : image(backend::loadImage(tti_path)), outputPath(backend::resolved(output_path)) {}

const std::vector<std::string> &tt_device_image::get_graph_input_names() const { return image->inputNames; }
const std::vector<std::string> &tt_device_image::get_graph_output_names() const { return image->outputNames; }

} // namespace tt
