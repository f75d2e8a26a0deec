// SPDX-License-Identifier: MIT OR Apache-2.0
//
// As erase.cpp, for the unit of a bus node.
//
//   erase_shu key|lines BYTE erase|reset FOLDER     a key of equal bytes; FOLDER/with.vcd, FOLDER/without.vcd
//
// `key` gives the unit a key alone. With `lines` it also makes the pads of every pool and seals a line for each node.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "Vshu.h"
#include "state.h"

struct Unit {
  VerilatedContext context;
  Vshu top{&context};

  Unit() { context.traceEverOn(true); }
  void cycle() {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
    context.timeInc(1);
  }
  void cycles(int count) {
    for (int i = 0; i < count; i++) cycle();
  }
  void until(const uint8_t& what) {
    top.eval();
    for (int waited = 0; !what; waited++) {
      if (waited > 100000) fail("the unit does not answer");
      cycle();
    }
  }
  void reset() {
    top.rst_ni = 0;
    cycles(4);
    top.rst_ni = 1;
    idle();
  }
  // Until the unit takes keys, and long enough for every pool to be full.
  void idle() {
    until(top.key_ready_o);
    cycles(2000);
    until(top.key_ready_o);
  }
  void key(uint8_t byte, bool erase) {
    memset(&top.key_i, byte, 16);
    top.key_erase_i = erase;
    top.key_valid_i = 1;
    until(top.key_ready_o);
    cycle();
    memset(&top.key_i, 0, 16);
    top.key_valid_i = top.key_erase_i = 0;
    idle();
  }
  void lines() {
    top.process_nodes_i = 0xff;
    top.process_we_i = 1;
    cycle();
    top.process_we_i = 0;
    for (int queue = 0; queue < 16; queue++) {
      top.counter_receive_i = queue / 8;
      top.counter_peer_i = queue % 8;
      top.counter_we_i = 1;
      cycle();
    }
    top.counter_we_i = 0;
    idle();
    for (int peer = 1; peer < 8; peer++) {
      top.peer_i = peer;
      top.valid_i = 1;
      until(top.ready_o);
      cycle();
      top.valid_i = 0;
      until(top.valid_o);
      if (top.refused_o) fail("a line was refused");
      cycle();
    }
    idle();
  }
};

int main(int argc, char** argv) {
  if (argc != 5) fail("key|lines BYTE erase|reset FOLDER");
  const uint8_t byte = strtoul(argv[2], nullptr, 10);
  const bool by_reset = !strcmp(argv[3], "reset");
  const std::string folder = std::string(argv[4]) + "/";
  auto unit = std::make_unique<Unit>();
  unit->top.ready_i = 1;
  unit->reset();
  unit->key(byte, false);
  if (!strcmp(argv[1], "lines")) unit->lines();
  write_state(unit->context, unit->top, folder + "with.vcd");
  if (by_reset) unit->reset();
  else unit->key(byte, true);  // which may still be at the port, and counts with a loading alone
  write_state(unit->context, unit->top, folder + "without.vcd");
}
