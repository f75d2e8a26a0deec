// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A register slice for a stream: valid and ready are both registered, at one word per cycle.

module slice #(
  parameter int unsigned W = 8
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [W-1:0] data_i,
  output logic         valid_o,
  input  logic         ready_i,
  output logic [W-1:0] data_o
);

  logic [W-1:0] spare_q;  // the word that was accepted while the head was stalled
  logic stays;

  assign stays = valid_o && !ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_o <= 1'b0;
      ready_o <= 1'b1;
    end else begin
      valid_o <= stays || valid_i || !ready_o;
      ready_o <= !stays || (ready_o && !valid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (ready_o) spare_q <= data_i;
    if (!stays) data_o <= ready_o ? data_i : spare_q;
  end

endmodule
