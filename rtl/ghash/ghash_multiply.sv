// The sum of Lanes products in GHASH's field, in Depth - 1 cycles (Depth 1 to 5; the loop's first register is its user's).
//
//   operands -> leaves [5] -> leaf products [2] -> sum over lanes [4] -> join, reduce [3] -> product
//
// The number in brackets is the least Depth that puts a register there.

module ghash_multiply
  import sealwright_pkg::*;
  import ghash_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter int unsigned Depth = 5
) (
  input  logic               clk_i,
  input  block_t [Lanes-1:0] a_i,
  input  block_t [Lanes-1:0] b_i,
  output block_t             product_o
);

  products_t [Lanes-1:0] product;
  products_t sum, sum_q;
  block_t reduced;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    leaves_t a, b, a_q, b_q;
    products_t here;
    assign a = leaves(a_i[l]);
    assign b = leaves(b_i[l]);
    stage #(.W(864), .On(Depth >= 5)) u_leaves (.clk_i, .d_i({a, b}), .q_o({a_q, b_q}));
    for (genvar i = 0; i < 27; i++) begin : gen_leaf
      assign here[i] = leaf_product(a_q[i], b_q[i]);
    end
    stage #(.W(837), .On(Depth >= 2)) u_products (.clk_i, .d_i(here), .q_o(product[l]));
  end

  always_comb begin
    sum = '0;
    for (int l = 0; l < Lanes; l++) sum = sum ^ product[l];
  end
  stage #(.W(837), .On(Depth >= 4)) u_sum (.clk_i, .d_i(sum), .q_o(sum_q));

  assign reduced = reduce(join_leaves(sum_q));
  stage #(.W(128), .On(Depth >= 3)) u_reduced (.clk_i, .d_i(reduced), .q_o(product_o));

endmodule
