// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The AES S-box, or its inverse, by arithmetic in GF((2^4)^2), in Cut cycles (0 to 4).
//
// GF(2^8) is rewritten as polynomials h y + l over GF(2^4) (x^4 + x + 1) with y^2 = y + 10. There
//   1 / (h y + l) = (h y + h + l) / d   with   d = 10 h^2 + h l + l^2,
// so that the only inversion is one of four bits. Of the linear maps into and out of that field,
// with all 16 isomorphisms and four constants, these take the fewest 4-input LUTs; the affine step
// of AES is merged into the map beside it. A proof shows that the result equals the table.

module aes_sbox_composite #(
  parameter int unsigned Cut     = 0,
  parameter bit          Inverse = 1'b0
) (
  input  logic       clk_i,
  input  logic [7:0] a_i,
  output logic [7:0] y_o
);

  localparam logic [7:0][7:0] InMap =
      Inverse ? 64'hc678b78f6f927df0 : 64'ha0d20ca21804e4a5;
  localparam logic [7:0][7:0] OutMap =
      Inverse ? 64'h7a86fa2c24049085 : 64'h0e7066194fed13af;
  localparam logic [7:0] InConst = Inverse ? 8'h26 : 8'h00;
  localparam logic [7:0] OutConst = Inverse ? 8'h00 : 8'h63;
  localparam logic [15:0][3:0] Inv4 = 64'h834a5c2f67bde910;

  function automatic logic [7:0] map(logic [7:0][7:0] rows, logic [7:0] a);
    for (int i = 0; i < 8; i++) map[i] = ^(rows[i] & a);
  endfunction

  function automatic logic [3:0] mul4(logic [3:0] a, logic [3:0] b);
    logic [6:0] p;
    p = '0;
    for (int i = 0; i < 4; i++) if (b[i]) p = p ^ ({3'b0, a} << i);
    return p[3:0] ^ {p[6], p[6] ^ p[5], p[5] ^ p[4], p[4]};
  endfunction

  // Which of the four places between the five steps have a register.
  localparam bit [3:0] Placed = Cut == 0 ? 4'b0000 : Cut == 1 ? 4'b0100 : Cut == 2 ? 4'b1010
      : Cut == 3 ? 4'b1110 : 4'b1111;

  logic [7:0] in, in_q, in_q2, in_q3, out, out_q;
  logic [3:0] norm, norm_q, inverted, inverted_q;

  assign in = map(InMap, a_i) ^ InConst;
  stage #(.W(8), .On(Placed[0])) u_in (.clk_i, .d_i(in), .q_o(in_q));

  assign norm = mul4(4'd10, mul4(in_q[7:4], in_q[7:4])) ^ mul4(in_q[7:4], in_q[3:0])
      ^ mul4(in_q[3:0], in_q[3:0]);
  stage #(.W(12), .On(Placed[1])) u_norm (.clk_i, .d_i({in_q, norm}), .q_o({in_q2, norm_q}));

  assign inverted = Inv4[norm_q];
  stage #(.W(12), .On(Placed[2])) u_inverted (
    .clk_i, .d_i({in_q2, inverted}), .q_o({in_q3, inverted_q})
  );

  assign out = {mul4(in_q3[7:4], inverted_q), mul4(in_q3[7:4] ^ in_q3[3:0], inverted_q)};
  stage #(.W(8), .On(Placed[3])) u_out (.clk_i, .d_i(out), .q_o(out_q));

  assign y_o = map(OutMap, out_q) ^ OutConst;

endmodule
