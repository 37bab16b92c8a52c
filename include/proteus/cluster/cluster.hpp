// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "proteus/base/data_type.hpp"
#include "proteus/base/quantity.hpp"

namespace proteus::cluster {

/// One kind of GPU, from catalog/gpus/*.yaml. Peaks are dense; bandwidths are decimal and per direction.
struct Gpu {
  std::string name;                        ///< as in the catalog, e.g. "A100_SXM4_80"
  std::string architecture;                ///< Pascal, Volta, Ampere, Hopper, Blackwell, CDNA2, ...
  int compute_capability = 0;              ///< CUDA compute capability times ten; 0 where not CUDA
  int sm_count = 0;                        ///< streaming multiprocessors or compute units
  std::map<DataType, FlopPerSecond> peak;  ///< tensor-core peak; fp32 is the vector peak
  Bytes memory;                            ///< device memory
  BytesPerSecond memory_bandwidth;         ///< HBM or GDDR peak
  int nvlink_count = 0;                    ///< NVLink ports
  BytesPerSecond nvlink_bandwidth;         ///< all ports together, nominal
  BytesPerSecond nccl_link_bandwidth;      ///< one port as NCCL's topology search counts it
  double gemm_efficiency = 0;              ///< eta of the tile model where no fitted parameters exist
  double stream_efficiency = 0;            ///< reachable fraction of memory_bandwidth
  double in_situ_derate = 1;               ///< rate in sustained training / rate of an isolated kernel
  Time kernel_floor;                       ///< shortest kernel
  std::string source;                      ///< where the numbers were read
  std::string confidence;                  ///< A read in a source, B recalled vendor facts, C to be verified
};

/// One kind of node, from catalog/nodes/*.yaml.
struct Node {
  std::string name;  ///< e.g. "DGX-A100-80"
  Gpu gpu;
  int gpus = 0;                    ///< GPUs per node
  int nvlink_domain = 1;           ///< GPUs that reach each other over NVLink; 1 means PCIe only
  bool nvswitch = false;           ///< full crossbar inside the domain
  bool nvlink_sharp = false;       ///< NVLS: in-switch reduction (NVSwitch 3 and later)
  BytesPerSecond intra_bandwidth;  ///< per GPU and direction inside the node, nominal
  int nics = 0;                    ///< network interfaces used by training traffic
  BytesPerSecond nic_bandwidth;    ///< one NIC, one direction, line rate
  Time nic_latency;                ///< one way through a NIC
  bool amd_host = false;           ///< NCCL counts 2 us instead of 1 us of network overhead on AMD CPUs
  BytesPerSecond pcie_bandwidth;   ///< host-device, per direction
  std::string source;
  std::string confidence;
};

enum class FabricKind : std::uint8_t { rail_optimized_fat_tree, fat_tree };

/// What joins the nodes. A leaf switch takes `nodes_per_leaf` nodes (one NIC of each on every rail); its uplinks
/// carry 1/oversubscription of what its downlinks do.
struct Fabric {
  FabricKind kind = FabricKind::rail_optimized_fat_tree;
  int nodes_per_leaf = 0;
  double oversubscription = 1;
  Time switch_latency;  ///< one hop through a switch
  std::string source;
};

/// A cluster of equal nodes. Device d is GPU d % node.gpus of node d / node.gpus.
struct Cluster {
  std::string name;
  Node node;
  int nodes = 0;
  Fabric fabric;
  std::string nccl;  ///< NCCL version, "2.12": selects the constants of catalog/nccl

  std::int64_t devices() const { return static_cast<std::int64_t>(nodes) * node.gpus; }
};

}  // namespace proteus::cluster
