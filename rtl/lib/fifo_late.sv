// A queue in memory whose words come Late cycles after they were asked for (sealwright_pkg), so that nothing wide hangs
// on the decision to take one: pop_i moves a counter of two bits, and what moves a word are registers alone.
//
// valid_o says that a word may be asked for; it shows two cycles after the word went in, as that of `fifo` does.
// near_full_o shows at the latest when Slack places are left.

module fifo_late #(
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
  input  logic         pop_i,
  output logic [W-1:0] data_o   // the word of the pop Late cycles ago
);

  localparam int unsigned PtrW = $clog2(Depth);

  (* no_rw_check *)  // a word is never read in the cycle that writes it
  logic [W-1:0] mem [Depth];
  logic [W-1:0] word_q;
  logic [PtrW-1:0] write_q, read_q;

  // Words that were not asked for: those that valid_o speaks of, at most three, and the others.
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
      near_full_o <= back_q >= (PtrW+1)'(Depth - Slack - 5);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) mem[write_q] <= data_i;
    word_q <= mem[read_q];
    data_o <= word_q;
  end

`ifndef SYNTHESIS
  logic [PtrW:0] held;
  assign held = back_q + (PtrW+1)'(front_q) + (PtrW+1)'(pop_q);
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(push_i && held == (PtrW+1)'(Depth))) else $error("a full queue was pushed");
      assert (!(pop_i && !valid_o)) else $error("an empty queue was popped");
    end
  end
`endif

endmodule
