// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Drives a core with the cases that `rtl_cases` writes (crates/vectors/examples) and checks every byte that comes out.
//
//   bulk CASES SEED [flat]      flat: no stall anywhere
//
// It prints its counts as JSON: `moving` is the number of cycles from the first command to the last word out, `latency` the
// least number of cycles from a packet's first beat of text at the input to that beat at the output, `text_ends` and `ad_ends`
// the numbers of bytes in a last beat that occurred, `tag_bits` the bits of a tag that alone were wrong in a packet to open,
// `longest` the most bytes of text.
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

#include "Vsealwright_axis.h"
#include "verilated.h"
#include "verilated_cov.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

using Bytes = std::vector<uint8_t>;

constexpr size_t BEAT = 8 * sizeof(static_cast<Vsealwright_axis*>(nullptr)->s_axis_tkeep);  // of which there is a bit a byte
#ifndef HOLD
#define HOLD 0
#endif
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef TAG
#define TAG 16
#endif
#ifndef OPENS
#define OPENS 1
#endif

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
    auto take_slot = [&](uint8_t& slot) {
      take(&slot, 1);
      if (slot >= SLOTS) fail("the cases use a slot that the core does not have");
    };
    while (at < end) {
      uint8_t kind;
      take(&kind, 1);
      if (kind == 1) {
        Key key{};
        take_slot(key.slot);
        take(key.bytes, 32);
        key.after = packets.size();
        keys.push_back(key);
      } else {
        Packet p{};
        take_slot(p.slot);
        take(&p.open, 3);
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

// How often a channel is ready, in eighths of the cycles; 8 means always. Now and then it is not for so long that the queues behind
// it are full.
struct StallPattern {
  uint32_t eighths = 8, never = 0;
  bool moves(Random& random) {
    if (never) return never--, false;
    return eighths == 8 || (random.next() & 7) < eighths;
  }
  void turn(Random& random) {
    static const uint8_t kinds[] = {8, 8, 8, 7, 4, 2, 1};
    eighths = kinds[random.next() % sizeof kinds];
    if (random.next() % 16 == 0) never = 600;
  }
};

// What a packet's status may be (sealwright_pkg).
enum Status : uint8_t { Good, Forged, Short, Long, Keep, Slot, Size, Seals };

// A packet's frame: blocks of associated data, then blocks of text, in beats; and what is wrong with it.
struct Frame {
  static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static size_t text_at(const Packet& p) { return padded(p.ad.size()); }
  static size_t beats(const Packet& p) {
    return std::max<size_t>(1, (text_at(p) + padded(p.in.size()) + BEAT - 1) / BEAT);
  }

  Bytes data, keep;
  Status fault = Good;
  size_t real;  // beats that are sent and count

  // `faults`: one in so many frames is broken; 0: none.
  Frame(const Packet& p, Random& random, uint32_t faults) : real(beats(p)) {
    data.resize(real * BEAT);
    for (uint8_t& byte : data) byte = uint8_t(random.next());  // unused bytes are random
    keep.resize(data.size());
    auto put = [&](const Bytes& from, size_t at) {
      std::copy(from.begin(), from.end(), data.begin() + at);
      std::fill_n(keep.begin() + at, from.size(), 1);
    };
    put(p.ad, 0);
    put(p.in, text_at(p));
    if (!faults || random.next() % faults) return;
    switch (random.next() % 3) {
      case 0:
        if (real == 1) return;
        fault = Short;
        real = 1 + random.next() % (real - 1);
        data.resize(real * BEAT);
        keep.resize(real * BEAT);
        break;
      case 1:
        fault = Long;
        for (size_t more = (1 + random.next() % 4) * BEAT; more; more--) data.push_back(0x5a), keep.push_back(1);
        break;
      default:
        fault = Keep;
        keep[random.next() % keep.size()] ^= 1;
    }
  }
  void put_beat(size_t beat, uint8_t* to, uint64_t& bits) const {
    memcpy(to, data.data() + beat * BEAT, BEAT);
    bits = 0;
    for (size_t i = 0; i < BEAT; i++) bits |= uint64_t(keep[beat * BEAT + i]) << i;
  }
};

// How a packet must end, as far as the core can know it before its frame comes.
static Status admission(const Packet& p) {
  if (!OPENS && p.open) return Seals;
  return HOLD && p.in.size() > HOLD ? Size : Good;
}

int main(int argc, char** argv) {
  if (argc < 3) Cases::fail("CASES SEED [flat]");
  Cases cases(argv[1]);
  Random random{strtoull(argv[2], nullptr, 10) * 2 + 1};
  const bool flat = argc > 3 && !strcmp(argv[3], "flat");
  auto context = std::make_unique<VerilatedContext>();
  auto top = std::make_unique<Vsealwright_axis>(context.get());
  const auto& packets = cases.packets;

  StallPattern command_stalls, in_stalls, out_stalls, verdict_stalls;
  size_t command = 0, key = 0, in = 0, in_beat = 0, out = 0, out_beat = 0, verdict = 0;
  size_t in_progress[256] = {};
  uint64_t cycles = 0, first_command = 0, last_out = 0, blocks = 0, quiet = 0, latency = ~0ull;
  std::vector<uint64_t> text_at(packets.size());  // when each packet's first beat of text went in
  std::vector<Frame> frames;                      // of packets so far
  size_t faults[8] = {};
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

  auto silent = [&](size_t i) {  // no text of the packet goes out
    const Packet& p = packets[i];
    return p.out.empty() || admission(p) || (HOLD && (frames[i].fault || (p.open && !p.authentic)));
  };
  // All verdicts and all texts came. Then nothing more may come for so many cycles.
  auto complete = [&] {
    if (verdict < packets.size()) return false;
    while (out < packets.size() && silent(out)) out++;
    return out == packets.size();
  };
  size_t settled = 0;
  const size_t settle = flat ? 1 : 1000;

  while (settled < settle) {
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
    if (!in_held && in < frames.size() && in_beat == frames[in].data.size() / BEAT) {
      frames[in].data.clear(), frames[in].keep.clear();
      in++, in_beat = 0;
    }
#if VM_TRACE  // a picture shows data behind its command
    const bool wanted = in < command;
#else
    const bool wanted = true;
#endif
    if (!in_held && wanted && in < packets.size() && in_stalls.moves(random)) {
      if (in == frames.size()) frames.emplace_back(packets[in], random, flat ? 0 : 24);
      uint64_t keep;
      frames[in].put_beat(in_beat, reinterpret_cast<uint8_t*>(&top->s_axis_tdata), keep);
      top->s_axis_tkeep = keep;
      top->s_axis_tlast = in_beat + 1 == frames[in].data.size() / BEAT;
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
      if (in_beat == Frame::text_at(packets[in]) / BEAT) text_at[in] = cycles;
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
      while (out < packets.size() && out < frames.size() && silent(out)) out++;
      if (out >= frames.size()) Cases::fail("text that nobody sent");
      const Packet& p = packets[out];
      const Frame& frame = frames[out];
      if (!out_beat) latency = std::min(latency, cycles - text_at[out]);
      const auto* data = reinterpret_cast<const uint8_t*>(&top->m_axis_tdata);
      const size_t first = Frame::text_at(p), beat = first / BEAT + out_beat;
      for (size_t i = 0, at = beat * BEAT; i < BEAT; i++, at++) {
        const bool there = at >= first && at - first < p.out.size();
        if ((uint64_t(top->m_axis_tkeep) >> i & 1) != there) wrong("wrong keep", out);
        const uint8_t byte = there && beat < frame.real ? p.out[at - first] : 0;
        if (data[i] != byte && (p.check_text || !there || beat >= frame.real)) wrong("wrong text", out);
      }
      if (top->m_axis_tlast != (beat + 1 == Frame::beats(p))) wrong("wrong last", out);
      if (top->m_axis_tlast) out++, out_beat = 0;
      else out_beat++;
      last_out = cycles;
      quiet = 0;
    }
    if (top->m_axis_verdict_tvalid && top->m_axis_verdict_tready) {
      if (verdict >= frames.size()) Cases::fail("a verdict on nothing");
      const Packet& p = packets[verdict];
      const auto flags = top->m_axis_verdict_tuser;
      Status status = admission(p);
      if (!status) status = frames[verdict].fault;
      if (!status && p.open && !p.authentic) status = Forged;
      faults[status]++;
      if ((flags >> 2 & 7) != status) wrong("wrong status", verdict);
      if (bool(flags & 2) != bool(p.open) || (flags & 1) != (p.open && !status)) wrong("wrong verdict", verdict);
      if (bool(flags & 32) != (!p.out.empty() && !admission(p) && !(HOLD && status))) wrong("wrong about its text", verdict);
      static const uint8_t nothing[16] = {};
      if (memcmp(&top->m_axis_verdict_tdata, p.open || status ? nothing : p.tag, 16)) wrong("wrong tag", verdict);
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
    if (complete()) settled++, quiet = 0;
    if (quiet > 40000) wrong("nothing moves", std::min(verdict, packets.size() - 1));
  }
  size_t forged = 0, opened = 0, bytes = 0;
  std::set<size_t> text_ends, ad_ends;  // where in a beat text and associated data ended
  std::set<size_t> tag_bits;            // that alone were wrong
  size_t longest = 0;                   // bytes of text
  for (const Packet& p : packets) {
    opened += p.open, forged += p.open && !p.authentic, bytes += p.in.size();
    longest = std::max(longest, p.in.size());
    size_t wrong_bits = 0, bit = 0;
    for (size_t i = 0; i < 8 * TAG; i++)
      if ((p.claim[i / 8] ^ p.tag[i / 8]) >> i % 8 & 1) wrong_bits++, bit = i;
    if (p.open && !p.authentic && wrong_bits == 1) tag_bits.insert(bit);
    text_ends.insert(p.in.empty() ? BEAT : p.in.size() % BEAT);
    ad_ends.insert(p.ad.empty() ? BEAT : p.ad.size() % BEAT);
  }
  printf("{\"packets\": %zu, \"opened\": %zu, \"forged\": %zu, \"keys\": %zu, \"blocks\": %llu, \"cycles\": %llu, "
         "\"moving\": %llu, \"text_bytes\": %zu, \"text_ends\": \"%zu of %zu\", \"ad_ends\": \"%zu of %zu\", "
         "\"tag_bits\": \"%zu of %d\", \"longest\": %zu, "
         "\"latency\": %llu, \"statuses\": [%zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu]}\n",
         packets.size(), opened, forged, cases.keys.size(), (unsigned long long)blocks, (unsigned long long)cycles,
         (unsigned long long)(last_out - first_command + 1), bytes, text_ends.size(), BEAT + 1, ad_ends.size(), BEAT + 1,
         tag_bits.size(), 8 * TAG, longest,
         (unsigned long long)latency, faults[0], faults[1], faults[2], faults[3], faults[4], faults[5], faults[6], faults[7]);
  top->final();
#if VM_COVERAGE
  context->coveragep()->write(std::getenv("COVERAGE") ? std::getenv("COVERAGE") : "coverage.dat");
#endif
}
