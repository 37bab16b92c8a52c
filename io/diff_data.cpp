// SPDX-License-Identifier: Apache-2.0
#include "diff_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace proteus::io {
namespace {

// Eight chunks of the timeline: few enough reads, little memory.
constexpr hsize_t kBlockBytes = hsize_t{4} << 20;

using Index = std::vector<hsize_t>;

Hdf5Space block_of(const Index& count) {
  return Hdf5Space(hdf5_check(
      count.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
      "select values"));
}

hsize_t product(const Index& counts) {
  return std::accumulate(counts.begin(), counts.end(), hsize_t{1}, std::multiplies<>());
}

/// Calls `visit(first, count)` for blocks of at most kBlockBytes (or one element) that cover `shape` in storage order.
void for_each_block(const Index& shape, std::size_t element,
                    const std::function<void(const Index&, const Index&)>& visit) {
  if (product(shape) == 0) {
    return;
  }
  // Dimensions behind `split` are taken whole, those in front one by one.
  std::size_t split = shape.size();
  hsize_t inner = 1;
  while (split > 0 && inner * element <= kBlockBytes) {
    --split;
    if (split == 0 || inner * shape[split] * element > kBlockBytes) {
      break;
    }
    inner *= shape[split];
  }
  if (shape.empty()) {
    visit({}, {});
    return;
  }
  const hsize_t step = std::max<hsize_t>(1, kBlockBytes / (inner * element));
  Index first(shape.size(), 0);
  Index count = shape;
  std::fill(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(split), hsize_t{1});
  while (true) {
    for (first[split] = 0; first[split] < shape[split]; first[split] += step) {
      count[split] = std::min(step, shape[split] - first[split]);
      visit(first, count);
    }
    first[split] = 0;
    std::size_t outer = split;
    while (outer > 0 && ++first[outer - 1] == shape[outer - 1]) {
      first[--outer] = 0;
    }
    if (outer == 0) {
      return;
    }
  }
}

/// Values of one block, as stored.
class Block {
 public:
  Block(const DataSource& source, const Index& first, const Index& count)
      : type_(source.type), count_(count), element_(H5Tget_size(source.type)), bytes_(product(count) * element_) {
    source.read(type_, first, count, bytes_.data());
  }
  ~Block() {
    if (is_text()) {
      H5Dvlen_reclaim(type_, block_of(count_).get(), H5P_DEFAULT, bytes_.data());
    }
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  hsize_t size() const { return product(count_); }

  bool same(const Block& other) const { return !is_text() && bytes_ == other.bytes_; }
  bool same_at(const Block& other, hsize_t i) const {
    return is_text() ? text(i) == other.text(i) : std::memcmp(at(i), other.at(i), element_) == 0;
  }

  std::string print(hsize_t i) const {
    if (is_text()) {
      return fmt::format("'{}'", text(i));
    }
    std::vector<char> value(at(i), at(i) + element_);
    value.resize(std::max(element_, sizeof(double)));
    switch (H5Tget_class(type_)) {
      case H5T_INTEGER:
        return H5Tget_sign(type_) == H5T_SGN_NONE ? number<unsigned long long>(value, H5T_NATIVE_ULLONG)
                                                  : number<long long>(value, H5T_NATIVE_LLONG);
      case H5T_FLOAT:
        return number<double>(value, H5T_NATIVE_DOUBLE);
      case H5T_STRING:
        return fmt::format("'{}'", std::string(value.data(), strnlen(value.data(), element_)));
      default:
        return fmt::format("bytes {:02x}", fmt::join(reinterpret_cast<const unsigned char*>(at(i)),
                                                     reinterpret_cast<const unsigned char*>(at(i)) + element_, " "));
    }
  }

 private:
  bool is_text() const { return H5Tis_variable_str(type_) > 0; }
  const char* at(hsize_t i) const { return bytes_.data() + i * element_; }
  std::string text(hsize_t i) const {
    const char* start = nullptr;
    std::memcpy(&start, at(i), sizeof start);
    return start == nullptr ? "" : start;
  }
  template <typename Number>
  std::string number(std::vector<char>& value, hid_t native) const {
    Number result{};
    hdf5_check(H5Tconvert(type_, native, 1, value.data(), nullptr, H5P_DEFAULT), "print a value");
    std::memcpy(&result, value.data(), sizeof result);
    return fmt::format("{}", result);
  }

  hid_t type_;
  Index count_;
  std::size_t element_;
  std::vector<char> bytes_;
};

/// Whether elements are bytes in a row, or strings: everything else hides its data behind references.
bool can_compare(hid_t type) {
  if (H5Tis_variable_str(type) > 0) {
    return true;
  }
  H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_COMPOUND || kind == H5T_ARRAY) {
    return H5Tdetect_class(type, H5T_VLEN) == 0 && H5Tdetect_class(type, H5T_STRING) == 0 &&
           H5Tdetect_class(type, H5T_REFERENCE) == 0;
  }
  return kind != H5T_VLEN && kind != H5T_REFERENCE;
}

/// "row 17", or "(2, 17)" with more than one dimension.
std::string place(const Index& shape, hsize_t flat) {
  if (shape.size() == 1) {
    return fmt::format("row {}", flat);
  }
  Index index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return fmt::format("({})", fmt::join(index, ", "));
}

}  // namespace

DataSource dataset_source(hid_t dataset, hid_t type, std::vector<hsize_t> shape) {
  auto read = [dataset](hid_t memory, const Index& first, const Index& count, void* values) {
    Hdf5Space space(hdf5_check(H5Dget_space(dataset), "select values"));
    if (!count.empty()) {
      hdf5_check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr),
                 "select values");
    }
    Hdf5Space block = block_of(count);
    hdf5_check(H5Dread(dataset, memory, block.get(), space.get(), H5P_DEFAULT, values), "read values");
  };
  return {type, std::move(shape), read, false};
}

DataSource attribute_source(hid_t attribute, hid_t type, std::vector<hsize_t> shape) {
  auto read = [attribute](hid_t memory, const Index&, const Index&, void* values) {
    hdf5_check(H5Aread(attribute, memory, values), "read an attribute");
  };
  return {type, std::move(shape), read, true};
}

std::string compare_data(const DataSource& a, const DataSource& b, const std::string& unit) {
  if (!can_compare(a.type)) {
    return "data of this type cannot be compared";
  }
  hsize_t passed = 0;
  hsize_t different = 0;
  std::string first_difference;
  auto visit = [&](const Index& first, const Index& count) {
    Block left(a, first, count);
    Block right(b, first, count);
    if (!left.same(right)) {
      for (hsize_t i = 0; i < left.size(); ++i) {
        if (left.same_at(right, i)) {
          continue;
        }
        if (different == 0) {
          std::string where = a.shape.empty() ? "" : fmt::format(" at {}", place(a.shape, passed + i));
          std::string suffix = unit.empty() ? "" : " " + unit;
          first_difference = fmt::format("{}: {}{} against {}{}", where, left.print(i), suffix, right.print(i), suffix);
        }
        ++different;
      }
    }
    passed += left.size();
  };
  if (a.whole) {
    visit(Index(a.shape.size(), 0), a.shape);
  } else {
    for_each_block(a.shape, H5Tget_size(a.type), visit);
  }
  if (different == 0) {
    return "";
  }
  return a.shape.empty()
             ? "differs" + first_difference
             : fmt::format("{} of {} values differ, first{}", different, product(a.shape), first_difference);
}

}  // namespace proteus::io
