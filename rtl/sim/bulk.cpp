// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Drives a core with the cases that `rtl_cases` writes (crates/vectors/examples) and checks every byte that comes out.
//
//   bulk CASES SEED [flat]      flat: no stall anywhere
//
// It prints its counts as JSON: `moving` is the number of cycles from the first command to the last word out, `latency` the
// least number of cycles from a packet's first beat of text at the input to that beat at the output, `from_command` that from its
// command to that beat. With `flat`, `to_verdict` is the least number of cycles from a packet's last beat of text at the output to
// its verdict; negative if the verdict comes first. `keys_in_flight` are keys that replaced one while other slots had packets in
// progress. Of packets whose verdict was `ok`: `text_ends` and `ad_ends`, the places in a beat at which
// text and associated data ended, and `longest`, the most bytes of text. `tag_bits` are the bits of a tag that alone were wrong in
// a packet with the verdict `forged`.
//
// Every few hundred cycles, each channel chooses at random how often it stalls, from never to nearly always. A key is loaded
// when no packet of its slot is in progress, while packets of other slots continue.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "Vsealwright_axis.h"
#include "cases.h"
#include "verilated.h"
#include "verilated_cov.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

constexpr size_t BEAT = 8 * sizeof(static_cast<Vsealwright_axis*>(nullptr)->s_axis_tkeep);  // of which there is a bit a byte

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
  bool endless = false;  // its last beat does not say so: the next frame's number ends it

  // `faults`: one in so many frames is broken; 0: none. `follows`: another frame comes whatever becomes of this packet. `some`: this
  // frame must have a beat.
  Frame(const Packet& p, Random& random, uint32_t faults, bool follows, bool some) : real(beats(p)) {
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
    endless = NUMBER && follows && random.next() % 2;
    const size_t least = endless && !some ? 0 : 1;
    switch (random.next() % (endless ? 2 : 3)) {
      case 0:
        if (real == least) {
          endless = false;
          return;
        }
        fault = Short;
        real = least + random.next() % (real - least);
        data.resize(real * BEAT);
        keep.resize(real * BEAT);
        break;
      case 1:
        fault = Long;
        for (size_t more = (!endless + random.next() % 4) * BEAT; more; more--) data.push_back(0x5a), keep.push_back(1);
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

// The bit of the tag that alone is wrong in a packet to open; -1 if there is none, or more.
static int wrong_bit(const Packet& p) {
  int found = -1;
  for (int bit = 0; bit < 8 * TAG; bit++) {
    if (!((p.claim[bit / 8] ^ p.tag[bit / 8]) >> bit % 8 & 1)) continue;
    if (found >= 0) return -1;
    found = bit;
  }
  return p.open && !p.authentic ? found : -1;
}

// The number of a packet, if the core has numbers.
constexpr unsigned SLOT_BITS = SLOTS > 1 ? 32 - __builtin_clz(SLOTS - 1) : 1;
static uint32_t numbered(size_t packet) { return packet & ((1u << NUMBER) - 1); }

// The place in a beat at which `bytes` end that begin at a lane; 0: there are none.
static size_t end_of(size_t start, size_t bytes) { return bytes ? (start + bytes - 1) % BEAT + 1 : 0; }

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
  // Registers and memories begin with random values.
  context->randReset(2);
  context->randSeed(1 + atoi(argv[2]));
  auto top = std::make_unique<Vsealwright_axis>(context.get());
  const auto& packets = cases.packets;

  StallPattern command_stalls, in_stalls, out_stalls, verdict_stalls;
  size_t command = 0, key = 0, in = 0, in_beat = 0, out = 0, out_beat = 0, verdict = 0;
  size_t in_progress[256] = {};
  uint64_t cycles = 0, first_command = 0, last_out = 0, blocks = 0, quiet = 0, latency = ~0ull, from_command = ~0ull;
  int64_t to_verdict = INT64_MAX;
  std::vector<uint64_t> text_at(packets.size());  // when each packet's first beat of text went in
  std::vector<Frame> frames;                      // of packets so far
  std::vector<uint64_t> commanded(packets.size());  // when each command went in
  std::vector<int64_t> text_out(packets.size()), judged(packets.size());  // when its last beat of text went out, and its verdict
  size_t faults[8] = {}, keys_in_flight = 0, longest = 0;
  std::set<size_t> text_ends, ad_ends, tag_bits;
  bool has_key[256] = {};
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
      top->s_axis_command_tuser = p.slot * 2 + p.open + (numbered(command) << (1 + SLOT_BITS));
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
      // A wrong bit must be seen in the tag alone.
      if (in == frames.size()) {
        const bool follows = in + 1 < packets.size() && packets[in + 1].before == packets[in].before;
        const uint32_t faults = flat || wrong_bit(packets[in]) >= 0 ? 0 : 24;
        frames.emplace_back(packets[in], random, faults, follows, in && frames[in - 1].endless && random.next() % 2);
      }
      const Frame& frame = frames[in];
      const size_t beats = frame.data.size() / BEAT;
      if (beats) {
        uint64_t keep;
        frame.put_beat(in_beat, reinterpret_cast<uint8_t*>(&top->s_axis_tdata), keep);
        top->s_axis_tkeep = keep;
        top->s_axis_tlast = in_beat + 1 == beats && !frame.endless;
        top->s_axis_tuser = numbered(in);
        in_held = true;
      }
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
      commanded[command] = cycles;
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
      if (!out_beat) {
        latency = std::min(latency, cycles - text_at[out]);
        from_command = std::min(from_command, cycles - commanded[out]);
      }
      const auto* data = reinterpret_cast<const uint8_t*>(&top->m_axis_tdata);
      const size_t first = Frame::text_at(p), beat = first / BEAT + out_beat;
      for (size_t i = 0, at = beat * BEAT; i < BEAT; i++, at++) {
        const bool there = at >= first && at - first < p.out.size();
        if ((uint64_t(top->m_axis_tkeep) >> i & 1) != there) wrong("wrong keep", out);
        const uint8_t byte = there && beat < frame.real ? p.out[at - first] : 0;
        if (data[i] != byte && (p.check_text || !there || beat >= frame.real)) wrong("wrong text", out);
      }
      if (top->m_axis_tlast != (beat + 1 == Frame::beats(p))) wrong("wrong last", out);
      text_out[out] = cycles;
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
      if (status == Forged && wrong_bit(p) >= 0) tag_bits.insert(wrong_bit(p));
      if (status == Good) {
        text_ends.insert(end_of(Frame::text_at(p), p.in.size()));
        ad_ends.insert(end_of(0, p.ad.size()));
        longest = std::max(longest, p.in.size());
      }
      judged[verdict] = cycles;
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
    if (moved_key) {
      const uint8_t slot = cases.keys[key].slot;
      keys_in_flight += has_key[slot] && command > verdict;
      has_key[slot] = true;
      key_held = false, key_loading = true;
    }
    if (complete()) settled++, quiet = 0;
    if (quiet > 40000) wrong("nothing moves", std::min(verdict, packets.size() - 1));
  }
  size_t opened = 0, bytes = 0;
  for (const Packet& p : packets) opened += p.open, bytes += p.in.size();
  for (size_t i = 0; i < packets.size(); i++)
    if (text_out[i]) to_verdict = std::min(to_verdict, judged[i] - text_out[i]);
  printf("{\"packets\": %zu, \"opened\": %zu, \"forged\": %zu, \"keys\": %zu, \"keys_in_flight\": %zu, \"blocks\": %llu, "
         "\"cycles\": %llu, "
         "\"moving\": %llu, \"text_bytes\": %zu, \"text_ends\": \"%zu of %zu\", \"ad_ends\": \"%zu of %zu\", "
         "\"tag_bits\": \"%zu of %d\", \"longest\": %zu, "
         "\"latency\": %llu, \"from_command\": %llu, \"to_verdict\": %lld, \"statuses\": [%zu, %zu, %zu, %zu, %zu, %zu, %zu, %zu]}\n",
         packets.size(), opened, faults[Forged], cases.keys.size(), keys_in_flight, (unsigned long long)blocks,
         (unsigned long long)cycles,
         (unsigned long long)(last_out - first_command + 1), bytes, text_ends.size(), BEAT + 1, ad_ends.size(), BEAT + 1,
         tag_bits.size(), 8 * TAG, longest,
         (unsigned long long)latency, (unsigned long long)from_command, (long long)to_verdict, faults[0], faults[1], faults[2],
         faults[3], faults[4], faults[5], faults[6], faults[7]);
  top->final();
#if VM_COVERAGE
  context->coveragep()->write(std::getenv("COVERAGE") ? std::getenv("COVERAGE") : "coverage.dat");
#endif
}
