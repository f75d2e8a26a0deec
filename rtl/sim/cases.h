// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The cases that `rtl_cases` writes for a core: keys and packets, in order.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using Bytes = std::vector<uint8_t>;

#ifndef HOLD
#define HOLD 0
#endif
#ifndef SLOTS
#define SLOTS 4
#endif
#ifndef TAG
#define TAG 16
#endif
#ifndef NUMBER
#define NUMBER 16
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
