// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The round keys of every key slot. key_o[r] is the key for the blocks that reach round r in this
// cycle.
//
// The slot number is delayed with the blocks, so that every cycle may use another key. A round has
// Cfg.cut registers inside and one at its end; one more register precedes the addition of key 0.

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

  // slot[t]: the slot of the blocks that have passed t registers.
  localparam int unsigned Last = Rounds * (Cfg.cut + 1);
  logic [Last:0][SlotW-1:0] slot;
  assign slot[0] = slot_i;
  for (genvar t = 0; t < Last; t++) begin : gen_slot
    always_ff @(posedge clk_i) slot[t+1] <= slot[t];
  end

  // An input register, since this bus runs across the whole cipher.
  logic [SlotW-1:0] rk_slot_q;
  block_t rk_q;
  always_ff @(posedge clk_i) begin
    rk_slot_q <= rk_slot_i;
    rk_q      <= rk_i;
  end

  for (genvar r = 0; r <= Rounds; r++) begin : gen_key
    logic we_q;
    always_ff @(posedge clk_i) we_q <= rk_we_i && rk_index_i == 6'(Cfg.inverse ? Rounds - r : r);
    // The blocks meet key r behind the register before key 0 and r rounds. The read takes the cycle
    // of the former; the slot is delayed by the latter.
    key_store #(.Slots(Cfg.slots)) u_keys (
      .clk_i, .we_i(we_q), .write_slot_i(rk_slot_q), .key_i(rk_q), .slot_i(slot[r*(Cfg.cut+1)]),
      .key_o(key_o[r])
    );
  end

endmodule
