// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SubBytes of a block, or its inverse, in Cut cycles. Sbox selects the implementation.
//
// The read-only memory takes at least one cycle; a second one is its output register. Each memory
// of 256 bytes has two ports and serves two bytes.

`include "assert.svh"

module aes_sub
  import sealwright_pkg::*;
#(
  parameter sbox_e       Sbox    = SboxTable,
  parameter int unsigned Cut     = 0,
  parameter bit          Inverse = 1'b0
) (
  input  logic   clk_i,
  input  block_t state_i,
  output block_t state_o
);

  if (Sbox == SboxComposite) begin : gen_composite
    for (genvar i = 0; i < 16; i++) begin : gen_byte
      aes_sbox_composite #(.Cut(Cut), .Inverse(Inverse)) u_sbox (
        .clk_i, .a_i(state_i[8*i+:8]), .y_o(state_o[8*i+:8])
      );
    end
  end else if (Sbox == SboxRom) begin : gen_rom
    `SEALWRIGHT_REQUIRE(gen_bad_cut, Cut != 0,
        "S-boxes in memory take a cycle: Cut must be 1 or more")
    block_t read;
    for (genvar i = 0; i < 8; i++) begin : gen_pair
      aes_sbox_rom #(.Inverse(Inverse)) u_rom (
        .clk_i, .a_i(state_i[16*i+:8]), .b_i(state_i[16*i+8+:8]), .a_o(read[16*i+:8]),
        .b_o(read[16*i+8+:8])
      );
    end
    delay #(.W(128), .Cycles(Cut - 1)) u_out (.clk_i, .d_i(read), .q_o(state_o));
  end else begin : gen_table
    block_t looked;
    for (genvar i = 0; i < 16; i++) begin : gen_byte
      assign looked[8*i+:8] = Inverse ? aes_pkg::InvSbox[state_i[8*i+:8]]
          : aes_pkg::Sbox[state_i[8*i+:8]];
    end
    delay #(.W(128), .Cycles(Cut)) u_out (.clk_i, .d_i(looked), .q_o(state_o));
  end

endmodule
