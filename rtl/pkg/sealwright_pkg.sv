// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shared by all cores: configurations, status codes, latencies, byte and bit orders.
//
// A block is 16 bytes in stream order: byte 0 in bits [7:0], byte 15 in bits [127:120].
// A GHASH element is a polynomial: the coefficient of x^i in bit [i]. SP 800-38D counts bits from
// the most significant one of byte 0, so that coefficient i is bit 7 - i % 8 of byte i / 8:
// `element` reorders wires, and is its own inverse.

package sealwright_pkg;

  // ---- choices ----
  typedef enum logic {
    ModeGcm = 1'd0,
    ModeOcb = 1'd1
  } mode_e;

  typedef enum logic [1:0] {
    Aes128     = 2'd0,
    Aes256     = 2'd1,
    Serpent256 = 2'd2
  } cipher_e;

  // Implementation of the AES S-box.
  typedef enum logic [1:0] {
    SboxTable     = 2'd0,  // constants in logic
    SboxRom       = 2'd1,  // read-only memory
    SboxComposite = 2'd2   // arithmetic in GF((2^4)^2)
  } sbox_e;

  // ---- configurations: the parameters of a module in one struct ----
  // A cipher pipeline, and every module within it.
  typedef struct packed {
    cipher_e     cipher;
    sbox_e       sbox;
    int unsigned cut;      // registers inside a round
    int unsigned lanes;    // blocks that enter in a cycle
    int unsigned slots;    // key slots
    bit          inverse;  // decrypts
  } pipe_cfg_t;

  // A core.
  typedef struct packed {
    pipe_cfg_t   pipe;
    int unsigned depth;      // registers in GHASH's loop
    int unsigned tag_bytes;  // length of the tags: GCM 4, 8, 12 to 16, OCB 8, 12, 16
    int unsigned max_text;   // most bytes of text in a packet; 0: no limit
    bit          opens;      // packets can be opened (GCM always can)
    bit          keep;       // keys survive a reset
    bit          numbered;   // frames may end by their packet's number (frame_number)
  } core_cfg_t;

  // A queue (FIFO).
  typedef struct packed {
    int unsigned width;  // bits of a word
    int unsigned depth;  // words, a power of two
    int unsigned slack;  // free places at which the queue raises near_full_o
  } queue_cfg_t;

  localparam pipe_cfg_t PipeDefault = '{
    cipher: Aes128, sbox: SboxTable, cut: 0, lanes: 4, slots: 1, inverse: 1'b0
  };
  localparam core_cfg_t CoreDefault = '{
    pipe: PipeDefault, depth: 6, tag_bytes: 16, max_text: 0, opens: 1'b1, keep: 1'b0,
    numbered: 1'b0
  };

  function automatic queue_cfg_t queue(
      int unsigned width, int unsigned depth, int unsigned slack = 4);
    return '{width: width, depth: depth, slack: slack};
  endfunction

  // The same pipeline with one lane.
  function automatic pipe_cfg_t narrow(pipe_cfg_t pipe);
    narrow       = pipe;
    narrow.lanes = 1;
  endfunction

  // The inverse of the same pipeline. The S-boxes of all three pipelines of an OCB core need more
  // memories than most devices have: with SboxRom the inverse computes its S-boxes instead.
  function automatic pipe_cfg_t inverse_of(pipe_cfg_t pipe);
    inverse_of         = pipe;
    inverse_of.inverse = 1'b1;
    if (pipe.sbox == SboxRom) inverse_of.sbox = SboxComposite;
  endfunction

  // SboxRom with Cut = 0 is refused (gen_bad_rom), since it would need a delay of -1 cycles. This
  // value is built in its place: otherwise elaboration stops at that delay, without the message.
  function automatic int unsigned built_cut(int unsigned sbox, int unsigned cut);
    return sbox == 32'(SboxRom) && cut == 0 ? 1 : cut;
  endfunction

  // Width of a slot number.
  function automatic int unsigned slot_bits(int unsigned slots);
    return slots > 1 ? $clog2(slots) : 1;
  endfunction

  // ---- packets ----
  // Cycles from pop_i to data_o of a fifo_late.
  localparam int unsigned Late = 3;

  typedef logic [127:0] block_t;

  // Most packets between a core's command port and its verdict port: the capacity of every queue
  // with an entry per packet.
  localparam int unsigned Flight = 256;

  // Width of the length of text or associated data, in bytes (up to 65,535), and of the number of
  // blocks of both together.
  localparam int unsigned LenW   = 16;
  localparam int unsigned BlockW = LenW - 4 + 2;

  // The status of a packet, in its verdict. A sealed packet has a tag only with StatusOk; an opened
  // packet is authentic only with StatusOk.
  typedef enum logic [2:0] {
    StatusOk     = 3'd0,
    StatusForged = 3'd1,  // opened: the tags differ
    StatusShort  = 3'd2,  // its frame ended before the beat that its command makes the last
    StatusLong   = 3'd3,  // its frame continued after that beat
    StatusKeep   = 3'd4,  // tkeep of its frame does not match the lengths in its command
    StatusSlot   = 3'd5,  // refused: the slot has no key, or its key is being changed
    StatusSize   = 3'd6,  // refused: more text than max_text
    StatusSeals  = 3'd7   // refused: to be opened, but the core has no inverse cipher
  } status_e;

  // Result of a request on the key port.
  typedef enum logic [1:0] {
    KeyLoaded = 2'd0,
    KeyErased = 2'd1,
    KeyBusy   = 2'd2   // refused: packets of the slot are under way
  } key_status_e;

  // The command of a packet.
  typedef struct packed {
    logic            open;  // 0: seal, 1: open
    logic [95:0]     nonce; // byte 0 in bits [7:0]
    logic [LenW-1:0] ad_len;
    logic [LenW-1:0] text_len;
    block_t          tag;   // of a packet to open: the tag to compare with
  } command_t;

  // A packet's lengths, as packet_lengths hands them to gcm_control or ocb_control.
  typedef struct packed {
    logic              open;
    logic              refused;   // none of its text is output
    logic              has_text;
    logic [3:0]        ad_tail;   // bytes in its last block, 0 for 16
    logic [3:0]        text_tail;
    logic [BlockW-1:0] ad_blocks; // of associated data
    logic [BlockW-1:0] blocks;    // of both
    logic [BlockW-1:0] beats;     // minus one: a packet without data has one beat, too
  } lengths_t;

  typedef struct packed {
    block_t  tag;       // of a sealed packet, else zero
    logic    text;      // the core outputs a frame of text for this packet
    status_e status;
    logic    open;
    logic    authentic; // opened, and the tags agree
  } verdict_t;

  function automatic int unsigned rounds(cipher_e cipher);
    return cipher == Serpent256 ? 32 : (cipher == Aes256 ? 14 : 10);
  endfunction

  // Cycles from block_i to block_o of a cipher_pipe.
  function automatic int unsigned latency(pipe_cfg_t pipe);
    return 2 + rounds(pipe.cipher) * (pipe.cut + 1);
  endfunction

  function automatic block_t element(block_t b);
    block_t e;  // in every byte: swap the nibbles, then pairs of bits, then bits
    e = ((b >> 4) & {16{8'h0f}}) | ((b & {16{8'h0f}}) << 4);
    e = ((e >> 2) & {16{8'h33}}) | ((e & {16{8'h33}}) << 2);
    return ((e >> 1) & {16{8'h55}}) | ((e & {16{8'h55}}) << 1);
  endfunction

  function automatic block_t reverse_bytes(block_t b);
    for (int i = 0; i < 16; i++) reverse_bytes[8*i +: 8] = b[8*(15-i) +: 8];
  endfunction

  // double() of RFC 7253: a block times x. The block is read as one number whose most significant
  // byte is byte 0.
  function automatic block_t double(block_t b);
    block_t n;
    n = reverse_bytes(b);
    return reverse_bytes({n[126:0], 1'b0} ^ (n[127] ? 128'h87 : 128'h0));
  endfunction

endpackage
