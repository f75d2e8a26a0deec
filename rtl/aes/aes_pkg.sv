// SPDX-License-Identifier: MIT OR Apache-2.0
//
// AES (FIPS 197): the tables, and the transformations of a round. Byte r + 4c of a block is row r
// of column c.

package aes_pkg;

  import sealwright_pkg::block_t;

  localparam logic [255:0][7:0] Sbox = {
    256'h16bb54b00f2d99416842e6bf0d89a18cdf2855cee9871e9b948ed9691198f8e1,
    256'h9e1dc186b95735610ef6034866b53e708a8bbd4b1f74dde8c6b4a61c2e2578ba,
    256'h08ae7a65eaf4566ca94ed58d6d37c8e779e4959162acd3c25c2406490a3a32e0,
    256'hdb0b5ede14b8ee4688902a22dc4f816073195d643d7ea7c41744975fec130ccd,
    256'hd2f3ff1021dab6bcf5389d928f40a351a89f3c507f02f94585334d43fbaaefd0,
    256'hcf584c4a39becb6a5bb1fc20ed00d153842fe329b3d63b52a05a6e1b1a2c8309,
    256'h75b227ebe28012079a059618c323c7041531d871f1e5a534ccf73f362693fdb7,
    256'hc072a49cafa2d4adf04759fa7dc982ca76abd7fe2b670130c56f6bf27b777c63
  };
  localparam logic [255:0][7:0] InvSbox = {
    256'h7d0c2155631469e126d677ba7e042b17619953833cbbebc8b0f52aae4d3be0a0,
    256'hef9cc9939f7ae52d0d4ab519a97f51605fec8027591012b131c7078833a8dd1f,
    256'hf45acd78fec0db9a2079d2c64b3e56fc1bbe18aa0e62b76f89c5291d711af147,
    256'h6edf751ce837f9e28535ade72274ac9673e6b4f0cecff297eadc674f4111913a,
    256'h6b8a130103bdafc1020f3fca8f1e2cd00645b3b80558e4f70ad3bc8c00abd890,
    256'h849d8da75746155edab9edfd5048706c92b6655dcc5ca4d41698688664f6f872,
    256'h25d18b6d49a25b76b224d92866a12e084ec3fa420b954cee3d23c2a632947b54,
    256'hcbe9dec444438e3487ff2f9b8239e37cfbd7f3819ea340bf38a53630d56a0952
  };

  function automatic logic [7:0] xtime(logic [7:0] a);
    return {a[6:0], 1'b0} ^ (a[7] ? 8'h1b : 8'h00);
  endfunction

  // x^(i - 1), for i from 1 to 10 (FIPS 197, 5.2).
  function automatic logic [7:0] rcon(logic [3:0] i);
    rcon = 8'h01;
    for (int k = 1; k < 10; k++) if (i > 4'(k)) rcon = xtime(rcon);
  endfunction

  function automatic block_t shift_rows(block_t s);
    for (int c = 0; c < 4; c++) begin
      for (int r = 0; r < 4; r++) shift_rows[8*(r+4*c) +: 8] = s[8*(r+4*((c+r)%4)) +: 8];
    end
  endfunction

  function automatic block_t inv_shift_rows(block_t s);
    for (int c = 0; c < 4; c++) begin
      for (int r = 0; r < 4; r++) inv_shift_rows[8*(r+4*((c+r)%4)) +: 8] = s[8*(r+4*c) +: 8];
    end
  endfunction

  function automatic block_t mix_columns(block_t s);
    logic [7:0] a, b;
    for (int c = 0; c < 4; c++) begin
      for (int r = 0; r < 4; r++) begin
        a = s[8*(4*c+r) +: 8];
        b = s[8*(4*c+(r+1)%4) +: 8];
        mix_columns[8*(4*c+r) +: 8] =
            xtime(a ^ b) ^ b ^ s[8*(4*c+(r+2)%4) +: 8] ^ s[8*(4*c+(r+3)%4) +: 8];
      end
    end
  endfunction

  // The inverse is MixColumns after a lighter matrix: {5, 0, 4, 0}.
  function automatic block_t inv_mix_columns(block_t s);
    block_t t;
    logic [7:0] u;
    for (int c = 0; c < 4; c++) begin
      for (int r = 0; r < 4; r++) begin
        u = s[8*(4*c+r) +: 8] ^ s[8*(4*c+(r+2)%4) +: 8];
        t[8*(4*c+r) +: 8] = s[8*(4*c+r) +: 8] ^ xtime(xtime(u));
      end
    end
    return mix_columns(t);
  endfunction

endpackage
