// SPDX-License-Identifier: Apache-2.0
#include "timeline_hdf5.hpp"

namespace proteus::io {
namespace {

Hdf5Space scalar() { return Hdf5Space(hdf5_check(H5Screate(H5S_SCALAR), "make a scalar")); }

}  // namespace

Hdf5Type text_type() {
  Hdf5Type type(hdf5_check(H5Tcopy(H5T_C_S1), "make a text type"));
  hdf5_check(H5Tset_size(type.get(), H5T_VARIABLE), "make a text type");
  hdf5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "make a text type");
  return type;
}

Hdf5Group create_group(hid_t parent, const std::string& name) {
  return Hdf5Group(
      hdf5_check(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create group " + name));
}

Hdf5Dataset create_dataset(hid_t parent, const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
                           hid_t creation) {
  Hdf5PropertyList fresh;
  if (creation == H5P_DEFAULT) {
    fresh = Hdf5PropertyList(hdf5_check(H5Pcreate(H5P_DATASET_CREATE), "create " + name));
    creation = fresh.get();
  }
  // A time stamp would make two equal runs differ.
  hdf5_check(H5Pset_obj_track_times(creation, false), "create " + name);
  Hdf5PropertyList links(hdf5_check(H5Pcreate(H5P_LINK_CREATE), "create " + name));
  hdf5_check(H5Pset_create_intermediate_group(links.get(), 1), "create " + name);
  Hdf5Space space = shape.empty()
                        ? scalar()
                        : Hdf5Space(hdf5_check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                                               "create " + name));
  return Hdf5Dataset(hdf5_check(H5Dcreate2(parent, name.c_str(), type, space.get(), links.get(), creation, H5P_DEFAULT),
                                "create " + name));
}

void write_attribute(hid_t object, const std::string& name, hid_t file, hid_t memory, const void* value) {
  const std::string action = "write attribute " + name;
  if (hdf5_check(H5Aexists(object, name.c_str()), action) > 0) {
    hdf5_check(H5Adelete(object, name.c_str()), action);
  }
  Hdf5Space space = scalar();
  Hdf5Attribute attribute(
      hdf5_check(H5Acreate2(object, name.c_str(), file, space.get(), H5P_DEFAULT, H5P_DEFAULT), action));
  hdf5_check(H5Awrite(attribute.get(), memory, value), action);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  Hdf5Type type = text_type();
  const char* text = value.c_str();
  write_attribute(object, name, type.get(), type.get(), static_cast<const void*>(&text));
}

Hdf5Dataset write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values) {
  Hdf5Type type = text_type();
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const std::string& value : values) {
    texts.push_back(value.c_str());
  }
  Hdf5Dataset dataset = create_dataset(parent, name, type.get(), {values.size()});
  hdf5_check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), "write " + name);
  return dataset;
}

Hdf5Dataset write_string(hid_t parent, const std::string& name, const std::string& value) {
  Hdf5Type type = text_type();
  const char* text = value.c_str();
  Hdf5Dataset dataset = create_dataset(parent, name, type.get(), {});
  hdf5_check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(&text)),
             "write " + name);
  return dataset;
}

}  // namespace proteus::io
