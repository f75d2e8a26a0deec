// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The values from which OCB's offsets are computed, for every key slot: L_* = E(K, 0), L_$, and L_0
// to L_15, each double() of the one before. Computed in 19 cycles from L_*. A read of a slot, with
// the number of an L_i, takes two cycles.

module ocb_tables
  import sealwright_pkg::*;
#(
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [SlotW-1:0] write_slot_i,
  input  block_t           star_i,
  output logic             ready_o,
  input  logic [SlotW-1:0] slot_i,
  input  logic [3:0]       ntz_i,
  output block_t           star_o,
  output block_t           dollar_o,
  output block_t           l0_o,
  output block_t           l1_o,
  output block_t           ln_o      // L_i of ntz_i
);

  typedef enum logic {Idle, Double} state_e;

  state_e state_q;
  logic [4:0] count_q;     // 0: L_*, 1: L_$, 2 + i: L_i
  block_t value_q;
  logic we;

  assign we      = state_q == Double;
  assign ready_o = state_q == Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else if (state_q == Idle) state_q <= valid_i ? Double : Idle;
    else if (count_q == 5'd17) state_q <= Idle;
  end
  always_ff @(posedge clk_i) begin
    count_q <= state_q == Idle ? '0 : count_q + 5'd1;
    value_q <= state_q == Idle ? star_i : double(value_q);
  end

  // A register before the memories.
  block_t star, dollar, l0, l1, ln, kept_q;
  logic [3:0] first_q;  // it is L_*, L_$, L_0, L_1
  logic rest_q;         // L_0 and on
  logic [3:0] index_q;
  always_ff @(posedge clk_i) begin
    kept_q  <= value_q;
    for (int i = 0; i < 4; i++) first_q[i] <= we && count_q == 5'(i);
    rest_q  <= we && count_q >= 5'd2;
    index_q <= 4'(count_q - 5'd2);
  end
  key_store #(.Slots(Slots)) u_star (
    .clk_i, .we_i(first_q[0]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(star)
  );
  key_store #(.Slots(Slots)) u_dollar (
    .clk_i, .we_i(first_q[1]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(dollar)
  );
  key_store #(.Slots(Slots)) u_l0 (
    .clk_i, .we_i(first_q[2]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(l0)
  );
  key_store #(.Slots(Slots)) u_l1 (
    .clk_i, .we_i(first_q[3]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(l1)
  );

  logic [SlotW-1:0] slot, write_slot;
  assign slot       = Slots > 1 ? slot_i : '0;
  assign write_slot = Slots > 1 ? write_slot_i : '0;
  localparam int unsigned AddressW = $clog2(Slots) + 4;
  (* no_rw_check *)  // a slot in use is not written
  block_t mem [16 * Slots];
  always_ff @(posedge clk_i) begin
    if (rest_q) mem[AddressW'({write_slot, index_q})] <= kept_q;
    ln <= mem[AddressW'({slot, ntz_i})];
  end

  always_ff @(posedge clk_i) begin
    star_o   <= star;
    dollar_o <= dollar;
    l0_o     <= l0;
    l1_o     <= l1;
    ln_o     <= ln;
  end

endmodule
