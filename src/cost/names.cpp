// SPDX-License-Identifier: Apache-2.0
#include "proteus/cost/communication_cost.hpp"
#include "proteus/cost/compute_cost.hpp"
#include "proteus/cost/cost.hpp"

namespace proteus::cost {

std::string_view name_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::profile:
      return "profile";
    case Provenance::fitted:
      return "fitted";
    case Provenance::roofline:
      return "roofline";
  }
  return "unknown";
}

std::string_view name_of(MemoryBoundKind kind) {
  switch (kind) {
    case MemoryBoundKind::elementwise:
      return "elementwise";
    case MemoryBoundKind::add:
      return "add";
    case MemoryBoundKind::bias_gelu:
      return "bias_gelu";
    case MemoryBoundKind::swiglu:
      return "swiglu";
    case MemoryBoundKind::layer_norm:
      return "layer_norm";
    case MemoryBoundKind::rms_norm:
      return "rms_norm";
    case MemoryBoundKind::softmax:
      return "softmax";
    case MemoryBoundKind::dropout:
      return "dropout";
    case MemoryBoundKind::dropout_add:
      return "dropout_add";
    case MemoryBoundKind::rope:
      return "rope";
    case MemoryBoundKind::embedding:
      return "embedding";
    case MemoryBoundKind::cross_entropy:
      return "cross_entropy";
    case MemoryBoundKind::copy:
      return "copy";
    case MemoryBoundKind::optimizer:
      return "optimizer";
  }
  return "unknown";
}

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "all-reduce";
    case Collective::all_gather:
      return "all-gather";
    case Collective::reduce_scatter:
      return "reduce-scatter";
    case Collective::all_to_all:
      return "all-to-all";
    case Collective::broadcast:
      return "broadcast";
    case Collective::send_receive:
      return "send-receive";
  }
  return "unknown";
}

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return "ring";
    case Algorithm::tree:
      return "tree";
    case Algorithm::nvls:
      return "nvls";
    case Algorithm::nvls_tree:
      return "nvls_tree";
    case Algorithm::point_to_point:
      return "point_to_point";
  }
  return "unknown";
}

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return "ll";
    case Protocol::ll128:
      return "ll128";
    case Protocol::simple:
      return "simple";
  }
  return "unknown";
}

}  // namespace proteus::cost
