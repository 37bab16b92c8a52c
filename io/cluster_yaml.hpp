// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "proteus/cluster/cluster.hpp"
#include "yaml_read.hpp"

namespace proteus::io {

/// Section `cluster:`: a catalog name with `nodes`, or a whole description (node, nodes, fabric, nccl).
cluster::Cluster read_cluster(const YamlItem& item, const std::filesystem::path& catalog);

/// A whole description that read_cluster() takes without a catalog.
YamlValue cluster_to_yaml(const cluster::Cluster& cluster);

}  // namespace proteus::io
