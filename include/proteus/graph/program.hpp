// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proteus/base/data_type.hpp"
#include "proteus/base/quantity.hpp"
#include "proteus/cost/communication_cost.hpp"
#include "proteus/graph/communicator.hpp"

namespace proteus::graph {

/// In-order queues of a device, as CUDA streams. The host's issue queue is not one of them: it has no rows of its own,
/// only issue times (see Program).
enum class Stream : std::uint8_t {
  compute,
  tensor,        ///< tensor-parallel and other collectives on activations
  gradient,      ///< gradient reduction, parameter gathering, scalars of the optimizer
  forward_send,  ///< activations to the next stage
  forward_receive,
  backward_send,  ///< activation gradients to the previous stage
  backward_receive,
};
inline constexpr int stream_count = 7;
std::string_view name_of(Stream stream);

/// Why a collective is there: the key of the breakdown.
enum class Traffic : std::uint8_t { tensor, gradient, parameter, pipeline, embedding, scalar };
inline constexpr int traffic_count = 6;
std::string_view name_of(Traffic traffic);

/// "The first `count` ops that this phase issues on `stream` are done"; count 0 means all that was issued on it before
/// this phase. Ops of one stream end in order, so this is a CUDA event recorded behind op number `count`.
struct Wait {
  Stream stream = Stream::compute;
  std::uint16_t count = 0;
  bool operator==(const Wait&) const = default;
};

inline constexpr std::uint32_t no_collective = std::numeric_limits<std::uint32_t>::max();

/// One op of a phase, what the executor touches for each instance.
struct ProgramOp {
  static constexpr int max_waits = stream_count - 1;  ///< one for each other stream: a later event covers earlier ones

  std::int64_t duration_ps = 0;              ///< compute: alone on the device
  std::int64_t overlapped_ps = 0;            ///< compute: while a communication kernel is resident on the device
  std::uint32_t collective = no_collective;  ///< index in Job::collectives; no_collective for compute
  std::uint32_t host_ps = 0;                 ///< host time to issue it
  Stream stream = Stream::compute;
  bool host_sync = false;  ///< the host issues nothing more until this op has ended
  bool signals = false;    ///< compute: a communication op waits for exactly this op, or the host does
  std::uint8_t wait_count = 0;
  std::array<Wait, max_waits> waits{};

  bool is_compute() const { return collective == no_collective; }
  bool operator==(const ProgramOp&) const = default;
};

/// What is told about an op but does not steal cache lines from the executor. Parallel to Phase::ops.
struct OpDescription {
  std::uint32_t name = 0;  ///< index in Job::names, e.g. "layers[3].attention.qkv"
  std::uint32_t kind = 0;  ///< index in Job::names, e.g. "linear.dgrad", "all-reduce"
  double flops = 0;        ///< floating-point operations of the op on this device
  std::int64_t bytes = 0;  ///< memory traffic of a compute op; size of a collective
  cost::Provenance provenance = cost::Provenance::roofline;
  double relative_sigma = 0;
  bool operator==(const OpDescription&) const = default;
};

enum class PhaseKind : std::uint8_t { forward, backward, input_gradient, weight_gradient, epilogue };
std::string_view name_of(PhaseKind kind);

/// A straight list of ops in issue order: forward, backward or one half of it of one chunk (with its receives first and
/// its sends last), or the end of the step. Ops that run only for the first or last micro-batch make variants of a
/// phase.
struct Phase {
  std::string name;  ///< "forward[1]", "backward[0] last"
  PhaseKind kind = PhaseKind::forward;
  int chunk = 0;
  std::vector<ProgramOp> ops;
  std::vector<OpDescription> descriptions;

  // Derived by finish():
  std::array<std::vector<std::uint16_t>, stream_count> by_stream;  ///< op numbers of each stream
  std::vector<std::int64_t> host_before_ps;  ///< host time from the start of the phase to the issue of op i, inclusive
  std::int64_t host_ps = 0;                  ///< host time of the whole phase
  std::vector<std::uint16_t> syncs_before;   ///< host_sync ops in front of op i
  std::uint16_t syncs = 0;
  std::int64_t compute_ps = 0;                  ///< full-speed compute time of the whole phase
  std::vector<std::int64_t> compute_before_ps;  ///< full-speed compute time in front of compute op number i (index in
                                                ///< by_stream[compute]); one extra entry for "behind the last"
  /// Compute ops of this phase that must have ended before op i can start, over all chains of waits inside the phase;
  /// 0: only those of earlier phases, -1: none.
  std::vector<std::int32_t> compute_needed;
  /// Fills the derived fields, and sets ProgramOp::signals of compute ops that others wait for.
  void finish();
};

/// One line of a schedule.
struct Step {
  std::uint32_t phase = 0;  ///< index in Job::phases
  std::uint32_t micro_batch = 0;
  bool operator==(const Step&) const = default;
};

/// What every device of one class runs in each iteration.
struct Program {
  std::string name;  ///< "stage 3"
  std::vector<Step> steps;

  // Derived by finish(), one entry a step and one for the end:
  std::vector<std::int64_t> rows_before;     ///< timeline rows of an iteration in front of the step
  std::vector<std::int64_t> host_before_ps;  ///< host time of an iteration in front of the step
  std::vector<std::int32_t> syncs_before;
  std::vector<std::int64_t> compute_before_ps;  ///< full-speed compute time of an iteration in front of the step
  std::vector<std::array<std::int64_t, stream_count>> streams_before;  ///< ops on each stream in front of the step
  struct Place {
    std::uint32_t step = 0;
    std::uint16_t op = 0;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> syncs;  ///< host_sync ops of an iteration
  std::int64_t rows() const { return rows_before.back(); }

  void finish(const std::vector<Phase>& phases);
};

/// One collective as programs use it.
struct CollectiveUse {
  std::uint32_t family = 0;  ///< index in Job::families
  cost::Collective kind = cost::Collective::all_reduce;
  Bytes size;  ///< as cost::CommunicationCost counts it
  DataType type = DataType::bf16;
  Traffic traffic = Traffic::tensor;
  bool beside_compute = false;  ///< compute of the same device runs while it does: slows it by Job::comm_slowdown
  /// Price by placement; looked up with CommunicatorFamily::placement.
  std::map<cost::Placement, cost::CollectiveCost> cost;
  /// Whether its kernel takes SMs and memory bandwidth that compute on the device misses. Scalars come and go; a
  /// send or receive runs on two channels and moves no more than a NIC does (NCCL src/init.cc, p2pnChannels), however
  /// long it waits for its peer.
  bool slows_compute() const { return traffic != Traffic::scalar && kind != cost::Collective::send_receive; }

  bool operator==(const CollectiveUse& other) const {
    return family == other.family && kind == other.kind && size == other.size && type == other.type &&
           traffic == other.traffic && beside_compute == other.beside_compute;
  }
};

/// Bytes that a device of one class holds.
struct MemoryPlan {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;       ///< saved for backward, at the peak
  Bytes temporaries;       ///< live at the peak but not saved
  Bytes communication;     ///< NCCL and other buffers outside the allocator
  Bytes context;           ///< CUDA context
  Bytes peak;              ///< largest total over the iteration
  std::string peak_phase;  ///< phase at the peak, e.g. "backward[0]"
  std::string peak_op;
  std::vector<std::pair<std::string, Bytes>> largest;  ///< largest tensors alive at the peak
  /// Total bytes after each step of the program: the curve of an iteration.
  std::vector<std::int64_t> after_step;
};

/// A compiled job: everything the executor needs, the same on every rank, its size independent of the number of
/// replicas.
struct Job {
  std::int64_t devices = 0;
  int island_size = 1;  ///< consecutive devices joined by NVLink (or the node)
  int iterations = 1;

  std::vector<std::string> names;  ///< string table
  std::vector<CommunicatorFamily> families;
  std::vector<CollectiveUse> collectives;
  std::vector<Phase> phases;
  std::vector<Program> programs;   ///< one a class
  std::vector<MemoryPlan> memory;  ///< one a class

  /// Class of a device: programs are chosen by pipeline coordinate.
  std::int64_t stage_stride = 1;  ///< device-number stride of the pipeline axis
  std::int64_t stage_count = 1;
  std::vector<std::uint32_t> program_of_stage;
  std::uint32_t stage_of(std::int64_t device) const {
    return static_cast<std::uint32_t>(device / stage_stride % stage_count);
  }
  std::uint32_t class_of(std::int64_t device) const { return program_of_stage[stage_of(device)]; }

  /// A communication kernel beside compute transfers this factor slower (>= 1).
  double comm_slowdown = 1;
  /// Shortest delay of the model between two logical processes; > 0 where any communicator spans islands.
  Time lookahead = Time::infinity();

  // For reports.
  double model_flops_per_iteration = 0;  ///< whole job, recompute not counted
  std::int64_t tokens_per_iteration = 0;
  std::int64_t samples_per_iteration = 0;
  FlopPerSecond peak_flops;                                ///< one device, in the training type
  std::vector<std::pair<std::string, std::int64_t>> mesh;  ///< axis names and sizes, first varies fastest
};

/// The op at a program position of the whole run: iteration * rows + rows_before[step] + op number.
/// Throws std::out_of_range behind the last.
const ProgramOp& op_at(const Job& job, const Program& program, std::int64_t position);

}  // namespace proteus::graph
