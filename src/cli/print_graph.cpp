// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "prints.hpp"
#include "proteus/graph/planned_model.hpp"
#include "proteus/strategy/layout.hpp"

namespace proteus::cli {
namespace {

using Json = nlohmann::ordered_json;
using strategy::Layout;
using strategy::Reshard;

/// A tensor on its way from the op that makes it to one that reads it.
struct Edge {
  model::OpId from = model::no_op;
  model::TensorId tensor = 0;
  Layout made;
  Layout read;
  std::vector<Reshard> steps;
};

const char* name_of(Reshard::Kind kind) {
  switch (kind) {
    case Reshard::Kind::slice:
      return "slice";
    case Reshard::Kind::reduce_scatter:
      return "reduce-scatter";
    case Reshard::Kind::all_reduce:
      return "all-reduce";
    case Reshard::Kind::all_to_all:
      return "all-to-all";
    case Reshard::Kind::all_gather:
      return "all-gather";
  }
  return "";
}

class GraphView {
 public:
  explicit GraphView(const io::Experiment& e)
      : planned_(graph::plan_model(e.model, e.strategy, e.runtime, e.cluster.devices())) {}

  std::string text() const {
    std::string text;
    for (model::OpId id = 0; id < graph().ops.size(); ++id) {
      const model::Op& op = graph().ops[id];
      text += fmt::format("{:<44} {:<18} {}\n", op.path, model::name_of(op.kind), fmt::join(dims(id), " "));
      for (const Edge& edge : edges(id)) {
        text += fmt::format("    {} {}", graph().tensors[edge.tensor].name, edge.made.describe(planned_.mesh));
        for (const Reshard& step : edge.steps) text += " -> " + described(step);
        text += "\n";
      }
    }
    return text;
  }

  Json json() const {
    Json ops = Json::array();
    for (model::OpId id = 0; id < graph().ops.size(); ++id) ops.push_back(op_json(id));
    return {{"micro_batches", planned_.micro_batches}, {"ops", ops}};
  }

  std::string dot() const {
    std::string text = "digraph model {\n  rankdir=TB; node [shape=box, fontname=Helvetica];\n";
    for (model::OpId id = 0; id < graph().ops.size(); ++id) {
      const model::Op& op = graph().ops[id];
      text += fmt::format("  o{} [label=\"{}\\n{}\\n{}\"];\n", id, op.path, model::name_of(op.kind),
                          fmt::join(dims(id), " "));
      for (const Edge& edge : edges(id)) {
        if (edge.from == model::no_op) continue;
        std::vector<std::string> steps;
        for (const Reshard& step : edge.steps) steps.push_back(described(step));
        text += fmt::format("  o{} -> o{} [label=\"{}\"];\n", edge.from, id, fmt::join(steps, "\\n"));
      }
    }
    return text + "}\n";
  }

 private:
  const model::Graph& graph() const { return planned_.graph; }

  /// "out=3072/tp": the size of the whole dim, and what cuts it.
  std::vector<std::string> dims(model::OpId id) const {
    std::vector<std::string> found;
    const model::Op& op = graph().ops[id];
    for (std::size_t dim = 0; dim < op.dims.size(); ++dim) {
      const auto& atoms = planned_.plans[id].split[dim];
      found.push_back(fmt::format("{}={}{}", op.dims[dim].name, op.dims[dim].size,
                                  atoms.empty() ? "" : "/" + planned_.mesh.name_of(atoms)));
    }
    return found;
  }

  std::vector<Edge> edges(model::OpId id) const {
    std::vector<Edge> found;
    for (const model::Operand& operand : graph().ops[id].inputs) {
      const model::Tensor& tensor = graph().tensors[operand.tensor];
      if (tensor.producer == model::no_op) continue;
      const model::Op& producer = graph().ops[tensor.producer];
      Edge edge{tensor.producer,
                operand.tensor,
                planned_.plans[tensor.producer].output(producer, producer.outputs.front()),
                planned_.plans[id].input(operand),
                {}};
      edge.steps = strategy::reshard(edge.made, edge.read, tensor.extents, planned_.mesh);
      found.push_back(std::move(edge));
    }
    return found;
  }

  std::string described(const Reshard& step) const {
    return fmt::format("{} over {}", name_of(step.kind), planned_.mesh.name_of(step.atoms));
  }

  Json op_json(model::OpId id) const {
    const model::Op& op = graph().ops[id];
    Json dims = Json::array();
    for (std::size_t dim = 0; dim < op.dims.size(); ++dim) {
      const auto& atoms = planned_.plans[id].split[dim];
      dims.push_back({{"name", op.dims[dim].name}, {"size", op.dims[dim].size}});
      if (!atoms.empty()) dims.back()["split"] = planned_.mesh.name_of(atoms);
    }
    Json inputs = Json::array();
    for (const Edge& edge : edges(id)) {
      Json steps = Json::array();
      for (const Reshard& step : edge.steps) {
        steps.push_back(
            {{"kind", name_of(step.kind)}, {"over", planned_.mesh.name_of(step.atoms)}, {"elements", step.elements}});
      }
      inputs.push_back({{"tensor", graph().tensors[edge.tensor].name},
                        {"made", edge.made.describe(planned_.mesh)},
                        {"read", edge.read.describe(planned_.mesh)},
                        {"reshard", steps}});
    }
    Json parameters = Json::array();
    for (const model::Operand& operand : op.parameters) {
      const model::Tensor& tensor = graph().tensors[operand.tensor];
      parameters.push_back({{"name", tensor.name},
                            {"extents", tensor.extents},
                            {"layout", planned_.plans[id].input(operand).describe(planned_.mesh)}});
    }
    return {{"path", op.path},  {"kind", model::name_of(op.kind)}, {"flops", op.forward_flops()}, {"dims", dims},
            {"inputs", inputs}, {"parameters", parameters}};
  }

  graph::PlannedModel planned_;
};

}  // namespace

std::string print_graph(const PreparedJob& prepared, PrintFormat format) {
  const GraphView view(prepared.experiment);
  switch (format) {
    case PrintFormat::json:
      return view.json().dump(1) + "\n";
    case PrintFormat::dot:
      return view.dot();
    case PrintFormat::text:
      break;
  }
  return view.text();
}

}  // namespace proteus::cli
