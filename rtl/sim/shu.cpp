// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Drives the security hardware unit with the lines that `rtl_cases shu` writes and checks every answer.
//
//   shu CASES SEED

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "Vshu.h"
#include "verilated.h"

[[noreturn]] static void fail(const char* what, size_t line) {
  fprintf(stderr, "shu: %s, line %zu\n", what, line);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc < 3) fail("CASES SEED", 0);
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<uint8_t> all((std::istreambuf_iterator<char>(file)), {});
  const uint8_t* at = all.data();
  const uint8_t* end = at + all.size();
  auto take = [&](void* to, size_t n) {
    if (n > size_t(end - at)) fail("the cases end early", 0);
    memcpy(to, at, n);
    at += n;
  };
  uint64_t state = strtoull(argv[2], nullptr, 10) * 2 + 1;
  auto below = [&](uint32_t of) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return uint32_t((state * 0x2545f4914f6cdd1dull) >> 32) % of;
  };
  auto chance = [&](uint32_t of) { return below(of) == 0; };
  auto context = std::make_unique<VerilatedContext>();
  // Registers and memories begin with random values.
  context->randReset(2);
  context->randSeed(1 + atoi(argv[2]));
  auto top = std::make_unique<Vshu>(context.get());
  uint64_t cycles = 0;
  bool under_way = false;  // a line was accepted, and its answer was not
  auto tick = [&] {
    top->eval();
    if (top->rst_ni && top->ready_o && under_way) fail("ready for a line while another is under way", cycles);
    if (top->rst_ni && top->ready_o && top->key_valid_i) fail("ready for a line although a key goes first", cycles);
    under_way = top->rst_ni && (under_way ? !(top->valid_o && top->ready_i) : top->valid_i && top->ready_o);
    top->clk_i = 1;
    top->eval();
    top->clk_i = 0;
    top->eval();
    cycles++;
  };
  top->rst_ni = 0;
  top->clk_i = 0;
  take(&top->key_i, 16);
  uint8_t node;
  uint16_t epoch;
  take(&node, 1);
  take(&epoch, 2);
  bool moves = false;  // a process moves in the cycle in which the coming line is accepted
  size_t lines = 0, sent = 0, authentic = 0, refused = 0, forged = 0, keys = 1;
  auto reset = [&] {
    top->rst_ni = 0;
    tick();
    tick();
    top->rst_ni = 1;
  };
  // Node and epoch count when a key is taken, and never else.
  auto load_key = [&](bool erase = false) {
    top->node_i = node;
    top->epoch_i = epoch;
    top->key_erase_i = erase;
    top->key_valid_i = 1;
    top->eval();
    for (size_t waited = 0; !top->key_ready_o; waited++) {
      if (waited > 10000) fail("a key is not taken", cycles);
      tick();
    }
    tick();
    top->key_valid_i = 0;
    top->node_i = node ^ 1;
    top->epoch_i = ~epoch;
    top->eval();
  };
  auto write_counter = [&](uint8_t receive, uint8_t peer, uint64_t counter) {
    top->counter_i = counter;
    top->counter_receive_i = receive;
    top->counter_peer_i = peer;
    top->counter_we_i = 1;
    tick();
    top->counter_we_i = 0;
  };
  auto write_process = [&](uint8_t process, uint8_t nodes) {
    top->process_i = process;
    top->process_nodes_i = nodes;
    top->process_we_i = 1;
    tick();
    top->process_we_i = 0;
  };
  auto write_counters = [&](uint64_t counter) {
    for (int queue = 0; queue < 16; queue++) write_counter(queue / 8, queue % 8, counter);
  };
  // Offers a line until it is accepted in the coming cycle.
  auto offer = [&] {
    top->valid_i = 1;
    top->eval();
    for (size_t waited = 0; !top->ready_o; waited++) {
      if (waited > 10000) fail("a line is not accepted", cycles);
      tick();
    }
  };
  // Waits for the answer to a line, which is taken in the coming cycle.
  auto answer = [&] {
    for (size_t waited = 0;; waited++) {
      top->ready_i = chance(2);
      top->eval();
      if (top->valid_o && top->ready_i) break;
      if (waited > 10000) fail("no answer", lines);
      tick();
    }
  };
  const uint8_t everywhere = 200;  // a process that the cases do not use
  // A line of the process `everywhere` is refused; with `moves`, another process is written in the cycle in which it is accepted.
  auto is_refused = [&](const char* what, bool moves = false) {
    write_counters(5);
    for (int i = 0; i < 400; i++) tick();
    top->receive_i = 0;
    top->peer_i = node ^ 1;
    top->line_process_i = everywhere;
    offer();
    top->process_we_i = moves;
    tick();
    top->process_we_i = 0;
    top->valid_i = 0;
    answer();
    static const uint8_t nothing[64] = {};
    if (!top->refused_o || memcmp(&top->text_o, nothing, 64) || memcmp(&top->tag_o, nothing, 16)) fail(what, lines);
    tick();
    top->ready_i = 0;
  };
  reset();
  write_process(everywhere, 0xff);
  is_refused("a line was sealed before the first key");
  load_key();
  write_counters(9);
  for (int i = 0; i < 1000; i++) tick();
  reset();
  write_process(everywhere, 0xff);
  is_refused("a line was sealed with the key of before the reset");
  // Nor does a process of before a reset count, whatever is written of others or stands at the port: its nodes are still in memory.
  reset();
  load_key();
  top->process_nodes_i = 0xff;
  top->process_i = everywhere ^ 1;
  is_refused("a line of a process of before the reset was sealed, as another was written", true);
  reset();
  load_key();
  top->process_i = everywhere;
  is_refused("a line of a process was sealed that only stands at the port");
  reset();
  load_key();
  uint64_t busy = 0, longest = 0;
  while (at < end) {
    uint8_t kind;
    take(&kind, 1);
    if (kind == 'c') {
      uint8_t receive, peer;
      take(&receive, 1);
      take(&peer, 1);
      uint64_t counter;
      take(&counter, 8);
      while (chance(2)) tick();  // the pools of counters before it begin meanwhile
      write_counter(receive, peer, counter);
      while (chance(2)) tick();
      if (chance(4)) write_counter(receive, peer, counter - 1);  // a counter is taken once a key
      continue;
    }
    if (kind == 'k') {
      uint8_t key[16];
      take(key, 16);
      // Other keys just before it: while it is set up, while its pools are filled, and later.
      for (uint32_t others = below(8); others > 0; others--) {
        for (int i = 0; i < 16; i++) reinterpret_cast<uint8_t*>(&top->key_i)[i] = ~key[i];
        load_key();
        if (chance(4)) continue;
        write_counters(below(100));
        for (uint32_t wait = below(1500); wait > 0; wait--) tick();
      }
      if (chance(4)) {
        load_key(true);
        is_refused("a line was sealed with a key that was erased");
      }
      memcpy(&top->key_i, key, 16);
      load_key();  // what comes next does not wait for it
      keys++;
      continue;
    }
    if (kind == 'p' || kind == 'q') {
      uint8_t process, nodes;
      take(&process, 1);
      take(&nodes, 1);
      if (kind == 'q') {
        top->process_i = process;
        top->process_nodes_i = nodes;
        moves = true;
      } else {
        write_process(process, nodes);
      }
      continue;
    }
    uint8_t fields[3], wanted[2], text[64], tag[16];
    uint64_t number;
    take(fields, 3);
    take(&number, 8);
    take(&top->text_i, 64);
    take(&top->tag_i, 16);
    take(wanted, 2);
    take(text, 64);
    take(tag, 16);
    top->receive_i = fields[0];
    top->peer_i = fields[1];
    top->line_process_i = fields[2];
    top->line_i = number;
    // Usually without a pause, so that pools run empty; sometimes after a pause.
    if (chance(16)) for (int i = 0; i < 200; i++) tick();
    offer();
    uint64_t start = cycles;
    top->process_we_i = moves;
    moves = false;
    tick();
    top->process_we_i = 0;
    top->valid_i = 0;
    answer();
    if (top->refused_o != wanted[0]) fail("wrong about the process", lines);
    if (top->authentic_o != wanted[1]) fail("wrong verdict", lines);
    if (memcmp(&top->text_o, text, 64)) fail("wrong text", lines);
    if (memcmp(&top->tag_o, tag, 16)) fail("wrong tag", lines);
    busy += cycles - start;
    longest = std::max(longest, cycles - start);
    tick();
    top->ready_i = 0;
    lines++;
    refused += wanted[0];
    authentic += wanted[1];
    sent += !wanted[0] && !fields[0];
    forged += !wanted[0] && fields[0] && !wanted[1];
  }
  if (!lines) fail("no lines", 0);
  printf("{\"lines\": %zu, \"sent\": %zu, \"authentic\": %zu, \"forged\": %zu, \"refused\": %zu, \"keys\": %zu, \"cycles\": %llu, "
         "\"mean_cycles\": %.1f, \"longest_cycles\": %llu}\n",
         lines, sent, authentic, forged, refused, keys, (unsigned long long)cycles, double(busy) / double(lines),
         (unsigned long long)longest);
  top->final();
}
