// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Folds the outputs of a core into one bit: XOR of four bits at a time, with a register after every
// step.

module fold #(
  parameter int unsigned Width = 64
) (
  input  logic clk,
  input  logic [Width-1:0] d,
  output logic q
);

  localparam int unsigned W1 = (Width + 3) / 4;
  localparam int unsigned W2 = (W1 + 3) / 4;
  localparam int unsigned W3 = (W2 + 3) / 4;
  logic [4*W1-1:0] d_q;
  logic [4*W2-1:0] fold1_q;
  logic [4*W3-1:0] fold2_q;
  logic [W3-1:0] fold3_q;
  always_ff @(posedge clk) begin
    d_q <= (4*W1)'(d);
    fold1_q <= '0;
    for (int i = 0; i < W1; i++) fold1_q[i] <= ^d_q[4*i+:4];
    fold2_q <= '0;
    for (int i = 0; i < W2; i++) fold2_q[i] <= ^fold1_q[4*i+:4];
    for (int i = 0; i < W3; i++) fold3_q[i] <= ^fold2_q[4*i+:4];
    q <= ^fold3_q;
  end

endmodule
