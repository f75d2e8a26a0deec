// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A queue in memory whose words appear on data_o Late cycles after their pop (sealwright_pkg), so
// that the decision to pop drives no wide logic: pop_i changes a two-bit counter, and the words
// move from register to register.
//
// valid_o says that a word can be popped; it rises two cycles after the push, like that of `fifo`.
// near_full_o is high at the latest when Cfg.slack places are left.

`include "assert.svh"

module fifo_late
  import sealwright_pkg::*;
#(
  parameter queue_cfg_t Cfg = queue(8, 16),
  localparam int unsigned W = Cfg.width
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         push_i,
  input  logic [W-1:0] data_i,
  output logic         near_full_o,
  output logic         valid_o,
  input  logic         pop_i,
  output logic [W-1:0] data_o   // the word that was popped Late cycles ago
);

  localparam int unsigned Depth = Cfg.depth;
  localparam int unsigned PtrW  = $clog2(Depth);

  (* no_rw_check *)  // a word is never read in the cycle that writes it
  logic [W-1:0] mem [Depth];
  logic [W-1:0] word_q;
  logic [PtrW-1:0] write_q, read_q;

  // Words that were not popped: those that valid_o stands for, at most three, and the others.
  logic [1:0] front_d, front_q;
  logic [PtrW:0] back_q;
  logic some_q;  // back_q is not 0
  logic move, pop_q;

  assign move    = some_q && front_q != 2'd3;
  assign front_d = front_q + 2'(move) - 2'(pop_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q     <= '0;
      read_q      <= '0;
      front_q     <= '0;
      back_q      <= '0;
      some_q      <= 1'b0;
      valid_o     <= 1'b0;
      pop_q       <= 1'b0;
      near_full_o <= 1'b0;
    end else begin
      if (push_i) write_q <= write_q + PtrW'(1);
      if (pop_q) read_q <= read_q + PtrW'(1);
      front_q     <= front_d;
      back_q      <= back_q + (PtrW+1)'(push_i) - (PtrW+1)'(move);
      some_q      <= push_i || (some_q && !(move && back_q == (PtrW+1)'(1)));
      valid_o     <= front_d != '0;
      pop_q       <= pop_i;
      near_full_o <= back_q >= (PtrW+1)'(Depth - Cfg.slack - 5);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) mem[write_q] <= data_i;
    word_q <= mem[read_q];
    data_o <= word_q;
  end

  `SEALWRIGHT_NEVER(Full,
      push_i && back_q + (PtrW+1)'(front_q) + (PtrW+1)'(pop_q) == (PtrW+1)'(Depth),
      "a full queue was pushed")
  `SEALWRIGHT_NEVER(Empty, pop_i && !valid_o, "an empty queue was popped")

endmodule
