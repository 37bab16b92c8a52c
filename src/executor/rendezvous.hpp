// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proteus/engine/logical_process.hpp"
#include "tables.hpp"

namespace proteus::executor {

/// One instance after the other of the collectives that a communicator runs on one lane: who has arrived, and with
/// what. Streams are in order, so at most one instance is under way.
class Rendezvous {
 public:
  Rendezvous(const Tables& tables, std::int64_t group, const Members& members, graph::Stream lane);

  /// A member launches `collective` at `time_ps`. True for the last of them.
  /// Throws SimulationError where members call different collectives.
  bool arrive(std::uint32_t member, graph::Stream stream, std::uint32_t collective, std::int64_t time_ps);
  /// Makes room for the next instance.
  void end();

  graph::Stream lane() const { return lane_; }
  bool waiting() const { return arrived_ > 0 && arrived_ < streams_.size(); }
  bool under_way() const { return arrived_ == streams_.size(); }
  bool idle() const { return arrived_ == 0; }
  std::uint32_t collective() const { return collective_; }
  std::int64_t last_arrival_ps() const { return last_arrival_ps_; }
  bool beside_compute() const { return beside_compute_; }
  graph::Stream stream_of(std::uint32_t member) const { return static_cast<graph::Stream>(streams_[member]); }
  bool has_arrived(std::uint32_t member) const { return streams_[member] != absent; }

  /// "all-reduce 'a' of 8 B on tp #5 has 1 of 2 members, waits for device 3".
  std::string describe() const;
  /// Of a deadlock's chain: "for device 3 and 2 more", and where to ask why it has not come.
  engine::WaitLink waits_for() const;

 private:
  static constexpr std::uint8_t absent = 0xff;

  const Tables* tables_;
  Members members_;
  std::int64_t group_;  ///< for messages
  graph::Stream lane_;
  bool beside_compute_ = false;
  std::uint32_t collective_ = graph::no_collective;
  std::uint32_t first_member_ = 0;
  std::uint32_t arrived_ = 0;
  std::int64_t last_arrival_ps_ = 0;
  std::vector<std::uint8_t> streams_;  ///< by member
};

/// The lanes of one communicator, made as they come into use.
class Lanes {
 public:
  Lanes(const Tables& tables, std::int64_t group, const Members& members)
      : tables_(&tables), group_(group), members_(members) {}

  Rendezvous& at(graph::Stream lane);
  std::vector<Rendezvous>& all() { return lanes_; }
  const std::vector<Rendezvous>& all() const { return lanes_; }
  /// Of a lane; nothing to tell where it is idle.
  engine::WaitLink waits_for(graph::Stream lane) const;

 private:
  const Tables* tables_;
  std::int64_t group_;
  Members members_;
  std::vector<Rendezvous> lanes_;
};

}  // namespace proteus::executor
