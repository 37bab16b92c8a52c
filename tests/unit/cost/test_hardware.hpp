// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "proteus/cluster/cluster.hpp"

/// Hardware for the tests of this module, written out so that they do not depend on the readers of the catalogue.
namespace proteus::cost::test {

inline std::filesystem::path catalog() { return std::filesystem::path(PROTEUS_SOURCE_DIR) / "catalog"; }

inline cluster::Gpu a100() {
  cluster::Gpu gpu;
  gpu.name = "A100_SXM4_80";
  gpu.architecture = "Ampere";
  gpu.compute_capability = 80;
  gpu.sm_count = 108;
  gpu.peak = {
      {DataType::fp16, {312e12}}, {DataType::bf16, {312e12}}, {DataType::tf32, {156e12}}, {DataType::fp32, {19.5e12}}};
  gpu.memory_bandwidth = {2039e9};
  gpu.nvlink_count = 12;
  gpu.nvlink_bandwidth = {300e9};
  gpu.nccl_link_bandwidth = {20e9};
  gpu.gemm_efficiency = 0.764;
  gpu.stream_efficiency = 0.87;
  gpu.kernel_floor = Time::microseconds(4);
  return gpu;
}

inline cluster::Gpu h100() {
  cluster::Gpu gpu = a100();
  gpu.name = "H100_SXM5_80";
  gpu.architecture = "Hopper";
  gpu.compute_capability = 90;
  gpu.sm_count = 132;
  gpu.peak = {{DataType::fp16, {989.4e12}},
              {DataType::bf16, {989.4e12}},
              {DataType::fp8, {1978.9e12}},
              {DataType::fp32, {66.9e12}}};
  gpu.memory_bandwidth = {3350e9};
  gpu.nvlink_count = 18;
  gpu.nvlink_bandwidth = {450e9};
  gpu.nccl_link_bandwidth = {20.6e9};
  gpu.gemm_efficiency = 0.74;
  gpu.stream_efficiency = 0.9;
  return gpu;
}

inline cluster::Gpu v100() {
  cluster::Gpu gpu = a100();
  gpu.name = "V100_SXM2_16";
  gpu.architecture = "Volta";
  gpu.compute_capability = 70;
  gpu.sm_count = 80;
  gpu.peak = {{DataType::fp16, {125.3e12}}, {DataType::fp32, {15.7e12}}};
  gpu.memory_bandwidth = {900e9};
  gpu.nvlink_count = 6;
  gpu.nvlink_bandwidth = {150e9};
  gpu.gemm_efficiency = 0.78;
  gpu.stream_efficiency = 0.9;
  return gpu;
}

/// Nodes of eight GPUs behind NVSwitches, one NIC each.
inline cluster::Cluster dgx(const cluster::Gpu& gpu, double nic_bytes_per_second, const std::string& nccl) {
  cluster::Cluster cluster;
  cluster.name = "test";
  cluster.nodes = 128;
  cluster.nccl = nccl;
  cluster.node.name = "DGX";
  cluster.node.gpu = gpu;
  cluster.node.gpus = 8;
  cluster.node.nvlink_domain = 8;
  cluster.node.nvswitch = true;
  cluster.node.nvlink_sharp = gpu.compute_capability >= 90;
  cluster.node.intra_bandwidth = gpu.nvlink_bandwidth;
  cluster.node.nics = 8;
  cluster.node.nic_bandwidth = {nic_bytes_per_second};
  return cluster;
}

inline cluster::Cluster dgx_a100(const std::string& nccl = "2.12") { return dgx(a100(), 25e9, nccl); }
inline cluster::Cluster dgx_h100(const std::string& nccl = "2.18") { return dgx(h100(), 50e9, nccl); }

}  // namespace proteus::cost::test
