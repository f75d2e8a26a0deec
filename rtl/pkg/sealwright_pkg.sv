// What every core shares: names of ciphers and S-box forms, latencies, byte and bit orders.
//
// A block is 16 bytes as they come off the stream: byte 0 in bits [7:0], byte 15 in bits [127:120].
// A GHASH element is a polynomial: the coefficient of x^i in bit [i]. SP 800-38D counts bits from the most significant
// one of byte 0, so that coefficient i is bit 7 - i % 8 of byte i / 8: `element` reorders wires, and is its own inverse.

package sealwright_pkg;

  // CIPHER
  localparam int unsigned Aes128     = 0;
  localparam int unsigned Aes256     = 1;
  localparam int unsigned Serpent256 = 2;

  // SBOX, of AES alone: constants in logic, read-only memory, or arithmetic in GF((2^4)^2)
  localparam int unsigned SboxTable     = 0;
  localparam int unsigned SboxRom       = 1;
  localparam int unsigned SboxComposite = 2;

  // Cycles from pop_i to data_o of a fifo_late.
  localparam int unsigned Late = 3;

  typedef logic [127:0] block_t;

  // Bits of a length in bytes, of text and of associated data: up to 65,535.
  localparam int unsigned LenW = 16;

  // One packet's side channel.
  typedef struct packed {
    logic            open;  // 0: seal, 1: open
    logic [95:0]     nonce; // byte 0 in bits [7:0]
    logic [LenW-1:0] ad_len;
    logic [LenW-1:0] text_len;
    block_t          tag;   // what an opened packet claims
  } command_t;

  // What OCB still wants of a command when its nonce has become an offset.
  typedef struct packed {
    logic            open;
    logic [LenW-1:0] first_len;   // of what comes first: associated data, if there is any, or text
    logic [LenW-1:0] text_len;
    logic            has_ad;
    logic            has_text;
    logic            first_short; // it has one beat at most
    logic            text_short;
  } lengths_t;

  typedef struct packed {
    block_t tag;
    logic   open;
    logic   authentic; // of a packet that was opened: the tags agree
  } verdict_t;

  function automatic int unsigned rounds(int unsigned cipher);
    return cipher == Serpent256 ? 32 : (cipher == Aes256 ? 14 : 10);
  endfunction

  // Cycles from block_i to block_o of a cipher_pipe.
  function automatic int unsigned latency(int unsigned cipher, int unsigned cut);
    return 2 + rounds(cipher) * (cut + 1);
  endfunction

  function automatic block_t element(block_t b);
    block_t e;  // halves, quarters and bits of each byte change places
    e = ((b >> 4) & {16{8'h0f}}) | ((b & {16{8'h0f}}) << 4);
    e = ((e >> 2) & {16{8'h33}}) | ((e & {16{8'h33}}) << 2);
    return ((e >> 1) & {16{8'h55}}) | ((e & {16{8'h55}}) << 1);
  endfunction

  function automatic block_t reverse_bytes(block_t b);
    for (int i = 0; i < 16; i++) reverse_bytes[8*i +: 8] = b[8*(15-i) +: 8];
  endfunction

  // A block times x, as OCB has it (RFC 7253): the block read as one number, most significant bit first.
  function automatic block_t double(block_t b);
    block_t n;
    n = reverse_bytes(b);
    return reverse_bytes({n[126:0], 1'b0} ^ (n[127] ? 128'h87 : 128'h0));
  endfunction

endpackage
