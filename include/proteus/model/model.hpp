// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "proteus/base/error.hpp"
#include "proteus/model/convnet.hpp"
#include "proteus/model/graph.hpp"
#include "proteus/model/transformer.hpp"

namespace proteus::model {

/// What an experiment trains: the sizes of a model of one family, from which its graph follows.
struct Model {
  std::string name;      ///< e.g. "gpt3-175b"
  std::string source;    ///< paper and table, or file
  SourceLocation where;  ///< of `model:` in the user's file, for later errors
  std::variant<TransformerConfig, ConvNetConfig> family;

  /// Repeated blocks, "layers[0]" and on.
  std::int64_t layers() const;
  std::int64_t tokens_per_sample() const;  ///< 0 where samples are no sequences
  Graph build(const GraphOptions& options) const;
};

}  // namespace proteus::model
