// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <numeric>

#include "diff.hpp"
#include "hdf5_reading.hpp"
#include "proteus/base/error.hpp"
#include "proteus/io/timeline.hpp"
#include "timeline_job.hpp"

namespace proteus::io {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What HDF5 changes in one place; each mutation must be found and named.
class DiffTest : public ::testing::Test {
 protected:
  DiffTest() {
    graph::Job job = two_class_job(8, 3, 4);
    std::vector<std::int64_t> devices(8);
    std::iota(devices.begin(), devices.end(), 0);
    TimelineWriter writer({.file = original_, .devices = {}, .segment_rows = 50},
                          {.resolved_config = "model: a\n", .seed = 7, .version = "0.1.0", .engine = {{"host", "x"}}},
                          job, devices, MPI_COMM_NULL);
    for (std::int64_t device : devices) {
      record_rows(writer, job, device, 0, run_rows(job, device));
    }
    writer.add_summary("step_time", {1.5, 2.5}, "s");
    writer.close();
  }

  std::vector<Difference> after(const std::function<void(const Hdf5File&)>& mutate, std::size_t limit = 20) {
    std::filesystem::copy_file(original_, mutated_, std::filesystem::copy_options::overwrite_existing);
    {
      Hdf5File file = open_for(H5F_ACC_RDWR, mutated_);
      mutate(file);
    }
    return diff_timelines(original_, mutated_, limit);
  }

  /// The one difference, as "path: what".
  std::string only(const std::function<void(const Hdf5File&)>& mutate) {
    std::vector<Difference> found = after(mutate);
    return found.size() == 1 ? found[0].path + ": " + found[0].what : std::to_string(found.size()) + " differences";
  }

  ScratchDirectory scratch_{std::string("diff-") + ::testing::UnitTest::GetInstance()->current_test_info()->name()};
  std::filesystem::path original_ = scratch_ / "a.h5";
  std::filesystem::path mutated_ = scratch_ / "b.h5";
};

void set_rows(const Hdf5File& file, const std::string& name, hsize_t first, const std::vector<std::int64_t>& values) {
  Hdf5Dataset dataset = dataset_of(file, name);
  Hdf5Space space(H5Dget_space(dataset.get()));
  const hsize_t count = values.size();
  Hdf5Space memory(H5Screate_simple(1, &count, nullptr));
  hdf5_check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr), "select");
  hdf5_check(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, memory.get(), space.get(), H5P_DEFAULT, values.data()), "write");
}

void make_dataset(const Hdf5File& file, const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
  Hdf5Space space(shape.empty() ? H5Screate(H5S_SCALAR)
                                : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  Hdf5Dataset dataset(hdf5_check(
      H5Dcreate2(file.get(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create"));
}

void remove(const Hdf5File& file, const std::string& name) {
  hdf5_check(H5Ldelete(file.get(), name.c_str(), H5P_DEFAULT), "delete " + name);
}

void set_attribute(const Hdf5File& file, const std::string& object, const std::string& name, hid_t type,
                   const void* value) {
  Hdf5Object owner(hdf5_check(H5Oopen(file.get(), object.c_str(), H5P_DEFAULT), "open " + object));
  if (H5Aexists(owner.get(), name.c_str()) > 0) {
    H5Adelete(owner.get(), name.c_str());
  }
  Hdf5Space space(H5Screate(H5S_SCALAR));
  Hdf5Attribute attribute(
      hdf5_check(H5Acreate2(owner.get(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), "create " + name));
  hdf5_check(H5Awrite(attribute.get(), type, value), "write " + name);
}

Hdf5Type utf8() {
  Hdf5Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

void set_text(const Hdf5File& file, const std::string& object, const std::string& name, const char* text) {
  set_attribute(file, object, name, utf8().get(), static_cast<const void*>(&text));
}

TEST_F(DiffTest, ACopyIsEqual) {
  EXPECT_THAT(after([](const Hdf5File&) {}), IsEmpty());
}

TEST_F(DiffTest, OneValueOfTheTimeline) {
  EXPECT_EQ(only([](const Hdf5File& file) { set_rows(file, "/timeline/start", 17, {3}); }),
            "/timeline/start: 1 of 264 values differ, first at row 17: 1003 ps against 3 ps");
  EXPECT_EQ(only([](const Hdf5File& file) {
              set_rows(file, "/timeline/duration", 260, {-1, -2, -3});
            }),
            "/timeline/duration: 3 of 264 values differ, first at row 260: 510 ps against -1 ps");
}

TEST_F(DiffTest, OneValueWithTwoIndices) {
  EXPECT_EQ(only([](const Hdf5File& file) {
              Hdf5Dataset dataset = dataset_of(file, "/devices/row_start");
              std::vector<std::int64_t> values = numbers(file, "/devices/row_start");
              values[2 * 8 + 5] += 1;
              H5Dwrite(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
            }),
            "/devices/row_start: 1 of 48 values differ, first at (2, 5): 115 against 116");
}

TEST_F(DiffTest, AFloatingPointValue) {
  EXPECT_EQ(only([](const Hdf5File& file) {
              const std::vector<double> values = {1.5, 2.75};
              H5Dwrite(dataset_of(file, "/summary/step_time").get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       values.data());
            }),
            "/summary/step_time: 1 of 2 values differ, first at row 1: 2.5 s against 2.75 s");
}

TEST_F(DiffTest, AString) {
  EXPECT_EQ(only([](const Hdf5File& file) {
              std::vector<std::string> names = strings(file, "/strings/op");
              names[3] = "all-gather";
              std::vector<const char*> texts;
              std::ranges::transform(names, std::back_inserter(texts), &std::string::c_str);
              H5Dwrite(dataset_of(file, "/strings/op").get(), utf8().get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       texts.data());
            }),
            "/strings/op: 1 of 6 values differ, first at row 3: 'all-reduce' against 'all-gather'");
  EXPECT_EQ(only([](const Hdf5File& file) {
              const char* text = "model: b\n";
              H5Dwrite(dataset_of(file, "/config").get(), utf8().get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &text);
            }),
            "/config: differs: 'model: a\n' against 'model: b\n'");
}

TEST_F(DiffTest, Attributes) {
  const std::uint64_t seed = 8;
  const std::int32_t narrow = 7;
  EXPECT_EQ(only([&](const Hdf5File& file) { set_attribute(file, "/", "seed", H5T_NATIVE_UINT64, &seed); }),
            "/@seed: differs: 7 against 8");
  EXPECT_EQ(only([&](const Hdf5File& file) { set_attribute(file, "/", "seed", H5T_NATIVE_INT32, &narrow); }),
            "/@seed: type unsigned integer of 8 bytes against integer of 4 bytes");
  EXPECT_EQ(only([](const Hdf5File& file) { set_text(file, "/timeline/start", "unit", "ns"); }),
            "/timeline/start@unit: differs: 'ps' against 'ns'");
  EXPECT_EQ(only([](const Hdf5File& file) { set_text(file, "/programs/1", "name", "stage 2"); }),
            "/programs/1@name: differs: 'stage 1' against 'stage 2'");
  EXPECT_EQ(only([](const Hdf5File& file) { set_text(file, "/devices", "new", "x"); }),
            "/devices@new: only in " + mutated_.string());
  EXPECT_EQ(only([](const Hdf5File& file) { H5Adelete(file.get(), "version"); }),
            "/@version: only in " + original_.string());
}

TEST_F(DiffTest, MissingAndExtraObjects) {
  EXPECT_EQ(only([](const Hdf5File& file) { remove(file, "/memory/1/after_step"); }),
            "/memory/1/after_step: only in " + original_.string());
  EXPECT_EQ(only([](const Hdf5File& file) { remove(file, "/programs/0"); }),
            "/programs/0: only in " + original_.string());
  EXPECT_EQ(only([](const Hdf5File& file) { make_dataset(file, "/timeline/extra", H5T_STD_I32LE, {2}); }),
            "/timeline/extra: only in " + mutated_.string());
  EXPECT_EQ(only([](const Hdf5File& file) { make_dataset(file, "/links", H5T_STD_I32LE, {}); }),
            "/links: only in " + mutated_.string());
}

TEST_F(DiffTest, TypesAndShapes) {
  auto replace = [this](hid_t type, const std::vector<hsize_t>& shape) {
    return only([&](const Hdf5File& file) {
      remove(file, "/devices/node");
      make_dataset(file, "/devices/node", type, shape);
    });
  };
  EXPECT_EQ(replace(H5T_STD_I32LE, {8}), "/devices/node: type integer of 8 bytes against integer of 4 bytes");
  EXPECT_EQ(replace(H5T_STD_U64LE, {8}), "/devices/node: type integer of 8 bytes against unsigned integer of 8 bytes");
  EXPECT_EQ(replace(H5T_STD_I64BE, {8}),
            "/devices/node: type integer of 8 bytes against integer of 8 bytes (big endian)");
  EXPECT_EQ(replace(H5T_IEEE_F64LE, {8}), "/devices/node: type integer of 8 bytes against float of 8 bytes");
  EXPECT_EQ(replace(H5T_STD_I64LE, {9}), "/devices/node: shape (8) against (9)");
  EXPECT_EQ(replace(H5T_STD_I64LE, {4, 2}), "/devices/node: shape (8) against (4, 2)");
  EXPECT_EQ(replace(H5T_STD_I64LE, {}), "/devices/node: shape (8) against ()");
}

TEST_F(DiffTest, KindsOfObjectsAndLinks) {
  EXPECT_EQ(only([](const Hdf5File& file) {
              remove(file, "/summary/step_time");
              Hdf5Group group(H5Gcreate2(file.get(), "/summary/step_time", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            }),
            "/summary/step_time: dataset against group");
  EXPECT_EQ(only([](const Hdf5File& file) {
              remove(file, "/memory/1");
              H5Lcreate_soft("/memory/0", file.get(), "/memory/1", H5P_DEFAULT, H5P_DEFAULT);
            }),
            "/memory/1: hard link against soft link");
}

TEST_F(DiffTest, TargetsOfSoftLinks) {
  auto link_to = [](const char* target) {
    return [target](const Hdf5File& file) { H5Lcreate_soft(target, file.get(), "/alias", H5P_DEFAULT, H5P_DEFAULT); };
  };
  after(link_to("/memory"));
  std::filesystem::rename(mutated_, original_);
  EXPECT_THAT(after([](const Hdf5File&) {}), IsEmpty());
  EXPECT_EQ(only([&](const Hdf5File& file) {
              remove(file, "/alias");
              link_to("/devices")(file);
            }),
            "/alias: soft links with different targets");
}

TEST_F(DiffTest, DataBehindReferencesIsNotCalledEqual) {
  after([](const Hdf5File& file) { make_dataset(file, "/reference", H5T_STD_REF_OBJ, {1}); });
  std::filesystem::rename(mutated_, original_);
  EXPECT_EQ(only([](const Hdf5File&) {}), "/reference: data of this type cannot be compared");
}

TEST_F(DiffTest, GroupsInACircleEndWithAnError) {
  after([](const Hdf5File& file) {
    H5Lcreate_hard(file.get(), "/memory", file.get(), "/memory/again", H5P_DEFAULT, H5P_DEFAULT);
  });
  std::filesystem::rename(mutated_, original_);
  EXPECT_THROW(after([](const Hdf5File&) {}), OutputError);
}

TEST_F(DiffTest, EngineMayDiffer) {
  EXPECT_THAT(after([](const Hdf5File& file) {
                set_text(file, "/engine", "host", "somewhere else");
                set_text(file, "/engine", "ranks", "4");
                make_dataset(file, "/engine/ranks", H5T_STD_I64LE, {4});
              }),
              IsEmpty());
}

TEST_F(DiffTest, OnlyTheEngineOfTheRootMayDiffer) {
  EXPECT_EQ(only([](const Hdf5File& file) { make_dataset(file, "/summary/engine", H5T_STD_I64LE, {4}); }),
            "/summary/engine: only in " + mutated_.string());
}

TEST_F(DiffTest, StopsAtTheLimit) {
  auto mutate = [](const Hdf5File& file) {
    set_rows(file, "/timeline/start", 0, {5});
    set_rows(file, "/timeline/duration", 0, {5});
    set_text(file, "/devices", "new", "x");
    remove(file, "/memory/0");
  };
  EXPECT_EQ(after(mutate).size(), 4);
  EXPECT_EQ(after(mutate, 2).size(), 2);
}

TEST_F(DiffTest, BlocksOfBigDatasetsAreCountedTogether) {
  // 1.5 Mi values of 8 bytes: three blocks; and a row of the second axis that is larger than a block.
  auto add = [](const std::vector<hsize_t>& shape, const std::vector<hsize_t>& changed) {
    return [=](const Hdf5File& file) {
      std::vector<std::int64_t> values(3 << 19);
      for (hsize_t i : changed) {
        values[i] = 1;
      }
      make_dataset(file, "/big", H5T_STD_I64LE, shape);
      H5Dwrite(dataset_of(file, "/big").get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    };
  };
  const std::vector<std::pair<std::vector<hsize_t>, std::string>> shapes = {
      {{3 << 19}, "row 1000000"}, {{2, 3 << 18}, "(1, 213568)"}, {{3 << 17, 2, 2}, "(250000, 0, 0)"}};
  for (const auto& [shape, where] : shapes) {
    std::filesystem::path kept = scratch_ / "kept.h5";
    std::filesystem::copy_file(original_, kept, std::filesystem::copy_options::overwrite_existing);
    after(add(shape, {}));
    std::filesystem::rename(mutated_, original_);
    EXPECT_EQ(only([&](const Hdf5File& file) {
                remove(file, "/big");
                add(shape, {1000000, 1000001, (3 << 19) - 1})(file);
              }),
              "/big: 3 of 1572864 values differ, first at " + where + ": 0 against 1");
    std::filesystem::rename(kept, original_);
  }
}

TEST_F(DiffTest, UnreadableFilesThrow) {
  std::ofstream(scratch_ / "text") << "not HDF5";
  EXPECT_THROW(diff_timelines(original_, scratch_ / "absent.h5"), OutputError);
  try {
    diff_timelines(scratch_ / "text", original_);
    FAIL() << "read a text file";
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), HasSubstr((scratch_ / "text").string()));
  }
}

}  // namespace
}  // namespace proteus::io
