// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The round keys of every key slot, each given when the blocks of the slot that entered meet it.
//
// The slot's number is delayed with the blocks, so that every cycle may use another key. A round
// has Cfg.cut registers inside and one at its end; one more register is before the addition of key
// 0.

module round_keys
  import sealwright_pkg::*;
#(
  parameter pipe_cfg_t Cfg = PipeDefault,  // inverse: from the last key to the first
  localparam int unsigned Rounds = rounds(Cfg.cipher),
  localparam int unsigned SlotW  = slot_bits(Cfg.slots)
) (
  input  logic              clk_i,
  input  logic              rk_we_i,
  input  logic [SlotW-1:0]  rk_slot_i,
  input  logic [5:0]        rk_index_i,
  input  block_t            rk_i,
  input  logic [SlotW-1:0]  slot_i,
  output block_t [Rounds:0] key_o
);

  // slot[t] is that of the blocks t registers behind the entrance.
  localparam int unsigned Last = Rounds * (Cfg.cut + 1);
  logic [Last:0][SlotW-1:0] slot;
  assign slot[0] = slot_i;
  for (genvar t = 0; t < Last; t++) begin : gen_slot
    always_ff @(posedge clk_i) slot[t+1] <= slot[t];
  end

  // A register on the way in: this bus crosses the whole cipher.
  logic [SlotW-1:0] rk_slot_q;
  block_t rk_q;
  always_ff @(posedge clk_i) begin
    rk_slot_q <= rk_slot_i;
    rk_q      <= rk_i;
  end

  for (genvar r = 0; r <= Rounds; r++) begin : gen_key
    logic we_q;
    always_ff @(posedge clk_i) we_q <= rk_we_i && rk_index_i == 6'(Cfg.inverse ? Rounds - r : r);
    // Those that meet this key in the coming cycle have passed r rounds, less the register before
    // key 0.
    key_store #(.Slots(Cfg.slots)) u_keys (
      .clk_i, .we_i(we_q), .write_slot_i(rk_slot_q), .key_i(rk_q), .slot_i(slot[r*(Cfg.cut+1)]),
      .key_o(key_o[r])
    );
  end

endmodule
