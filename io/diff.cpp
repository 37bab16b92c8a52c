// SPDX-License-Identifier: Apache-2.0
#include "diff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "diff_data.hpp"
#include "hdf5_handle.hpp"

namespace proteus::io {
namespace {

// Far below anything a timeline has; a hard link to a group above it would otherwise lead round for ever.
constexpr int kDeepestGroup = 32;

std::string_view name_of(H5I_type_t kind) {
  switch (kind) {
    case H5I_GROUP:
      return "group";
    case H5I_DATASET:
      return "dataset";
    case H5I_DATATYPE:
      return "named type";
    default:
      return "unknown object";
  }
}

std::string_view name_of(H5L_type_t kind) {
  switch (kind) {
    case H5L_TYPE_HARD:
      return "hard link";
    case H5L_TYPE_SOFT:
      return "soft link";
    case H5L_TYPE_EXTERNAL:
      return "external link";
    default:
      return "unknown link";
  }
}

std::string describe(hid_t type) {
  std::string_view kind;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      kind = H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned integer" : "integer";
      break;
    case H5T_FLOAT:
      kind = "float";
      break;
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? "string of variable length"
                                          : fmt::format("string of {} bytes", H5Tget_size(type));
    case H5T_COMPOUND:
      kind = "compound";
      break;
    default:
      kind = "type";
  }
  std::string_view order = H5Tget_order(type) == H5T_ORDER_BE ? " (big endian)" : "";
  return fmt::format("{} of {} bytes{}", kind, H5Tget_size(type), order);
}

std::string describe(hid_t space, const std::vector<hsize_t>& shape) {
  return H5Sget_simple_extent_type(space) == H5S_NULL ? "empty" : fmt::format("({})", fmt::join(shape, ", "));
}

std::vector<hsize_t> shape_of(hid_t space) {
  std::vector<hsize_t> shape(static_cast<std::size_t>(hdf5_check(H5Sget_simple_extent_ndims(space), "read a shape")));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

std::vector<std::string> links_of(hid_t group) {
  std::vector<std::string> names;
  auto collect = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  hdf5_check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "list a group");
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> attributes_of(hid_t object) {
  std::vector<std::string> names;
  auto collect = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  hdf5_check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "list attributes");
  std::sort(names.begin(), names.end());
  return names;
}

std::string target_of(hid_t group, const std::string& name, const H5L_info_t& link) {
  std::vector<char> target(link.u.val_size);
  hdf5_check(H5Lget_val(group, name.c_str(), target.data(), target.size(), H5P_DEFAULT), "read link " + name);
  return std::string(target.begin(), target.end());
}

std::string unit_of(hid_t object) {
  if (H5Aexists(object, "unit") <= 0) {
    return "";
  }
  Hdf5Attribute attribute(H5Aopen(object, "unit", H5P_DEFAULT));
  Hdf5Type type(H5Aget_type(attribute.get()));
  char* text = nullptr;
  if (H5Tis_variable_str(type.get()) <= 0 || H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)) < 0) {
    return "";
  }
  std::string unit = text == nullptr ? "" : text;
  H5free_memory(text);
  return unit;
}

class Comparison {
 public:
  Comparison(const std::filesystem::path& a, const std::filesystem::path& b, std::size_t limit,
             const ReadObserver& observer)
      : a_(a.string()), b_(b.string()), limit_(std::max<std::size_t>(limit, 1)), observer_(observer) {}

  std::vector<Difference> run() {
    reads(a_, "");
    Hdf5File left = open(a_);
    reads(b_, "");
    Hdf5File right = open(b_);
    Hdf5Object a(hdf5_check(H5Oopen(left.get(), "/", H5P_DEFAULT), "read " + a_));
    Hdf5Object b(hdf5_check(H5Oopen(right.get(), "/", H5P_DEFAULT), "read " + b_));
    compare_attributes(a.get(), b.get(), "/");
    compare_groups(a.get(), b.get(), "", 0);
    return std::move(differences_);
  }

 private:
  static Hdf5File open(const std::string& file) {
    return Hdf5File(hdf5_check(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "read " + file));
  }

  void reads(const std::string& file, const std::string& path) const {
    if (observer_) observer_(file, path);
  }
  DataSource watched(DataSource source, const std::string& file, const std::string& path) const {
    source.read = [this, read = std::move(source.read), &file, &path](hid_t type, const std::vector<hsize_t>& first,
                                                                      const std::vector<hsize_t>& count, void* values) {
      reads(file, path);
      read(type, first, count, values);
    };
    return source;
  }

  bool full() const { return differences_.size() >= limit_; }
  void add(std::string path, std::string what) {
    if (!full()) {
      differences_.push_back({std::move(path), std::move(what)});
    }
  }

  /// Tells what only one side has; returns what both have.
  std::vector<std::string> common(const std::vector<std::string>& a, const std::vector<std::string>& b,
                                  const std::string& prefix) {
    std::vector<std::string> both;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    for (const auto& [mine, other, file] : {std::tuple(&a, &b, &a_), std::tuple(&b, &a, &b_)}) {
      std::vector<std::string> alone;
      std::ranges::set_difference(*mine, *other, std::back_inserter(alone));
      for (const std::string& name : alone) {
        add(prefix + name, fmt::format("only in {}", *file));
      }
    }
    return both;
  }

  void compare_groups(hid_t a, hid_t b, const std::string& path, int depth) {
    if (depth > kDeepestGroup) {
      throw OutputError(fmt::format("cannot compare {}: groups lie more than {} deep", path, kDeepestGroup));
    }
    std::vector<std::string> left = links_of(a);
    std::vector<std::string> right = links_of(b);
    if (depth == 0) {
      std::erase(left, "engine");
      std::erase(right, "engine");
    }
    for (const std::string& name : common(left, right, path + "/")) {
      if (full()) {
        return;
      }
      compare_links(a, b, name, path + "/" + name, depth);
    }
  }

  void compare_links(hid_t a, hid_t b, const std::string& name, const std::string& path, int depth) {
    reads(a_ + " or " + b_, path);
    H5L_info_t left;
    H5L_info_t right;
    hdf5_check(H5Lget_info(a, name.c_str(), &left, H5P_DEFAULT), "read link " + path);
    hdf5_check(H5Lget_info(b, name.c_str(), &right, H5P_DEFAULT), "read link " + path);
    if (left.type != right.type) {
      add(path, fmt::format("{} against {}", name_of(left.type), name_of(right.type)));
    } else if (left.type == H5L_TYPE_HARD) {
      Hdf5Object mine(hdf5_check(H5Oopen(a, name.c_str(), H5P_DEFAULT), "read " + path));
      Hdf5Object other(hdf5_check(H5Oopen(b, name.c_str(), H5P_DEFAULT), "read " + path));
      compare_objects(mine.get(), other.get(), path, depth);
    } else if (target_of(a, name, left) != target_of(b, name, right)) {
      add(path, fmt::format("{}s with different targets", name_of(left.type)));
    }
  }

  void compare_objects(hid_t a, hid_t b, const std::string& path, int depth) {
    H5I_type_t left = H5Iget_type(a);
    H5I_type_t right = H5Iget_type(b);
    if (left != right) {
      add(path, fmt::format("{} against {}", name_of(left), name_of(right)));
      return;
    }
    compare_attributes(a, b, path);
    if (left == H5I_GROUP) {
      compare_groups(a, b, path, depth + 1);
    } else if (left == H5I_DATASET) {
      compare_datasets(a, b, path);
    } else if (left != H5I_DATATYPE || hdf5_check(H5Tequal(a, b), "compare " + path) == 0) {
      add(path, left == H5I_DATATYPE ? "types differ" : "objects of this kind cannot be compared");
    }
  }

  /// Whether type and shape agree; tells where they do not.
  bool same_form(hid_t type_a, hid_t type_b, hid_t space_a, hid_t space_b, const std::string& path) {
    if (hdf5_check(H5Tequal(type_a, type_b), "compare types of " + path) == 0) {
      std::string a = describe(type_a);
      std::string b = describe(type_b);
      add(path, a == b ? fmt::format("types differ, both {}", a) : fmt::format("type {} against {}", a, b));
      return false;
    }
    if (hdf5_check(H5Sextent_equal(space_a, space_b), "compare shapes of " + path) == 0) {
      std::string a = describe(space_a, shape_of(space_a));
      std::string b = describe(space_b, shape_of(space_b));
      add(path,
          a == b ? fmt::format("largest shapes differ, both are {}", a) : fmt::format("shape {} against {}", a, b));
      return false;
    }
    return H5Sget_simple_extent_type(space_a) != H5S_NULL;
  }

  void compare_datasets(hid_t a, hid_t b, const std::string& path) {
    Hdf5Type type_a(hdf5_check(H5Dget_type(a), "read " + path));
    Hdf5Type type_b(hdf5_check(H5Dget_type(b), "read " + path));
    Hdf5Space space_a(hdf5_check(H5Dget_space(a), "read " + path));
    Hdf5Space space_b(hdf5_check(H5Dget_space(b), "read " + path));
    if (!same_form(type_a.get(), type_b.get(), space_a.get(), space_b.get(), path)) {
      return;
    }
    std::vector<hsize_t> shape = shape_of(space_a.get());
    std::string what = compare_data(watched(dataset_source(a, type_a.get(), shape), a_, path),
                                    watched(dataset_source(b, type_a.get(), shape), b_, path), unit_of(a));
    if (!what.empty()) {
      add(path, what);
    }
  }

  void compare_attributes(hid_t a, hid_t b, const std::string& path) {
    for (const std::string& name : common(attributes_of(a), attributes_of(b), path + "@")) {
      if (full()) {
        return;
      }
      const std::string full_name = path + "@" + name;
      Hdf5Attribute mine(hdf5_check(H5Aopen(a, name.c_str(), H5P_DEFAULT), "read " + full_name));
      Hdf5Attribute other(hdf5_check(H5Aopen(b, name.c_str(), H5P_DEFAULT), "read " + full_name));
      Hdf5Type type_a(hdf5_check(H5Aget_type(mine.get()), "read " + full_name));
      Hdf5Type type_b(hdf5_check(H5Aget_type(other.get()), "read " + full_name));
      Hdf5Space space_a(hdf5_check(H5Aget_space(mine.get()), "read " + full_name));
      Hdf5Space space_b(hdf5_check(H5Aget_space(other.get()), "read " + full_name));
      if (!same_form(type_a.get(), type_b.get(), space_a.get(), space_b.get(), full_name)) {
        continue;
      }
      std::vector<hsize_t> shape = shape_of(space_a.get());
      std::string what = compare_data(watched(attribute_source(mine.get(), type_a.get(), shape), a_, full_name),
                                      watched(attribute_source(other.get(), type_a.get(), shape), b_, full_name), "");
      if (!what.empty()) {
        add(full_name, what);
      }
    }
  }

  std::string a_;
  std::string b_;
  std::size_t limit_;
  const ReadObserver& observer_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> diff_timelines(const std::filesystem::path& a, const std::filesystem::path& b,
                                       std::size_t limit, const ReadObserver& observer) {
  Hdf5Quiet quiet;
  return Comparison(a, b, limit, observer).run();
}

}  // namespace proteus::io
