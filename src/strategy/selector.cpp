// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "proteus/strategy/tree.hpp"

namespace proteus::strategy {
namespace {

/// "layers[3].norm" -> layers, 3, norm
std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> found;
  std::string current;
  auto end_segment = [&] {
    if (!current.empty()) found.push_back(std::move(current));
    current.clear();
  };
  for (char c : path) {
    if (c == '.' || c == '[' || c == ']') {
      end_segment();
    } else {
      current += c;
    }
  }
  end_segment();
  return found;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "*" stands for any run of characters.
bool matches_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches_glob(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && pattern.front() == text.front() && matches_glob(pattern.substr(1), text.substr(1));
}

struct Range {
  long first = 0;
  long last = -1;  ///< -1: open
  long step = 1;
};

bool parse_range(std::string_view text, Range& range) {
  long* fields[] = {&range.first, &range.last, &range.step};
  std::size_t field = 0;
  while (true) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (!part.empty()) {
      if (!is_number(part)) return false;
      if (std::from_chars(part.data(), part.data() + part.size(), *fields[field]).ec != std::errc{}) return false;
    }
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (++field == 3) return false;
  }
  return range.step > 0;
}

bool matches_segment(const std::string& pattern, const std::string& segment) {
  if (pattern.find(':') != std::string::npos && is_number(segment)) {
    Range range;
    if (!parse_range(pattern, range)) return false;
    const long index = std::stol(segment);
    return index >= range.first && (range.last < 0 || index < range.last) && (index - range.first) % range.step == 0;
  }
  return matches_glob(pattern, segment);
}

/// Whether the pattern matches the path or a module above it.
bool matches_prefix(const std::vector<std::string>& pattern, std::size_t p, const std::vector<std::string>& path,
                    std::size_t s) {
  if (p == pattern.size()) return true;
  if (pattern[p] == "**") {
    for (std::size_t skip = s; skip <= path.size(); ++skip) {
      if (matches_prefix(pattern, p + 1, path, skip)) return true;
    }
    return false;
  }
  return s < path.size() && matches_segment(pattern[p], path[s]) && matches_prefix(pattern, p + 1, path, s + 1);
}

}  // namespace

Selector::Selector(const std::string& text, const SourceLocation& where) : text_(text) {
  std::string path = text;
  // A kind stands behind the last colon, outside brackets.
  const std::size_t colon = path.rfind(':');
  const std::size_t bracket = path.rfind(']');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    kind_ = path.substr(colon + 1);
    path.resize(colon);
    bool known = false;
    for (int kind = 0; kind <= static_cast<int>(model::last_op_kind); ++kind) {
      known = known || model::name_of(static_cast<model::OpKind>(kind)) == kind_;
    }
    if (!known)
      throw InputError(where, "strategy.tree", "unknown op kind `" + kind_ + "` in `" + text + "`",
                       "an op kind, e.g. linear");
  }
  segments_ = segments_of(path);
  for (const std::string& segment : segments_) {
    Range range;
    if (segment.find(':') != std::string::npos && !parse_range(segment, range)) {
      throw InputError(where, "strategy.tree", "`" + segment + "` in `" + text + "` is no range",
                       "FIRST:LAST or FIRST:LAST:STEP");
    }
  }
  if (segments_.empty()) throw InputError(where, "strategy.tree", "empty selector", "a module path");
}

bool Selector::matches(const model::Op& op) const {
  if (!kind_.empty() && kind_ != model::name_of(op.kind)) return false;
  return matches_prefix(segments_, 0, segments_of(op.path), 0);
}

}  // namespace proteus::strategy
