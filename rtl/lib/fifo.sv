// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A queue in memory with its head in a register: a word appears on data_o two cycles after its
// push. For wide words that are joined with those of other queues, see `fifo_late`; for deep queues
// at a port, `fifo_port`.
//
// near_full_o is for producers that cannot stop at once: Cfg.slack places are left, or fewer. It is
// two cycles late, and allows for words that are pushed in those two cycles. Only two gates depend
// on pop_i, which may therefore arrive late in the cycle.

`include "assert.svh"

module fifo
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
  output logic [W-1:0] data_o,
  input  logic         pop_i
);

  localparam int unsigned Depth = Cfg.depth;
  localparam int unsigned PtrW  = $clog2(Depth);

  logic [PtrW:0] write_q, read_q;  // one bit more than an address, to tell full from empty
  logic [PtrW:0] next_q;           // read_q + 1
  logic [PtrW:0] held_q;           // words that were in mem a cycle ago
  logic some_q;                    // mem is not empty
  logic only, fetch;

  assign only  = next_q == write_q;
  assign fetch = some_q && (!valid_o || pop_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q     <= '0;
      read_q      <= '0;
      next_q      <= (PtrW+1)'(1);
      held_q      <= '0;
      some_q      <= 1'b0;
      valid_o     <= 1'b0;
      near_full_o <= 1'b0;
    end else begin
      if (push_i) write_q <= write_q + (PtrW+1)'(1);
      if (fetch) begin
        read_q <= next_q;
        next_q <= next_q + (PtrW+1)'(1);
      end
      held_q      <= write_q - read_q;
      some_q      <= push_i || (some_q && !(fetch && only));
      valid_o     <= fetch || (valid_o && !pop_i);
      near_full_o <= held_q >= (PtrW+1)'(Depth - Cfg.slack - 2);
    end
  end

  // data_o is the read register of the memory. A small queue is built of logic, since the output of
  // a block memory comes late in the cycle. A word is never read in the cycle that writes it.
  if (Depth <= 64 || W <= 20) begin : gen_logic
    (* ram_style = "distributed", no_rw_check *)
    logic [W-1:0] mem [Depth];
    always_ff @(posedge clk_i) begin
      if (push_i) mem[write_q[PtrW-1:0]] <= data_i;
      if (fetch) data_o <= mem[read_q[PtrW-1:0]];
    end
  end else begin : gen_block
    (* no_rw_check *)
    logic [W-1:0] mem [Depth];
    always_ff @(posedge clk_i) begin
      if (push_i) mem[write_q[PtrW-1:0]] <= data_i;
      if (fetch) data_o <= mem[read_q[PtrW-1:0]];
    end
  end

  `SEALWRIGHT_NEVER(Full, push_i && write_q - read_q == (PtrW+1)'(Depth), "a full queue was pushed")
  `SEALWRIGHT_NEVER(Empty, pop_i && !valid_o, "an empty queue was popped")

endmodule
