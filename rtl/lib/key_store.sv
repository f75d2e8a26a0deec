// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The key of one round, for every key slot. A read takes one cycle.

module key_store
  import sealwright_pkg::*;
#(
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = slot_bits(Slots)
) (
  input  logic             clk_i,
  input  logic             we_i,
  input  logic [SlotW-1:0] write_slot_i,
  input  block_t           key_i,
  input  logic [SlotW-1:0] slot_i,
  output block_t           key_o
);

  if (Slots == 1) begin : gen_one
    logic unused_slots;
    assign unused_slots = ^{write_slot_i, slot_i};
    always_ff @(posedge clk_i) if (we_i) key_o <= key_i;
  end else begin : gen_many
    (* ram_style = "distributed", no_rw_check *)  // a slot in use is not written
    block_t keys[Slots];
    always_ff @(posedge clk_i) begin
      if (we_i) keys[write_slot_i] <= key_i;
      key_o <= keys[slot_i];
    end
  end

endmodule
