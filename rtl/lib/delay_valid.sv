// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A delay line for valid bits, which reset clears.

module delay_valid #(
  parameter int unsigned W      = 1,
  parameter int unsigned Cycles = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [W-1:0] valid_i,
  output logic [W-1:0] valid_o
);

  logic [Cycles:0][W-1:0] step;

  assign step[0] = valid_i;
  for (genvar i = 0; i < Cycles; i++) begin : gen_step
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) step[i+1] <= '0;
      else step[i+1] <= step[i];
    end
  end
  assign valid_o = step[Cycles];

endmodule
