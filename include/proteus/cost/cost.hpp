// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "proteus/base/time.hpp"

namespace proteus::cost {

/// What an estimate rests on, best first.
enum class Provenance : std::uint8_t {
  profile,   ///< measured on the device, exact or interpolated
  fitted,    ///< a model whose parameters were fitted to measurements of this kind of device
  roofline,  ///< a model with class-typical efficiencies; uncalibrated
};

std::string_view name_of(Provenance provenance);

/// An estimated duration with its relative standard deviation.
struct Cost {
  Time time;
  double relative_sigma = 0;
  Provenance provenance = Provenance::roofline;
};

}  // namespace proteus::cost
