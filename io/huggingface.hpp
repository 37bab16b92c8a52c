// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "yaml_value.hpp"

namespace proteus::io {

/// A Hugging Face config.json as the keys of a `model:` section. `written`: the path as the user gave it, for the
/// description. Throws InputError for model types other than llama, mistral and gpt2, for heads that are no language
/// model, and for features that the model description cannot say. The sequence length of llama-like models is left
/// out: max_position_embeddings is a limit, not what is trained with.
YamlValue read_huggingface_config(const std::filesystem::path& file, const std::string& written);

}  // namespace proteus::io
