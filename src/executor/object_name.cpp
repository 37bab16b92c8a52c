// SPDX-License-Identifier: Apache-2.0
#include "object_name.hpp"

#include <fmt/format.h>

namespace proteus::executor {

std::string object_name(const graph::Job& job, const partition::Objects& objects, std::uint32_t object) {
  if (objects.is_island(object)) return fmt::format("island {}", object);
  if (!objects.is_communicator(object)) return fmt::format("fabric domain {}", object - objects.first_domain());
  const auto& where = objects.communicator(object);
  return fmt::format("communicator {} #{}", job.families[where.family].name, where.group);
}

}  // namespace proteus::executor
