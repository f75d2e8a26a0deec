// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One round of AES, or of its inverse, in Cut + 1 cycles. The key is used in the last of them.
//
//   forward   SubBytes [Cut registers] ShiftRows, MixColumns, key [register]
//   inverse   InvSubBytes [Cut registers] InvShiftRows, key, InvMixColumns [register]

module aes_round
  import sealwright_pkg::*;
#(
  parameter sbox_e       Sbox    = SboxTable,
  parameter int unsigned Cut     = 0,
  parameter bit          Last    = 1'b0,
  parameter bit          Inverse = 1'b0
) (
  input  logic   clk_i,
  input  block_t state_i,
  input  block_t key_i,
  output block_t state_o
);

  block_t substituted, next;

  aes_sub #(.Sbox(Sbox), .Cut(Cut), .Inverse(Inverse)) u_sub (
    .clk_i, .state_i, .state_o(substituted)
  );

  if (Inverse) begin : gen_inverse
    block_t keyed;
    assign keyed = aes_pkg::inv_shift_rows(substituted) ^ key_i;
    assign next  = Last ? keyed : aes_pkg::inv_mix_columns(keyed);
  end else begin : gen_forward
    block_t shifted;
    assign shifted = aes_pkg::shift_rows(substituted);
    assign next    = (Last ? shifted : aes_pkg::mix_columns(shifted)) ^ key_i;
  end

  always_ff @(posedge clk_i) state_o <= next;

endmodule
