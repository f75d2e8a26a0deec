// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The AES S-box, or its inverse, in a read-only memory with two ports and a latency of one cycle.

module aes_sbox_rom #(
  parameter bit Inverse = 1'b0
) (
  input  logic       clk_i,
  input  logic [7:0] a_i,
  input  logic [7:0] b_i,
  output logic [7:0] a_o,
  output logic [7:0] b_o
);

  (* rom_style = "block", ram_style = "block" *)
  logic [7:0] rom [256];

  initial begin
    for (int i = 0; i < 256; i++) rom[i] = Inverse ? aes_pkg::InvSbox[i] : aes_pkg::Sbox[i];
  end

  always_ff @(posedge clk_i) begin
    a_o <= rom[a_i];
    b_o <= rom[b_i];
  end

endmodule
