// Drives a core with the cases that `rtl_cases` writes (crates/vectors/examples) and checks every byte that comes out.
//
//   bulk CASES SEED [flat]      flat: no stall anywhere
//
// It prints its counts as JSON: `moving` is the number of cycles from the first command to the last word out, `latency` the
// least number of cycles from a packet's first beat of text at the input to that beat at the output, `text_ends` and `ad_ends`
// the numbers of bytes in a last beat that occurred.
//
// Every few hundred cycles, each channel chooses at random how often it stalls, from never to nearly always. A key is loaded
// when no packet of its slot is in progress, while packets of other slots continue.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "Vcore.h"
#include "verilated.h"
#include "verilated_cov.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

using Bytes = std::vector<uint8_t>;

#ifndef LANES
#error "LANES is the core's parameter"
#endif
constexpr size_t BEAT = 16 * LANES;

struct Packet {
  uint8_t slot, open, authentic, check_text;
  uint8_t nonce[12], claim[16], tag[16];
  Bytes ad, in, out;
  size_t before;  // keys that must be loaded before its command
};
struct Key {
  uint8_t slot;
  uint8_t bytes[32];
  size_t after;  // packets that come before it
};

struct Cases {
  std::vector<Packet> packets;
  std::vector<Key> keys;

  explicit Cases(const char* name) {
    std::ifstream file(name, std::ios::binary);
    Bytes all((std::istreambuf_iterator<char>(file)), {});
    const uint8_t* at = all.data();
    const uint8_t* end = at + all.size();
    auto take = [&](void* to, size_t n) {
      if (n > size_t(end - at)) fail("the cases end early");
      memcpy(to, at, n);
      at += n;
    };
    while (at < end) {
      uint8_t kind;
      take(&kind, 1);
      if (kind == 1) {
        Key key{};
        take(&key.slot, 1);
        take(key.bytes, 32);
        key.after = packets.size();
        keys.push_back(key);
      } else {
        Packet p{};
        take(&p.slot, 4);
        take(p.nonce, 12);
        take(p.claim, 16);
        take(p.tag, 16);
        uint16_t lengths[2];
        take(lengths, 4);
        p.ad.resize(lengths[0]);
        p.in.resize(lengths[1]);
        p.out.resize(lengths[1]);
        take(p.ad.data(), p.ad.size());
        take(p.in.data(), p.in.size());
        take(p.out.data(), p.out.size());
        p.before = keys.size();
        packets.push_back(std::move(p));
      }
    }
    if (packets.empty()) fail("no cases");
  }
  [[noreturn]] static void fail(const std::string& what) {
    fprintf(stderr, "bulk: %s\n", what.c_str());
    exit(1);
  }
};

struct Random {
  uint64_t s;
  uint32_t next() {  // xorshift64*
    s ^= s >> 12, s ^= s << 25, s ^= s >> 27;
    return uint32_t((s * 0x2545f4914f6cdd1dull) >> 32);
  }
};

// How often a channel is ready, in eighths of the cycles; 8 means always.
struct StallPattern {
  uint32_t eighths = 8;
  bool moves(Random& random) const { return eighths == 8 || (random.next() & 7) < eighths; }
  void turn(Random& random) {
    static const uint8_t kinds[] = {8, 8, 8, 7, 4, 2, 1};
    eighths = kinds[random.next() % sizeof kinds];
  }
};

// A packet's beats: associated data, then text, each from byte 0 of a beat.
struct Beats {
  static size_t count(size_t bytes) { return (bytes + BEAT - 1) / BEAT; }
  static size_t all(const Packet& p) { return count(p.ad.size()) + count(p.in.size()); }
  static void put(const Packet& p, size_t beat, uint8_t* to, Random& random) {
    size_t ad = count(p.ad.size());
    const Bytes& from = beat < ad ? p.ad : p.in;
    size_t start = (beat < ad ? beat : beat - ad) * BEAT;
    for (size_t i = 0; i < BEAT; i += 4) {  // unused bytes are random
      uint32_t word = random.next();
      memcpy(to + i, &word, 4);
    }
    memcpy(to, from.data() + start, std::min(BEAT, from.size() - start));
  }
};

int main(int argc, char** argv) {
  if (argc < 3) Cases::fail("CASES SEED [flat]");
  Cases cases(argv[1]);
  Random random{strtoull(argv[2], nullptr, 10) * 2 + 1};
  const bool flat = argc > 3 && !strcmp(argv[3], "flat");
  auto context = std::make_unique<VerilatedContext>();
  auto top = std::make_unique<Vcore>(context.get());
  const auto& packets = cases.packets;

  StallPattern command_stalls, in_stalls, out_stalls, verdict_stalls;
  size_t command = 0, key = 0, in = 0, in_beat = 0, out = 0, out_beat = 0, verdict = 0;
  size_t in_progress[256] = {};
  uint64_t cycles = 0, first_command = 0, last_out = 0, blocks = 0, quiet = 0, latency = ~0ull;
  std::vector<uint64_t> text_at(packets.size());  // when each packet's first beat of text went in
  bool key_held = false, key_loading = false, command_held = false, in_held = false;

#if VM_TRACE  // every cycle as it stands before its rising edge, and after
  VerilatedVcdC dump;
  context->traceEverOn(true);
  top->trace(&dump, 99);
  dump.open(std::getenv("TRACE") ? std::getenv("TRACE") : "trace.vcd");
#endif

  top->clk = 0;
  top->rst_n = 0;
  for (int i = 0; i < 8; i++) {
    top->clk = !top->clk;
    top->eval();
  }
  top->rst_n = 1;
  top->clk = 0;
  top->eval();

  auto wrong = [&](const char* what, size_t packet) {
    const Packet& p = packets[packet];
    Cases::fail(std::string(what) + ": packet " + std::to_string(packet) + " (" + std::to_string(p.ad.size()) + " + " +
                std::to_string(p.in.size()) + " bytes, " + (p.open ? "open" : "seal") + ", slot " +
                std::to_string(p.slot) + ") at cycle " + std::to_string(cycles));
  };

  while (verdict < packets.size()) {
    if (!flat && random.next() % 256 == 0) {
      command_stalls.turn(random);
      in_stalls.turn(random);
      out_stalls.turn(random);
      verdict_stalls.turn(random);
    }
    // Once valid is set, it stays set until the word is accepted.
    if (!key_held && !key_loading && key < cases.keys.size() && command >= cases.keys[key].after &&
        in_progress[cases.keys[key].slot] == 0) {
      key_held = true;
      memcpy(&top->s_axis_key_tdata, cases.keys[key].bytes, 32);
      top->s_axis_key_tuser = cases.keys[key].slot;
    }
    top->s_axis_key_tvalid = key_held;
    if (!command_held && command < packets.size() && packets[command].before <= key && !key_held && !key_loading &&
        command_stalls.moves(random)) {
      const Packet& p = packets[command];
      uint8_t words[32];
      memcpy(words, p.nonce, 12);
      uint16_t lengths[2] = {uint16_t(p.ad.size()), uint16_t(p.in.size())};
      memcpy(words + 12, lengths, 4);
      memcpy(words + 16, p.claim, 16);
      memcpy(&top->s_axis_command_tdata, words, 32);
      top->s_axis_command_tuser = p.slot * 2 + p.open;
      command_held = true;
    }
    top->s_axis_command_tvalid = command_held;
    while (!in_held && in < packets.size() && in_beat == Beats::all(packets[in])) in++, in_beat = 0;
#if VM_TRACE  // a picture shows data behind its command
    const bool wanted = in < command;
#else
    const bool wanted = true;
#endif
    if (!in_held && wanted && in < packets.size() && in_stalls.moves(random)) {
      Beats::put(packets[in], in_beat, reinterpret_cast<uint8_t*>(&top->s_axis_tdata), random);
      top->s_axis_tlast = in_beat + 1 == Beats::all(packets[in]);
      in_held = true;
    }
    top->s_axis_tvalid = in_held;
    top->m_axis_tready = out_stalls.moves(random);
    top->m_axis_verdict_tready = verdict_stalls.moves(random);
    top->eval();

    // The transfers at the coming edge.
    const bool moved_key = key_held && top->s_axis_key_tready;
    const bool moved_command = command_held && top->s_axis_command_tready;
    const bool moved_in = in_held && top->s_axis_tready;
    quiet++;
    if (moved_in) {
      if (in_beat == Beats::count(packets[in].ad.size())) text_at[in] = cycles;
      in_held = false;
      in_beat++;
      quiet = 0;
    }
    if (moved_command) {
      if (!command) first_command = cycles;
      in_progress[packets[command].slot]++;
      command++;
      command_held = false;
      quiet = 0;
    }
    if (top->m_axis_tvalid && top->m_axis_tready) {
      while (out < packets.size() && packets[out].out.empty()) out++;
      if (out == packets.size()) Cases::fail("text that nobody sent");
      const Packet& p = packets[out];
      if (!out_beat) latency = std::min(latency, cycles - text_at[out]);
      const auto* data = reinterpret_cast<const uint8_t*>(&top->m_axis_tdata);
      size_t start = out_beat * BEAT, n = std::min(BEAT, p.out.size() - start);
      if (p.check_text && memcmp(data, p.out.data() + start, n)) wrong("wrong text", out);
      if (uint64_t(top->m_axis_tkeep) != (n == 64 ? ~0ull : (1ull << n) - 1)) wrong("wrong keep", out);
      if (top->m_axis_tlast != (start + n == p.out.size())) wrong("wrong last", out);
      if (top->m_axis_tlast) out++, out_beat = 0;
      else out_beat++;
      last_out = cycles;
      quiet = 0;
    }
    if (top->m_axis_verdict_tvalid && top->m_axis_verdict_tready) {
      const Packet& p = packets[verdict];
      const bool open = top->m_axis_verdict_tuser & 2, authentic = top->m_axis_verdict_tuser & 1;
      if (open != bool(p.open) || authentic != bool(p.open && p.authentic)) wrong("wrong verdict", verdict);
      if (p.authentic && memcmp(&top->m_axis_verdict_tdata, p.tag, 16)) wrong("wrong tag", verdict);
      in_progress[p.slot]--;
      blocks += (p.ad.size() + 15) / 16 + (p.in.size() + 15) / 16;
      verdict++;
      last_out = cycles;
      quiet = 0;
    }
#if VM_TRACE
    dump.dump(10 * cycles);
#endif
    top->clk = 1;
    top->eval();
#if VM_TRACE
    dump.dump(10 * cycles + 5);
#endif
    top->clk = 0;
    top->eval();
    cycles++;
    if (key_loading && top->s_axis_key_tready) key_loading = false, key++, quiet = 0;
    if (moved_key) key_held = false, key_loading = true;
    if (quiet > 40000) wrong("nothing moves", verdict);
  }
  size_t forged = 0, opened = 0, bytes = 0;
  std::set<size_t> text_ends, ad_ends;  // where in a beat text and associated data ended
  for (const Packet& p : packets) {
    opened += p.open, forged += !p.authentic, bytes += p.in.size();
    text_ends.insert(p.in.empty() ? BEAT : p.in.size() % BEAT);
    ad_ends.insert(p.ad.empty() ? BEAT : p.ad.size() % BEAT);
  }
  printf("{\"packets\": %zu, \"opened\": %zu, \"forged\": %zu, \"keys\": %zu, \"blocks\": %llu, \"cycles\": %llu, "
         "\"moving\": %llu, \"text_bytes\": %zu, \"text_ends\": \"%zu of %zu\", \"ad_ends\": \"%zu of %zu\", "
         "\"latency\": %llu}\n",
         packets.size(), opened, forged, cases.keys.size(), (unsigned long long)blocks, (unsigned long long)cycles,
         (unsigned long long)(last_out - first_command + 1), bytes, text_ends.size(), BEAT + 1, ad_ends.size(), BEAT + 1,
         (unsigned long long)latency);
  top->final();
#if VM_COVERAGE
  context->coveragep()->write(std::getenv("COVERAGE") ? std::getenv("COVERAGE") : "coverage.dat");
#endif
}
