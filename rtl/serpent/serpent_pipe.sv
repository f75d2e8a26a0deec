// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Serpent or its inverse, unrolled: Lanes blocks a cycle of one slot, latency(Cfg) cycles later.
//
//   block_i -> [register] -> key -> [register]
//     32 times: -> S-box -> [cut] -> linear transform and key -> [register]
//     -> block_o
//
// Round keys 1 to 31 are given folded (serpent_pkg), 0 and 32 plain. Cut is 0 or 1.

`include "assert.svh"

module serpent_pipe
  import sealwright_pkg::*;
#(
  parameter pipe_cfg_t Cfg = PipeDefault,
  localparam int unsigned Lanes = Cfg.lanes,
  localparam int unsigned SlotW = slot_bits(Cfg.slots)
) (
  input  logic               clk_i,
  input  logic               rk_we_i,
  input  logic [SlotW-1:0]   rk_slot_i,
  input  logic [5:0]         rk_index_i,
  input  block_t             rk_i,
  input  logic [SlotW-1:0]   slot_i,
  input  block_t [Lanes-1:0] block_i,
  output block_t [Lanes-1:0] block_o
);

  `SEALWRIGHT_REQUIRE(gen_bad_cut, Cfg.cut <= 1,
      "a round of Serpent has one place for a register: Cut must be 0 or 1")

  block_t [32:0] key;
  round_keys #(.Cfg(Cfg)) u_keys (
    .clk_i, .rk_we_i, .rk_slot_i, .rk_index_i, .rk_i, .slot_i, .key_o(key)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    block_t in_q;
    block_t [32:0] state;
    always_ff @(posedge clk_i) begin
      in_q     <= block_i[l];
      state[0] <= in_q ^ key[0];
    end
    for (genvar r = 1; r <= 32; r++) begin : gen_round
      localparam int unsigned Box = Cfg.inverse ? (32 - r) % 8 : (r - 1) % 8;
      localparam logic [3:0][15:0] Form =
          serpent_pkg::anf(Cfg.inverse ? serpent_pkg::InvSbox[Box] : serpent_pkg::Sbox[Box]);
      block_t substituted;
      stage #(.W(128), .On(Cfg.cut != 0)) u_cut (
        .clk_i, .d_i(serpent_pkg::substitute(Form, state[r-1])), .q_o(substituted)
      );
      always_ff @(posedge clk_i) begin
        if (r == 32) state[r] <= substituted ^ key[r];
        else if (Cfg.inverse) state[r] <= serpent_pkg::unmix(substituted, key[r]);
        else state[r] <= serpent_pkg::mix(substituted, key[r]);
      end
    end
    assign block_o[l] = state[32];
  end

endmodule
