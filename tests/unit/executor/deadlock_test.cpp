// SPDX-License-Identifier: Apache-2.0
// Programs that wait for each other in a circle, or for something that never comes, end with the chain of devices and
// ops.
#include <gmock/gmock.h>

#include "job_builder.hpp"
#include "proteus/base/error.hpp"

namespace proteus::executor::testing {
namespace {

using cost::Collective;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using B = JobBuilder;

std::string deadlock_of(const JobBuilder& builder, const How& how) {
  try {
    simulate(builder, {}, how);
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no SimulationError";
}

/// The same text however the model is cut.
std::string deadlock_of(const JobBuilder& builder) {
  const std::string text = deadlock_of(builder, How{});
  How how;
  for (int ranks : {1, 2, 5}) {
    how.ranks = ranks;
    for (partition::Policy policy : {partition::Policy{}, partition::Policy{partition::PolicyKind::random, 3}}) {
      how.policy = policy;
      EXPECT_EQ(deadlock_of(builder, how), text);
    }
  }
  return text;
}

TEST(Deadlock, TwoCollectivesInOppositeOrder) {
  B b(2, 1);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto cp = b.family("cp", 0, {}, {{1, 2}});
  auto reduce = b.collective(dp, Collective::all_reduce, 1000, Traffic::gradient, 8'000'000, 1e9, 1);
  auto gather = b.collective(cp, Collective::all_gather, 2000, Traffic::tensor, 8'000'000, 1e9, 1);
  b.stages(1, 2);
  b.program({b.phase("left", {B::communicate(reduce, Stream::gradient), B::compute(5, {{Stream::gradient, 1}}),
                              B::communicate(gather, Stream::tensor, {{Stream::compute, 1}})})});
  b.program({b.phase("right", {B::communicate(gather, Stream::tensor), B::compute(5, {{Stream::tensor, 1}}),
                               B::communicate(reduce, Stream::gradient, {{Stream::compute, 1}})})});
  b.finish();
  EXPECT_THAT(
      deadlock_of(b),
      AllOf(
          StartsWith(
              "deadlock at 0.000002000000 s: no events are left, but 4 of 5 logical processes are not finished\n"
              "  everybody in this circle waits for the next:\n"
              "    device 0 (stage 0), compute: 'left.1' (gemm) of left, micro-batch 0, iteration 0 waits for stream "
              "gradient\n"
              "    -> device 0 (stage 0), gradient: 'left.0' (collective) of left, micro-batch 0, iteration 0 waits in "
              "all-reduce 'left.0' of 1000 B on dp #0 for device 1\n"
              "    -> device 1 (stage 1), gradient: 'right.2' (collective) of right, micro-batch 0, iteration 0 waits "
              "for stream compute\n"
              "    -> device 1 (stage 1), compute: 'right.1' (gemm) of right, micro-batch 0, iteration 0 waits for "
              "stream tensor\n"
              "    -> device 1 (stage 1), tensor: 'right.0' (collective) of right, micro-batch 0, iteration 0 waits in "
              "all-gather 'left.2' of 2000 B on cp #0 for device 0\n"
              "    -> device 0 (stage 0), tensor: 'left.2' (collective) of left, micro-batch 0, iteration 0 waits for "
              "stream compute\n"
              "    -> device 0 (stage 0), compute, where the chain began\n"
              "  they come to these in different orders:\n"
              "    device 0 (stage 0), gradient is in all-reduce 'left.0' of 1000 B on dp #0\n"
              "    device 1 (stage 1), tensor is in all-gather 'left.2' of 2000 B on cp #0\n"
              "  all that is stuck:\n"),
          HasSubstr("island 0: device 0 gradient: 'left.0' (collective)"),
          HasSubstr("island 1: device 1 tensor: 'right.0' (collective)"), HasSubstr("'left.1' (gemm)"),
          HasSubstr("'right.1' (gemm)"),
          HasSubstr("communicator dp #0: all-reduce 'left.0' of 1000 B on dp #0 has 1 of 2 members, waits for "
                    "device 1"),
          HasSubstr("communicator cp #0: all-gather 'left.2' of 2000 B on cp #0 has 1 of 2 members, waits for "
                    "device 0")));
}

TEST(Deadlock, ReceiveWithoutASend) {
  B b(3, 1);
  auto first = b.family("pp 0", 0, {}, {{1, 2}});
  auto second = b.family("pp 1", 1, {}, {{1, 2}});
  auto to_middle = b.collective(first, Collective::send_receive, 1000, Traffic::pipeline, 8'000'000, 1e9, 1);
  auto to_last = b.collective(second, Collective::send_receive, 1000, Traffic::pipeline, 8'000'000, 1e9, 1);
  b.stages(1, 3);
  b.program({b.phase("first", {B::compute(5)})});  // sends nothing
  b.program({b.phase("middle",
                     {B::communicate(to_middle, Stream::forward_receive), B::compute(5, {{Stream::forward_receive, 1}}),
                      B::communicate(to_last, Stream::forward_send, {{Stream::compute, 1}})})});
  b.program({b.phase("last", {B::communicate(to_last, Stream::forward_receive)})});
  b.finish();
  EXPECT_THAT(
      deadlock_of(b),
      AllOf(StartsWith("deadlock at "),
            HasSubstr("\n  the chain of waits ends with what never comes:\n"
                      "    device 1 (stage 1), compute: 'middle.1' (gemm) of middle, micro-batch 0, iteration 0 waits "
                      "for stream forward-receive\n"
                      "    -> device 1 (stage 1), forward-receive: 'middle.0' (collective) of middle, micro-batch 0, "
                      "iteration 0 waits to receive 'middle.0' of 1000 B on pp 0 #0 from device 0\n"
                      "    -> device 0 (stage 0): calls nothing on pp 0 #0 any more: all its ops have ended\n"
                      "  all that is stuck:\n"),
            HasSubstr("device 1 forward-receive: 'middle.0' (collective)"),
            HasSubstr("device 1 compute: 'middle.1' (gemm)"),
            HasSubstr("device 2 forward-receive: 'last.0' (collective)"),
            HasSubstr("has 1 of 2 members, waits for device 0"), HasSubstr("has 1 of 2 members, waits for device 1")));
}

TEST(Deadlock, MembersOfOneCommunicatorOnDifferentStreams) {
  // Both collectives run on dp #0, each device starts with another.
  B b(2, 2);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto reduce = b.collective(dp, Collective::all_reduce, 1000, Traffic::gradient, 8'000'000, 1e9);
  auto gather = b.collective(dp, Collective::all_gather, 2000, Traffic::tensor, 8'000'000, 1e9);
  b.stages(1, 2);
  b.program({b.phase("left", {B::communicate(reduce, Stream::gradient),
                              B::communicate(gather, Stream::tensor, {{Stream::gradient, 1}})})});
  b.program({b.phase("right", {B::communicate(gather, Stream::tensor),
                               B::communicate(reduce, Stream::gradient, {{Stream::tensor, 1}})})});
  b.finish();
  EXPECT_THAT(deadlock_of(b),
              HasSubstr("  they come to these in different orders:\n"
                        "    device 0 (stage 0), gradient is in all-reduce 'left.0' of 1000 B on dp #0\n"
                        "    device 1 (stage 1), tensor is in all-gather 'left.1' of 2000 B on dp #0\n"));
}

TEST(Deadlock, TheHostWaits) {
  B b(2, 1);
  auto dp = b.family("dp", 0, {}, {{1, 2}});
  auto reduce = b.collective(dp, Collective::all_reduce, 1000, Traffic::gradient, 8'000'000, 1e9, 1);
  b.stages(1, 2);
  b.program({b.phase("left", {B::synchronizing(B::communicate(reduce, Stream::gradient)), B::compute(5)})});
  b.program({b.phase("right", {B::compute(5)})});
  b.finish();
  EXPECT_THAT(deadlock_of(b),
              AllOf(HasSubstr("waits for the host, which waits for an op in front of it on stream gradient\n"
                              "    -> device 0 (stage 0), gradient: "),
                    HasSubstr("on dp #0 for device 1\n"
                              "    -> device 1 (stage 1): calls nothing on dp #0 any more: all its ops have ended\n")));
}

TEST(Deadlock, OneSendTooFew) {
  // The last stage receives twice for each send, so that the second iteration starves.
  B b(8, 2);
  b.job.iterations = 2;
  auto family = b.family("pp", 0, {{1, 2}}, {{2, 2}});
  auto other = b.family("pp 2", 4, {{1, 2}}, {{2, 2}});
  auto first = b.collective(family, Collective::send_receive, 1000, Traffic::pipeline, 8'000'000, 1e9, 1);
  auto last = b.collective(other, Collective::send_receive, 1000, Traffic::pipeline, 8'000'000, 1e9, 1);
  b.stages(2, 4);
  b.program({b.phase("0", {B::communicate(first, Stream::forward_send)})});
  b.program({b.phase("1", {B::communicate(first, Stream::forward_receive)})});
  b.program({b.phase("2", {B::communicate(last, Stream::forward_send)})});
  b.program({b.phase("3", {B::communicate(last, Stream::forward_receive), B::communicate(last, Stream::forward_receive),
                           B::compute(5, {{Stream::forward_receive, 2}})})});
  b.finish();
  EXPECT_THAT(
      deadlock_of(b),
      AllOf(HasSubstr("  the chain of waits ends with what never comes:\n"
                      "    device 6 (stage 3), compute: '3.2' (gemm) of 3, micro-batch 0, iteration 1 waits for "
                      "stream forward-receive\n"),
            HasSubstr("waits to receive '2.0' of 1000 B on pp 2 #0 from device 4\n"
                      "    -> device 4 (stage 2): calls nothing on pp 2 #0 any more: all its ops have ended\n")));
}

}  // namespace
}  // namespace proteus::executor::testing
