// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The command port of a core: an accepted command appears on command_o a cycle later. ready_o is
// registered, so that full_i must rise some commands before there is no room.

module command_in
  import sealwright_pkg::*;
#(
  parameter int unsigned SlotW = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             full_i,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [SlotW-1:0] slot_i,
  input  command_t         command_i,
  output logic             valid_o,
  output logic [SlotW-1:0] slot_o,
  output command_t         command_o
);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {ready_o, valid_o} <= '0;
    else {ready_o, valid_o} <= {!full_i, valid_i && ready_o};
  end
  always_ff @(posedge clk_i) {slot_o, command_o} <= {slot_i, command_i};

endmodule
