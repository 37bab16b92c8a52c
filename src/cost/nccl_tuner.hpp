// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "nccl_topology.hpp"

namespace proteus::cost {

/// What one algorithm with one protocol takes.
struct TunerEstimate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  double latency = 0;    ///< us
  double bias = 1;       ///< factor on the latency when NCCL compares: a preference, not a duration
  double bandwidth = 0;  ///< algorithm bandwidth, GB/s
  int channels = 1;      ///< thread blocks

  double microseconds(double size) const { return latency + size / (1000 * bandwidth); }
  double compared(double size) const { return latency * bias + size / (1000 * bandwidth); }
};

/// The cost model of NCCL (NVIDIA/nccl, src/graph/tuning.cc). Sizes in bytes, as in CommunicationCost.
class NcclTuner {
 public:
  NcclTuner(const NcclTopology& topology, const NcclParameters& parameters)
      : topology_(topology), parameters_(parameters) {}

  /// Nothing where NCCL would not run this algorithm with this protocol. `kind` is one that rings implement.
  std::optional<TunerEstimate> estimate(Collective kind, double size, const Group& group, Algorithm algorithm,
                                        Protocol protocol) const;
  /// The fastest of all, as NCCL chooses.
  TunerEstimate choose(Collective kind, double size, const Group& group) const;

 private:
  TunerEstimate ring(Collective kind, double size, const Group& group, Protocol protocol) const;
  TunerEstimate tree(double size, const Group& group, Protocol protocol) const;
  TunerEstimate nvls(Collective kind, const Group& group) const;
  TunerEstimate nvls_tree(const Group& group) const;
  double intra_latency(const PerProtocol& nvlink, const PerProtocol& pcie, const Group& group, Protocol protocol) const;
  double ring_inter_latency(const Group& group, Protocol protocol) const;
  int thread_blocks(const TunerEstimate& estimate, const Channels& channels, double size, const Group& group) const;

  NcclTopology topology_;
  NcclParameters parameters_;
};

}  // namespace proteus::cost
