// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A cipher pipeline with its key expansion and no mode: the baseline for the area and the clock of
// the cores with a mode. Expands one key at a time.

module cipher_only
  import sealwright_pkg::*;
#(
  parameter pipe_cfg_t Cfg = PipeDefault,
  localparam int unsigned Lanes = Cfg.lanes,
  localparam int unsigned SlotW = slot_bits(Cfg.slots)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               key_valid_i,
  output logic               key_ready_o,
  input  logic [SlotW-1:0]   key_slot_i,
  input  logic [255:0]       key_i,
  input  logic               valid_i,
  input  logic [SlotW-1:0]   slot_i,
  input  block_t [Lanes-1:0] block_i,
  output logic               valid_o,
  output block_t [Lanes-1:0] block_o
);

  logic expand_we, rk_we;
  logic [5:0] expand_index, rk_index;
  logic [SlotW-1:0] slot_q, rk_slot;
  block_t expand_key, rk;

  key_expand #(.Cipher(Cfg.cipher)) u_expand (
    .clk_i, .rst_ni, .valid_i(key_valid_i), .ready_o(key_ready_o), .key_i,
    .rk_we_o(expand_we), .rk_index_o(expand_index), .rk_o(expand_key)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rk_we <= 1'b0;
    else rk_we <= expand_we;
  end
  always_ff @(posedge clk_i) begin
    if (key_valid_i && key_ready_o) slot_q <= key_slot_i;
    rk_slot  <= slot_q;
    rk_index <= expand_index;
    rk       <= expand_key;
  end
  cipher_pipe #(.Cfg(Cfg)) u_cipher (
    .clk_i, .rst_ni, .rk_we_i(rk_we), .rk_slot_i(rk_slot), .rk_index_i(rk_index), .rk_i(rk),
    .valid_i, .slot_i, .block_i, .valid_o, .block_o
  );

endmodule
