// SPDX-License-Identifier: Apache-2.0
#include "proteus/strategy/mesh.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::strategy {
namespace {

using testing::HasSubstr;

MeshSpec with_experts() {
  MeshSpec spec;
  spec.order = {"tp", "dp", "pp"};
  spec.views = {{"expert", {"etp", "ep", "edp", "pp"}}};
  spec.sizes = {{"tp", 4}, {"dp", 4}, {"pp", 2}, {"etp", 1}, {"ep", 8}, {"edp", 2}};
  return spec;
}

std::string error_of(const MeshSpec& spec, std::int64_t devices) {
  try {
    Mesh(spec, devices);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Mesh, ViewsCompileToTheirCommonRefinement) {
  const Mesh refined(with_experts(), 32);
  // Borders at 4 and 16 (tp, dp) and at 8 and 16 (ep, edp): atoms of 4, 2, 2 and 2.
  ASSERT_EQ(refined.atoms(), 4u);
  EXPECT_EQ(refined.axis("tp"), std::vector<Atom>{0});
  EXPECT_EQ(refined.axis("dp"), (std::vector<Atom>{1, 2}));
  EXPECT_EQ(refined.axis("ep"), (std::vector<Atom>{0, 1}));
  EXPECT_EQ(refined.axis("edp"), std::vector<Atom>{2});
  EXPECT_EQ(refined.axis("pp"), std::vector<Atom>{3});
  EXPECT_TRUE(refined.axis("etp").empty());  // size 1
  EXPECT_EQ(refined.axis_size("ep"), 8);
  EXPECT_EQ(refined.axis_size("etp"), 1);
  EXPECT_EQ(refined.stride(2), 8);
}

TEST(Mesh, AtomsGiveTheCoordinatesOfMixedRadixNumbers) {
  // Along an axis a device stands at (device / product of the axes in front) % size, in each factorization.
  const MeshSpec spec = with_experts();
  const Mesh mesh(spec, 32);
  for (const auto& order : {spec.order, spec.views.at("expert")}) {
    std::int64_t in_front = 1;
    for (const std::string& axis : order) {
      const std::int64_t size = spec.sizes.at(axis);
      for (std::int64_t device = 0; device < 32; ++device) {
        std::int64_t coordinate = 0, weight = 1;
        for (Atom atom : mesh.axis(axis)) {
          coordinate += device / mesh.stride(atom) % mesh.size(atom) * weight;
          weight *= mesh.size(atom);
        }
        EXPECT_EQ(coordinate, device / in_front % size) << axis << " of " << device;
      }
      in_front *= size;
    }
  }
}

TEST(Mesh, GroupsJoinAxes) {
  MeshSpec spec;
  spec.order = {"tp", "cp", "dp"};
  spec.sizes = {{"tp", 2}, {"cp", 2}, {"dp", 4}};
  spec.groups = {{"fsdp", {"dp", "cp"}}};
  const Mesh mesh(spec, 16);
  EXPECT_EQ(mesh.axis("fsdp"), (std::vector<Atom>{2, 1}));  // in the order given: dp cuts first
  EXPECT_EQ(mesh.axis_size("fsdp"), 8);
  spec.groups = {{"fsdp", {"dp", "ep"}}};
  EXPECT_THAT(error_of(spec, 16), HasSubstr("unknown axis `ep`"));
  spec.groups = {{"tp", {"dp"}}};
  EXPECT_THAT(error_of(spec, 16), HasSubstr("the name is an axis already"));
}

TEST(Mesh, NamesOfAtoms) {
  const Mesh mesh(with_experts(), 32);
  EXPECT_EQ(mesh.name_of({0, 1}), "ep");
  EXPECT_EQ(mesh.name_of({1, 2}), "dp");
  EXPECT_EQ(mesh.name_of({0, 3}), "tp*pp");  // no axis owns both
  EXPECT_EQ(mesh.name_of({0, 1, 2}), "tp*dp");
}

TEST(Mesh, OneDeviceHasAxesButNoAtoms) {
  MeshSpec spec;
  spec.order = {"tp", "dp"};
  spec.sizes = {{"tp", 1}, {"dp", 1}};
  const Mesh mesh(spec, 1);
  EXPECT_EQ(mesh.atoms(), 0u);
  EXPECT_TRUE(mesh.has_axis("dp"));
  EXPECT_FALSE(mesh.has_axis("pp"));
}

TEST(Mesh, RefusesViewsWithoutACommonRefinement) {
  MeshSpec spec;
  spec.order = {"a", "b"};
  spec.views = {{"other", {"c", "d"}}};
  spec.sizes = {{"a", 2}, {"b", 3}, {"c", 3}, {"d", 2}};
  EXPECT_THAT(error_of(spec, 6), HasSubstr("no common refinement"));
}

TEST(Mesh, RefusesAnAxisAtTwoPlaces) {
  MeshSpec spec;
  spec.order = {"a", "b"};
  spec.views = {{"other", {"b", "a"}}};
  spec.sizes = {{"a", 2}, {"b", 2}};
  EXPECT_THAT(error_of(spec, 4), HasSubstr("lies elsewhere"));
}

TEST(Mesh, RefusesSizesThatDoNotFit) {
  MeshSpec spec = with_experts();
  EXPECT_THAT(error_of(spec, 64), HasSubstr("the axes have 32 devices"));
  spec.sizes["edp"] = 4;
  EXPECT_THAT(error_of(spec, 32), testing::AllOf(HasSubstr("views.expert"), HasSubstr("more than 32 devices")));
  spec.sizes["edp"] = 0;
  EXPECT_THAT(error_of(spec, 32), HasSubstr("strategy.mesh.edp"));
  spec.sizes.erase("edp");
  EXPECT_THAT(error_of(spec, 32), HasSubstr("has no size"));
}

}  // namespace
}  // namespace proteus::strategy
