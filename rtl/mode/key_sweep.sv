// SPDX-License-Identifier: MIT OR Apache-2.0
//
// For cores whose keys survive a reset (Keep): after a reset, erases every slot that holds no key,
// since the reset may have interrupted a load or an erase. Key requests wait until then. A slot
// that is busy with packets, all of which are refused, is tried again.

module key_sweep
  import sealwright_pkg::*;
#(
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Slots-1:0] slot_valid_i,
  // from the port
  input  logic             key_valid_i,
  output logic             key_ready_o,
  input  logic             key_erase_i,
  input  logic [SlotW-1:0] key_slot_i,
  output logic             done_valid_o,
  // to the core
  output logic             key_valid_o,
  input  logic             key_ready_i,
  output logic             key_erase_o,
  output logic [SlotW-1:0] key_slot_o,
  input  logic             done_valid_i,
  input  key_status_e      done_status_i
);

  typedef enum logic [1:0] {Look, Order, Await, Over} state_e;

  state_e state_q;
  logic [SlotW-1:0] slot_q;
  logic next, over;

  assign next = state_q == Look ? slot_valid_i[slot_q]
      : state_q == Await && done_valid_i && done_status_i == KeyErased;
  assign over = state_q == Over;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Look;
      slot_q  <= '0;
    end else if (next) begin
      state_q <= slot_q == SlotW'(Slots - 1) ? Over : Look;
      slot_q  <= slot_q + SlotW'(1);
    end else begin
      unique case (state_q)
        Look:    state_q <= Order;
        Order:   if (key_ready_i) state_q <= Await;
        Await:   if (done_valid_i) state_q <= Look;  // it was busy
        default: state_q <= Over;
      endcase
    end
  end

  assign key_valid_o  = over ? key_valid_i : state_q == Order;
  assign key_erase_o  = over ? key_erase_i : 1'b1;
  assign key_slot_o   = over ? key_slot_i : slot_q;
  assign key_ready_o  = over && key_ready_i;
  assign done_valid_o = over && done_valid_i;

endmodule
