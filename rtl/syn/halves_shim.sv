// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A wrapper of cipher_halves for place and route, like core_shim.

module halves_shim
  import sealwright_pkg::*;
#(
  parameter int unsigned Cipher = 0,
  parameter int unsigned Cut    = 4,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Slots  = 4,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic clk,
  input  logic rst_n,
  input  logic d,
  output logic q
);

  localparam int unsigned InW = 2 + 2 * SlotW + 256 + 128 * Lanes;

  logic [InW-1:0] in_q;
  logic rst_nq;
  always_ff @(posedge clk) begin
    in_q   <= {in_q[InW-2:0], d};
    rst_nq <= rst_n;
  end

  logic key_valid, key_ready, in_valid, out_valid;
  logic [SlotW-1:0] key_slot, slot;
  logic [255:0] key;
  block_t [Lanes-1:0] block, out_block;
  assign {key_valid, key_slot, key, in_valid, slot, block} = in_q;

  (* keep_hierarchy *)
  cipher_halves #(.Cipher(Cipher), .Cut(Cut), .Lanes(Lanes), .Slots(Slots)) u_core (
    .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready),
    .key_slot_i(key_slot), .key_i(key), .valid_i(in_valid), .slot_i(slot), .block_i(block),
    .valid_o(out_valid), .block_o(out_block)
  );

  fold #(.Width(2 + 128 * Lanes)) u_fold (.clk, .d({key_ready, out_valid, out_block}), .q);

endmodule
