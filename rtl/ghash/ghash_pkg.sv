// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multiplication in GHASH's field GF(2)[x] / (x^128 + x^7 + x^2 + x + 1), in steps between which a
// pipeline can have registers.
//
// Three levels of Karatsuba: each operand is split into 27 leaves of 16 bits, the leaves are
// multiplied to products of 31 bits, and the products are joined. Joining and reduction are linear:
// the products of several lanes are added leaf by leaf, and then joined and reduced only once.

package ghash_pkg;

  import sealwright_pkg::block_t;

  typedef logic [26:0][15:0] leaves_t;
  typedef logic [26:0][1:0][22:0] parts_t;  // products by the lower and the upper byte of a leaf
  typedef logic [26:0][30:0] products_t;
  // products of the low halves, of the high ones, of their sums
  typedef logic [2:0][126:0] halves_t;

  // At each level: low half, high half, and their sum.
  function automatic leaves_t leaves(block_t a);
    logic [2:0][63:0] a1;
    logic [8:0][31:0] a2;
    a1 = {a[127:64] ^ a[63:0], a[127:64], a[63:0]};
    for (int i = 0; i < 3; i++)
      a2[3*i+:3] = {a1[i][63:32] ^ a1[i][31:0], a1[i][63:32], a1[i][31:0]};
    for (int i = 0; i < 9; i++)
      leaves[3*i+:3] = {a2[i][31:16] ^ a2[i][15:0], a2[i][31:16], a2[i][15:0]};
  endfunction

  function automatic logic [22:0] part_product(logic [7:0] a, logic [15:0] b);
    part_product = '0;
    for (int i = 0; i < 8; i++) part_product = part_product ^ ({23{a[i]}} & (23'(b) << i));
  endfunction

  function automatic halves_t join_leaves(products_t p);
    logic [8:0][62:0] p2;
    for (int i = 0; i < 9; i++) begin
      p2[i] = {32'b0, p[3*i]} ^ {p[3*i+1], 32'b0} ^ {16'b0, p[3*i] ^ p[3*i+1] ^ p[3*i+2], 16'b0};
    end
    for (int i = 0; i < 3; i++) begin
      join_leaves[i] = {64'b0, p2[3*i]} ^ {p2[3*i+1], 64'b0}
          ^ {32'b0, p2[3*i] ^ p2[3*i+1] ^ p2[3*i+2], 32'b0};
    end
  endfunction

  function automatic logic [254:0] join_halves(halves_t p);
    return {128'b0, p[0]} ^ {p[1], 128'b0} ^ {64'b0, p[0] ^ p[1] ^ p[2], 64'b0};
  endfunction

  function automatic block_t reduce(logic [254:0] p);
    logic [133:0] high;  // p's upper half times x^7 + x^2 + x + 1
    high = {7'b0, p[254:128]} ^ {6'b0, p[254:128], 1'b0} ^ {5'b0, p[254:128], 2'b0}
        ^ {p[254:128], 7'b0};
    return p[127:0] ^ high[127:0]
        ^ {115'b0, {high[133:128], 7'b0} ^ {5'b0, high[133:128], 2'b0}
            ^ {6'b0, high[133:128], 1'b0} ^ {7'b0, high[133:128]}};
  endfunction

  function automatic block_t xtime(block_t a);
    return {a[126:0], 1'b0} ^ (a[127] ? 128'h87 : 128'h0);
  endfunction

endpackage
