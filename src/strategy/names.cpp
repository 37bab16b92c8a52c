// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/runtime.hpp"
#include "proteus/strategy/strategy.hpp"

namespace proteus::strategy {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::activation:
      return "activation";
    case Role::saved:
      return "saved";
    case Role::activation_gradient:
      return "activation_gradient";
    case Role::gradient:
      return "gradient";
    case Role::replicated_gradient:
      return "replicated_gradient";
    case Role::shared_gradient:
      return "shared_gradient";
    case Role::parameter:
      return "parameter";
    case Role::pipeline:
      return "pipeline";
    case Role::scalar:
      return "scalar";
  }
  return "?";
}

std::string_view name_of(SchedulePolicy policy) {
  switch (policy) {
    case SchedulePolicy::gpipe:
      return "gpipe";
    case SchedulePolicy::one_f_one_b:
      return "1f1b";
    case SchedulePolicy::interleaved_1f1b:
      return "interleaved-1f1b";
    case SchedulePolicy::zb_h1:
      return "zb-h1";
    case SchedulePolicy::listed:
      return "listed";
  }
  return "?";
}

std::string_view name_of(ChunkPlacement placement) { return placement == ChunkPlacement::v ? "v" : "loop"; }

char letter_of(PassKind pass) {
  switch (pass) {
    case PassKind::forward:
      return 'F';
    case PassKind::backward:
      return 'B';
    case PassKind::input_gradient:
      return 'I';
    case PassKind::weight_gradient:
      return 'W';
  }
  return '?';
}

std::string text_of(const Pass& pass) {
  std::string text = letter_of(pass.kind) + std::to_string(pass.micro_batch);
  if (pass.chunk > 0) text += "." + std::to_string(pass.chunk);
  return text;
}

}  // namespace proteus::strategy
