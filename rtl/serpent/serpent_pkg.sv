// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Serpent (Anderson, Biham and Knudsen, 1998): its S-boxes, and its linear transform with a key
// folded in.
//
// Word i of a block is its bytes 4i to 4i + 3, little-endian: bits [32i+31:32i] here. An S-box is
// applied to a column, one bit of each word: bits c, 32 + c, 64 + c and 96 + c.

package serpent_pkg;

  import sealwright_pkg::block_t;

  localparam logic [7:0][15:0][3:0] Sbox = {
    64'h6539ac47b28e0fd1,
    64'h0a3df19eb6485c27,
    64'h176d8e30c9a4b25f,
    64'hd7e9a4526b0c38f1,
    64'he57a421d369c8bf0,
    64'h25b04e1dfac39768,
    64'h43d68eb1a50972cf,
    64'hc90724deb56a1f83
  };
  localparam logic [7:0][15:0][3:0] InvSbox = {
    64'h241a7bc58fe9d603,
    64'hb8c27e940635d1af,
    64'h0ac7356bed1492f8,
    64'h1df46bc2e79a3805,
    64'h1f842c53d6eb7a90,
    64'h7a85d63021eb4f9c,
    64'h0ad1974b3c6fe285,
    64'h289f74e1c56a0b3d
  };

  function automatic logic [31:0] rotl(logic [31:0] w, int unsigned n);
    return (w << n) | (w >> (32 - n));
  endfunction

  // The algebraic normal form of an S-box: if bit m of anf(box)[k] is set, output k contains the
  // product of the inputs whose bits are set in m.
  function automatic logic [3:0][15:0] anf(logic [15:0][3:0] box);
    for (int k = 0; k < 4; k++) begin
      for (int m = 0; m < 16; m++) begin
        anf[k][m] = 1'b0;
        for (int x = 0; x < 16; x++) if ((x & m) == x) anf[k][m] = anf[k][m] ^ box[x][k];
      end
    end
  endfunction

  // Applies an S-box, given in that form, to all 32 columns.
  function automatic block_t substitute(logic [3:0][15:0] form, block_t s);
    logic [31:0] product, y0, y1, y2, y3;
    {y3, y2, y1, y0} = '0;
    for (int m = 0; m < 16; m++) begin
      product = '1;
      for (int i = 0; i < 4; i++) if (m[i]) product = product & s[32*i+:32];
      if (form[0][m]) y0 = y0 ^ product;
      if (form[1][m]) y1 = y1 ^ product;
      if (form[2][m]) y2 = y2 ^ product;
      if (form[3][m]) y3 = y3 ^ product;
    end
    return {y3, y2, y1, y0};
  endfunction

  // Converts a round key k to the form for `mix` (where k is added after the linear transform) and
  // for `unmix` (where it is added before the inverse).
  function automatic block_t folded(block_t k);
    logic [31:0] k0, k1, k2, k3;
    {k3, k2, k1, k0} = k;
    return {rotl(k3, 25), rotl(k2, 10) ^ k3 ^ (k1 << 7), rotl(k1, 31), rotl(k0, 27) ^ k1 ^ k3};
  endfunction

  // mix(s, folded(k)) is the linear transform of s, plus k. Every sum has three terms and a key
  // bit, which fit in one 4-input LUT; adding k separately would take one more LUT per bit.
  function automatic block_t mix(block_t s, block_t k);
    logic [31:0] x0, x1, x2, x3;
    {x3, x2, x1, x0} = s;
    x0 = rotl(x0, 13);
    x2 = rotl(x2, 3);
    x1 = rotl(x1 ^ x0 ^ x2 ^ k[63:32], 1);
    x3 = rotl(x3 ^ x2 ^ (x0 << 3) ^ k[127:96], 7);
    x0 = rotl(x0 ^ x1 ^ x3 ^ k[31:0], 5);
    x2 = rotl(x2 ^ x3 ^ (x1 << 7) ^ k[95:64], 22);
    return {x3, x2, x1, x0};
  endfunction

  // unmix(s, folded(k)) is the inverse linear transform of s plus k.
  function automatic block_t unmix(block_t s, block_t k);
    logic [31:0] x0, x1, x2, x3, y1, y3;
    {y3, x2, y1, x0} = s;
    x2 = rotl(x2, 10) ^ y3 ^ (y1 << 7) ^ k[95:64];
    x0 = rotl(x0, 27) ^ y1 ^ y3 ^ k[31:0];
    x3 = rotl(y3, 25) ^ x2 ^ (x0 << 3) ^ k[127:96];
    x1 = rotl(y1, 31) ^ x0 ^ x2 ^ k[63:32];
    return {x3, rotl(x2, 29), x1, rotl(x0, 19)};
  endfunction

endpackage
