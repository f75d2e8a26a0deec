// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Key expansion of the cipher that Cipher names: accepts a key, and outputs its round keys one by
// one, in order.

module key_expand
  import sealwright_pkg::*;
#(
  parameter cipher_e Cipher = Aes128
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [255:0] key_i,
  output logic         rk_we_o,
  output logic [5:0]   rk_index_o,
  output block_t       rk_o
);

  if (Cipher == Serpent256) begin : gen_serpent
    serpent_key_expand u_expand (
      .clk_i, .rst_ni, .valid_i, .ready_o, .key_i, .rk_we_o, .rk_index_o, .rk_o
    );
  end else begin : gen_aes
    aes_key_expand #(.Cipher(Cipher)) u_expand (
      .clk_i, .rst_ni, .valid_i, .ready_o, .key_i, .rk_we_o, .rk_index_o, .rk_o
    );
  end

endmodule
