// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A delay line: d_i, Cycles cycles later.

module delay #(
  parameter int unsigned W      = 1,
  parameter int unsigned Cycles = 1
) (
  input  logic         clk_i,
  input  logic [W-1:0] d_i,
  output logic [W-1:0] q_o
);

  logic [Cycles:0][W-1:0] step;

  if (Cycles == 0) begin : gen_wire
    logic unused_clk;
    assign unused_clk = clk_i;
  end

  assign step[0] = d_i;
  for (genvar i = 0; i < Cycles; i++) begin : gen_step
    always_ff @(posedge clk_i) step[i+1] <= step[i];
  end
  assign q_o = step[Cycles];

endmodule
