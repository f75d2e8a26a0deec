// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Gives a core a key and takes it again, and writes down the state of every register and word of memory with the key and without.
// Whoever compares the states of two keys (flow/erase.py) sees what still depends on one that is gone.
//
//   erase key|packets:SLOT BYTE erase|during|reset|cut FOLDER     a key of equal bytes; FOLDER/with.vcd, FOLDER/without.vcd
//
// `during` sends packets while it erases, which are refused. `cut` resets a core whose keys live through a reset while it erases. `key` gives the core a key alone. With `packets` it also seals packets under it, and opens a forged one.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "Vsealwright_axis.h"
#include "state.h"

#ifndef SLOTS
#error "SLOTS is the core's parameter"
#endif

struct Core {
  VerilatedContext context;
  Vsealwright_axis top{&context};

  Core() { context.traceEverOn(true); }
  void cycle() {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
    context.timeInc(1);
  }
  void reset() {
    top.rst_n = 0;
    for (int i = 0; i < 4; i++) cycle();
    top.rst_n = 1;
    idle();
  }
  // Until the key port is free, and some cycles more.
  void idle() {
    int waited = 0;
    for (int calm = 0; calm < 200; calm = top.s_axis_key_tready ? calm + 1 : 0) {
      cycle();
      if (++waited > 100000) fail("the key port does not become free");
    }
  }
  // A command on the key port: loads a key of equal bytes, or erases.
  void key(unsigned slot, uint8_t byte, bool erase) {
    begin(slot, byte, erase);
    idle();
  }
  void begin(unsigned slot, uint8_t byte, bool erase) {
    memset(&top.s_axis_key_tdata, byte, 32);
    const unsigned width = SLOTS > 1 ? 32 - __builtin_clz(SLOTS - 1) : 1;
    top.s_axis_key_tuser = slot | unsigned(erase) << width;
    top.s_axis_key_tvalid = 1;
    top.eval();
    while (!top.s_axis_key_tready) cycle();
    cycle();
    top.s_axis_key_tvalid = 0;
    top.s_axis_key_tuser = 0;
    memset(&top.s_axis_key_tdata, 0, 32);
  }
  // A packet of 20 bytes of associated data and 40 of text, in a core of one lane.
  void packet(unsigned slot, uint8_t nonce, bool open, unsigned wanted) {
    uint8_t command[32] = {};
    memset(command, nonce, 12);
    command[12] = 20;
    command[14] = 40;
    memcpy(&top.s_axis_command_tdata, command, 32);
    top.s_axis_command_tuser = slot << 1 | unsigned(open);
    top.s_axis_command_tvalid = 1;
    top.eval();
    while (!top.s_axis_command_tready) cycle();
    cycle();
    top.s_axis_command_tvalid = 0;
    const unsigned bytes[] = {16, 4, 16, 16, 8};
    for (int beat = 0; beat < 5; beat++) {
      memset(&top.s_axis_tdata, 0x11 * (beat + 1), 16);
      top.s_axis_tkeep = (1u << bytes[beat]) - 1;
      top.s_axis_tlast = beat == 4;
      top.s_axis_tvalid = 1;
      top.eval();
      while (!top.s_axis_tready) cycle();
      cycle();
    }
    top.s_axis_tvalid = top.s_axis_tlast = 0;
    top.eval();
    for (int waited = 0; !top.m_axis_verdict_tvalid; cycle()) {
      if (++waited > 10000) fail("no verdict comes");
    }
    const unsigned status = top.m_axis_verdict_tuser >> 2 & 7;
    if (status != wanted) fail("a packet has another status");
    cycle();
  }
};

int main(int argc, char** argv) {
  const char* colon = argc == 5 ? strchr(argv[1], ':') : nullptr;
  if (!colon) fail("key|packets:SLOT BYTE erase|during|reset|cut FOLDER");
  const unsigned slot = strtoul(colon + 1, nullptr, 10);
  const bool packets = !strncmp(argv[1], "packets", 7);
  const uint8_t byte = strtoul(argv[2], nullptr, 10);
  const std::string way = argv[3];
  const std::string folder = std::string(argv[4]) + "/";
  auto core = std::make_unique<Core>();
  core->top.clk = core->top.s_axis_key_tvalid = core->top.s_axis_command_tvalid = core->top.s_axis_tvalid = 0;
  core->top.m_axis_tready = core->top.m_axis_verdict_tready = 1;
  core->reset();
  core->key(slot, byte, false);
  if (packets) {
    for (int i = 0; i < 3; i++) core->packet(slot, uint8_t(i + 1), false, 0);
    core->packet(slot, 9, true, 1);
    core->idle();
  }
  write_state(core->context, core->top, folder + "with.vcd");
  if (way == "cut") {
    core->begin(slot, 0, true);
    for (int i = 0; i < 9; i++) core->cycle();  // some round keys are written over
    core->reset();
  } else if (way == "during") {
    core->begin(slot, 0, true);
    for (int i = 0; i < 9; i++) core->cycle();  // until it has begun
    for (uint8_t nonce = 10; !core->top.s_axis_key_tready; nonce++) core->packet(slot, nonce, false, 5);
    core->idle();
  } else if (way == "reset") {
    core->reset();
  } else {
    core->key(slot, 0, true);
  }
  write_state(core->context, core->top, folder + "without.vcd");
}
