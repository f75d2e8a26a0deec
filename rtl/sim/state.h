// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The state of a model at one moment: every register and word of memory, as a VCD file.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "verilated.h"
#include "verilated_vcd_c.h"

[[noreturn]] inline void fail(const std::string& what) {
  fprintf(stderr, "erase: %s\n", what.c_str());
  exit(1);
}

template <class Top>
void write_state(VerilatedContext& context, Top& top, const std::string& path) {
  VerilatedVcdC dump;
  top.trace(&dump, 99);
  dump.open(path.c_str());
  if (!dump.isOpen()) fail(path + " cannot be written");
  dump.dump(context.time());
  dump.close();
}
