// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AES or its inverse, unrolled: Lanes blocks a cycle under one key slot, latency(Cfg) cycles later.
//
//   block_i -> [register] -> key 0 -> [register] -> round 1 -> ... -> round 10 or 14 -> block_o

module aes_pipe
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

  localparam int unsigned Rounds = rounds(Cfg.cipher);
  block_t [Rounds:0] key;
  round_keys #(.Cfg(Cfg)) u_keys (
    .clk_i, .rk_we_i, .rk_slot_i, .rk_index_i, .rk_i, .slot_i, .key_o(key)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    block_t in_q;
    block_t [Rounds:0] state;
    always_ff @(posedge clk_i) begin
      in_q     <= block_i[l];
      state[0] <= in_q ^ key[0];
    end
    for (genvar r = 1; r <= Rounds; r++) begin : gen_round
      aes_round #(
        .Sbox(Cfg.sbox), .Cut(Cfg.cut), .Last(r == Rounds), .Inverse(Cfg.inverse)
      ) u_round (
        .clk_i, .state_i(state[r-1]), .key_i(key[r]), .state_o(state[r])
      );
    end
    assign block_o[l] = state[Rounds];
  end

endmodule
