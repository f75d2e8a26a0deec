// A queue in memory whose head stands ready in a register: a word shows two cycles after it went in. For wide words that
// are wanted together with others, see `fifo_late`.
//
// near_full_o says, two cycles late, that Slack places are left or fewer, counting what those cycles may bring: for
// pipelines that cannot stop at once. Nothing here but two gates hangs on pop_i, which may come late in the cycle.

module fifo #(
  parameter int unsigned W     = 8,
  parameter int unsigned Depth = 16,  // a power of two
  parameter int unsigned Slack = 4
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

  localparam int unsigned PtrW = $clog2(Depth);

  (* no_rw_check *)  // a word is never read in the cycle that writes it
  logic [W-1:0] mem [Depth];
  logic [PtrW:0] write_q, read_q;  // one bit more than the address: full and empty differ
  logic [PtrW:0] next_q;           // read_q + 1
  logic [PtrW:0] held_q;           // words that were in mem a cycle ago
  logic some_q;                    // there are words in mem
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
      near_full_o <= held_q >= (PtrW+1)'(Depth - Slack - 2);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) mem[write_q[PtrW-1:0]] <= data_i;
    if (fetch) data_o <= mem[read_q[PtrW-1:0]];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(push_i && write_q - read_q == (PtrW+1)'(Depth))) else $error("a full queue was pushed");
      assert (!(pop_i && !valid_o)) else $error("an empty queue was popped");
    end
  end
`endif

endmodule
