// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An optional pipeline register: with On = 0 a wire.

module stage #(
  parameter int unsigned W  = 1,
  parameter bit          On = 1'b1
) (
  input  logic         clk_i,
  input  logic [W-1:0] d_i,
  output logic [W-1:0] q_o
);

  if (On) begin : gen_register
    always_ff @(posedge clk_i) q_o <= d_i;
  end else begin : gen_wire
    logic unused_clk;
    assign unused_clk = clk_i;
    assign q_o = d_i;
  end

endmodule
