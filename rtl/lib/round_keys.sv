// The round keys of every key slot, each given when the blocks of the slot that entered meet it.
//
// The slot travels beside the blocks, so that each cycle may be another key's. Rounds have Cut registers inside and one
// behind them; one more stands before key 0 is added.

module round_keys
  import sealwright_pkg::*;
#(
  parameter int unsigned Rounds  = 10,
  parameter int unsigned Cut     = 0,
  parameter int unsigned Slots   = 1,
  parameter bit          Inverse = 1'b0,  // from the last key to the first
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
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
  localparam int unsigned Last = Rounds * (Cut + 1);
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
    always_ff @(posedge clk_i) we_q <= rk_we_i && rk_index_i == 6'(Inverse ? Rounds - r : r);
    // Those that meet this key in the coming cycle have passed r rounds, less the register before key 0.
    key_store #(.Slots(Slots)) u_keys (
      .clk_i, .we_i(we_q), .write_slot_i(rk_slot_q), .key_i(rk_q), .slot_i(slot[r*(Cut+1)]), .key_o(key_o[r])
    );
  end

endmodule
