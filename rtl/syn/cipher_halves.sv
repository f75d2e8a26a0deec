// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AES in two halves side by side: the first half of the lanes has its S-boxes in memories, the
// second in logic. Ports and latency are those of cipher_only. A device whose memories suffice for
// half of the lanes has room for more lanes, and shorter wires.

`include "assert.svh"

module cipher_halves
  import sealwright_pkg::*;
#(
  parameter int unsigned Cipher = 0,  // of cipher_e: Aes128 or Aes256
  parameter int unsigned Cut    = 4,  // registers inside a round, of both halves: 1 to 4
  parameter int unsigned Lanes  = 4,  // an even number
  parameter int unsigned Slots  = 4,
  localparam int unsigned Half  = Lanes / 2,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    key_valid_i,
  output logic                    key_ready_o,
  input  logic [SlotW-1:0]        key_slot_i,
  input  logic [255:0]            key_i,
  input  logic                    valid_i,
  input  logic [SlotW-1:0]        slot_i,
  input  block_t [1:0][Half-1:0]  block_i,
  output logic                    valid_o,
  output block_t [1:0][Half-1:0]  block_o
);

  `SEALWRIGHT_REQUIRE(gen_bad_cipher, Cipher <= 32'(Aes256), "Cipher must be 0 (AES-128) or 1")
  `SEALWRIGHT_REQUIRE(gen_bad_cut, Cut >= 1 && Cut <= 4, "Cut must be 1 to 4")
  `SEALWRIGHT_REQUIRE(gen_bad_lanes, Lanes == 2 || Lanes == 4, "Lanes must be 2 or 4")
  `SEALWRIGHT_REQUIRE(gen_bad_slots, Slots >= 1 && Slots <= 256 && (Slots & (Slots - 1)) == 0,
      "Slots must be a power of two up to 256")

  localparam pipe_cfg_t Memory = '{
    cipher: cipher_e'(Cipher), sbox: SboxRom, cut: built_cut(32'(SboxRom), Cut), lanes: Half,
    slots: Slots, inverse: 1'b0
  };
  localparam pipe_cfg_t Logic = '{
    cipher: cipher_e'(Cipher), sbox: SboxComposite, cut: Cut, lanes: Half, slots: Slots,
    inverse: 1'b0
  };

  // Each half expands the key for itself: both are ready and valid in the same cycles.
  cipher_only #(.Cfg(Memory)) u_memory (
    .clk_i, .rst_ni, .key_valid_i, .key_ready_o, .key_slot_i, .key_i, .valid_i, .slot_i,
    .block_i(block_i[0]), .valid_o, .block_o(block_o[0])
  );
  cipher_only #(.Cfg(Logic)) u_logic (
    .clk_i, .rst_ni, .key_valid_i, .key_ready_o(), .key_slot_i, .key_i, .valid_i, .slot_i,
    .block_i(block_i[1]), .valid_o(), .block_o(block_o[1])
  );

endmodule
