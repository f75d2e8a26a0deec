// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The S-box by arithmetic is that of the table, both ways, for every byte; the SAT solver looks for
// one that differs.

module boxes (
  input  logic       clk_i,
  input  logic [7:0] a_i,
  output logic [1:0] same_o
);

  logic [7:0] forward, backward;
  aes_sbox_composite #(.Inverse(1'b0)) u_forward (.clk_i, .a_i, .y_o(forward));
  aes_sbox_composite #(.Inverse(1'b1)) u_backward (.clk_i, .a_i, .y_o(backward));
  assign same_o = {forward == aes_pkg::Sbox[a_i], backward == aes_pkg::InvSbox[a_i]};

endmodule
