// SPDX-License-Identifier: Apache-2.0
#include "proteus/graph/communicator.hpp"

#include <algorithm>
#include <limits>

namespace proteus::graph {
namespace {

std::int64_t product(const std::vector<CommunicatorFamily::Axis>& axes) {
  std::int64_t result = 1;
  for (const auto& axis : axes) result *= axis.size;
  return result;
}

std::int64_t offset(const std::vector<CommunicatorFamily::Axis>& axes, std::int64_t number) {
  std::int64_t result = 0;
  for (const auto& axis : axes) {
    result += number % axis.size * axis.stride;
    number /= axis.size;
  }
  return result;
}

/// One axis while a device number is taken apart, with negative strides turned round.
struct Digit {
  std::int64_t stride;
  std::int64_t size;
  std::int64_t weight;  ///< what one step of the axis adds to the group or member number
  bool reversed;
  bool member;
};

/// Takes the digits of `axes` for which `stride` is the largest below `limit`.
void find_largest(const std::vector<CommunicatorFamily::Axis>& axes, bool member, std::int64_t limit, Digit& best) {
  std::int64_t weight = 1;
  for (const auto& axis : axes) {
    std::int64_t stride = axis.stride < 0 ? -axis.stride : axis.stride;
    if (axis.size > 1 && stride < limit && stride > best.stride) {
      best = {stride, axis.size, weight, axis.stride < 0, member};
    }
    weight *= axis.size;
  }
}

std::int64_t lowest(const std::vector<CommunicatorFamily::Axis>& axes) {
  std::int64_t result = 0;
  for (const auto& axis : axes) result += std::min<std::int64_t>(0, axis.stride * (axis.size - 1));
  return result;
}

std::int64_t highest(const std::vector<CommunicatorFamily::Axis>& axes) {
  std::int64_t result = 0;
  for (const auto& axis : axes) result += std::max<std::int64_t>(0, axis.stride * (axis.size - 1));
  return result;
}

}  // namespace

std::int64_t CommunicatorFamily::groups() const { return product(group_axes); }

std::int64_t CommunicatorFamily::members() const { return product(member_axes); }

std::int64_t CommunicatorFamily::device(std::int64_t group, std::int64_t member) const {
  return base + offset(group_axes, group) + offset(member_axes, member);
}

std::optional<CommunicatorFamily::Place> CommunicatorFamily::locate(std::int64_t device) const {
  std::int64_t rest = device - base - lowest(group_axes) - lowest(member_axes);
  if (rest < 0) return std::nullopt;
  Place place;
  // Axes are factors of one mesh, so that strides nest and the largest digit can be taken first.
  for (std::int64_t limit = std::numeric_limits<std::int64_t>::max();;) {
    Digit digit{0, 1, 0, false, false};
    find_largest(group_axes, false, limit, digit);
    find_largest(member_axes, true, limit, digit);
    if (digit.stride == 0) break;
    limit = digit.stride;
    std::int64_t value = std::min(rest / digit.stride, digit.size - 1);
    rest -= value * digit.stride;
    if (digit.reversed) value = digit.size - 1 - value;
    (digit.member ? place.member : place.group) += value * digit.weight;
  }
  if (rest != 0) return std::nullopt;
  return place;
}

cost::Placement CommunicatorFamily::placement(std::int64_t group, int gpus_per_node) const {
  std::vector<std::int64_t> nodes;
  std::int64_t count = members();
  nodes.reserve(static_cast<std::size_t>(count));
  std::int64_t first = base + offset(group_axes, group);
  for (std::int64_t member = 0; member < count; ++member) {
    nodes.push_back((first + offset(member_axes, member)) / gpus_per_node);
  }
  std::sort(nodes.begin(), nodes.end());
  cost::Placement result{static_cast<int>(count), 0, 0};
  for (std::size_t begin = 0; begin < nodes.size();) {
    std::size_t end = begin;
    while (end < nodes.size() && nodes[end] == nodes[begin]) ++end;
    ++result.nodes;
    result.members_per_node = std::max(result.members_per_node, static_cast<int>(end - begin));
    begin = end;
  }
  return result;
}

bool CommunicatorFamily::inside_island(std::int64_t group, int island_size) const {
  std::int64_t first = base + offset(group_axes, group);
  return (first + lowest(member_axes)) / island_size == (first + highest(member_axes)) / island_size;
}

}  // namespace proteus::graph
