// SPDX-License-Identifier: Apache-2.0
#include "proteus/engine/transport.hpp"

#include <gmock/gmock.h>

#include "proteus/base/error.hpp"
#include "unit/engine/hosting.hpp"
#include "unit/engine/scripted_process.hpp"

namespace proteus::engine::testing {
namespace {

using ::testing::HasSubstr;

std::vector<Mailbox> three_mailboxes() {
  std::vector<Mailbox> boxes(3);
  for (int rank = 0; rank < 3; ++rank) {
    Mailbox& box = boxes[static_cast<std::size_t>(rank)];
    box.rank = rank;
    box.out.resize(3);
    box.promise = Time::picoseconds(100 - rank);
    box.progress = 5 + rank;
    for (std::uint32_t i = 0; i < 20; ++i) box.out[static_cast<std::size_t>(rank + 1) % 3].push_back({{.instance = i}});
  }
  return boxes;
}

TEST(Transport, DeliversAndAgrees) {
  auto transport = make_in_process_transport(3);
  EXPECT_EQ(transport->ranks(), 3);
  std::vector<Mailbox> boxes = three_mailboxes();
  Agreement agreement = transport->exchange(boxes);
  EXPECT_EQ(agreement.bound, Time::picoseconds(98));
  EXPECT_EQ(agreement.progress, 5);
  EXPECT_FALSE(agreement.failed);
  for (const Mailbox& box : boxes) {
    ASSERT_EQ(box.in.size(), 20U);
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(box.in[i].instance, i);
    for (const auto& out : box.out) EXPECT_TRUE(out.empty());
  }
  boxes[1].failed = true;
  EXPECT_TRUE(transport->exchange(boxes).failed);
  EXPECT_TRUE(boxes[0].in.empty());
}

TEST(Transport, ShufflesButLosesNothing) {
  auto order = [](std::uint64_t seed) {
    auto transport = make_shuffling_transport(3, seed);
    std::vector<Mailbox> boxes = three_mailboxes();
    transport->exchange(boxes);
    std::vector<std::uint32_t> instances;
    for (const Event& event : boxes[0].in) instances.push_back(event.instance);
    return instances;
  };
  std::vector<std::uint32_t> sorted = order(1);
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(sorted[i], i);
  EXPECT_NE(order(1), sorted);
  EXPECT_NE(order(1), order(2));
  EXPECT_EQ(order(1), order(1));
}

TEST(Transport, GathersTexts) {
  std::vector<std::string> texts{"a", "", "c"};
  EXPECT_EQ(make_in_process_transport(3)->gather(texts), texts);
  EXPECT_THROW(make_in_process_transport(2)->gather(texts), std::invalid_argument);
  EXPECT_THROW(make_in_process_transport(0), std::invalid_argument);
}

/// Does something to the messages of every round.
class Tampering final : public Transport {
 public:
  explicit Tampering(std::function<void(std::vector<Message>&)> tamper) : tamper_(std::move(tamper)) {}
  int ranks() const override { return 2; }
  Agreement exchange(std::span<Mailbox> local) override {
    Agreement agreement = inner_->exchange(local);
    for (Mailbox& box : local) tamper_(box.in);
    return agreement;
  }
  std::vector<std::string> gather(std::span<const std::string> local) override { return inner_->gather(local); }

 private:
  std::unique_ptr<Transport> inner_ = make_in_process_transport(2);
  std::function<void(std::vector<Message>&)> tamper_;
};

std::string error_with(std::function<void(std::vector<Message>&)> tamper) {
  Factory factory = [](std::uint32_t object) {
    Script script;
    if (object == 0) {
      script.start = [](Scheduler& scheduler) { scheduler.schedule({.time_ps = 50}); };
      script.handle = [](const Event&, Scheduler& scheduler) { scheduler.send({.time_ps = 90, .object = 1}); };
      script.promise = [] { return Time::picoseconds(80); };
    }
    return std::make_unique<ScriptedProcess>("island " + std::to_string(object), script);
  };
  auto engines = host_all(factory, {0, 1}, Time::picoseconds(10), 2,
                          {.name_of = [](std::uint32_t object) { return "island " + std::to_string(object); }});
  Tampering transport(std::move(tamper));
  try {
    run_windows(engines, transport, {});
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "no SimulationError";
}

TEST(Transport, LateLostAndMisledMessagesAreNoticed) {
  EXPECT_EQ(error_with([](auto&) {}), "no SimulationError");
  EXPECT_THAT(error_with([](auto& events) { events.clear(); }),
              HasSubstr("lost: ranks sent 1 to each other and received 0"));
  EXPECT_THAT(
      error_with([](auto& events) {
        for (Message& event : events) event.time_ps = 70;
      }),
      HasSubstr("rank 1: island 0 breaks a promise: its message for island 1 at 0.000000000070 s arrived late: events "
                "before 0.000000000080 s"));
  EXPECT_THAT(error_with([](auto& events) {
                for (Message& event : events) event.object = 0;
              }),
              HasSubstr("lives elsewhere"));
}

}  // namespace
}  // namespace proteus::engine::testing
