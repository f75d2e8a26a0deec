// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A fully unrolled cipher pipeline: accepts and delivers Lanes blocks in every cycle, and never
// stalls.
//
// valid_o follows valid_i after latency(Cfg) cycles. Round keys come from key_expand, and may be
// written while blocks of other slots are in the pipeline.

module cipher_pipe
  import sealwright_pkg::*;
#(
  parameter pipe_cfg_t Cfg = PipeDefault,
  localparam int unsigned Lanes = Cfg.lanes,
  localparam int unsigned SlotW = slot_bits(Cfg.slots)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               rk_we_i,
  input  logic [SlotW-1:0]   rk_slot_i,
  input  logic [5:0]         rk_index_i,
  input  block_t             rk_i,
  input  logic               valid_i,
  input  logic [SlotW-1:0]   slot_i,
  input  block_t [Lanes-1:0] block_i,
  output logic               valid_o,
  output block_t [Lanes-1:0] block_o
);

  delay_valid #(.Cycles(latency(Cfg))) u_valid (.clk_i, .rst_ni, .valid_i, .valid_o);

  if (Cfg.cipher == Serpent256) begin : gen_serpent
    serpent_pipe #(.Cfg(Cfg)) u_pipe (
      .clk_i, .rk_we_i, .rk_slot_i, .rk_index_i, .rk_i, .slot_i, .block_i, .block_o
    );
  end else begin : gen_aes
    aes_pipe #(.Cfg(Cfg)) u_pipe (
      .clk_i, .rk_we_i, .rk_slot_i, .rk_index_i, .rk_i, .slot_i, .block_i, .block_o
    );
  end

endmodule
