// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The sum of Lanes products in GHASH's field, in Depth - 1 cycles (Depth 1 to 6; ghash_stride has
// the remaining register of its loop).
//
//   operands -> leaves [5] -> halves of leaf products [2] -> sum over lanes [4]
//     -> join to halves [6] -> join, reduce [3] -> product
//
// The number in brackets is the least Depth with a register at that place.

module ghash_multiply
  import sealwright_pkg::*;
  import ghash_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter int unsigned Depth = 6
) (
  input  logic               clk_i,
  input  block_t [Lanes-1:0] a_i,
  input  block_t [Lanes-1:0] b_i,
  output block_t             product_o
);

  parts_t [Lanes-1:0] part;
  products_t sum, sum_q;
  halves_t halves, halves_q;
  block_t reduced;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    leaves_t a, b, a_q, b_q;
    parts_t here;
    assign a = leaves(a_i[l]);
    assign b = leaves(b_i[l]);
    stage #(.W(864), .On(Depth >= 5)) u_leaves (.clk_i, .d_i({a, b}), .q_o({a_q, b_q}));
    for (genvar i = 0; i < 27; i++) begin : gen_leaf
      assign here[i] = {part_product(a_q[i][15:8], b_q[i]), part_product(a_q[i][7:0], b_q[i])};
    end
    stage #(.W(1242), .On(Depth >= 2)) u_parts (.clk_i, .d_i(here), .q_o(part[l]));
  end

  always_comb begin
    sum = '0;
    for (int l = 0; l < Lanes; l++) begin
      for (int i = 0; i < 27; i++) sum[i] = sum[i] ^ {8'b0, part[l][i][0]} ^ {part[l][i][1], 8'b0};
    end
  end
  stage #(.W(837), .On(Depth >= 4)) u_sum (.clk_i, .d_i(sum), .q_o(sum_q));

  assign halves = join_leaves(sum_q);
  stage #(.W(381), .On(Depth >= 6)) u_halves (.clk_i, .d_i(halves), .q_o(halves_q));

  assign reduced = reduce(join_halves(halves_q));
  stage #(.W(128), .On(Depth >= 3)) u_reduced (.clk_i, .d_i(reduced), .q_o(product_o));

endmodule
