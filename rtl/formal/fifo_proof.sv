// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A queue in memory beside the plainest one: the same words in the same order, none lost, none
// twice; the head stays until it is taken. Its user never pushes when it is full nor pops when it
// is empty. Depth 4, words of one bit.

module fifo_proof
  import sealwright_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,
  input  logic push_i,
  input  logic data_i,
  input  logic pop_i,
  output logic right_o
);

  logic valid, data, near_full, push, pop;
  fifo #(.Cfg(queue(1, 4, 1))) u_fifo (
    .clk_i, .rst_ni, .push_i(push), .data_i, .near_full_o(near_full), .valid_o(valid),
    .data_o(data), .pop_i(pop)
  );
  logic [2:0] held;
  assign held = u_fifo.write_q - u_fifo.read_q;
  assign push = push_i && held != 3'd4;
  assign pop  = pop_i && valid;

  // Places 0 and up from the head; as many as count_q hold words.
  logic [2:0] count_q;
  logic [4:0] words_q, popped;
  logic [2:0] after;
  assign popped = pop ? words_q >> 1 : words_q;
  assign after  = count_q - 3'(pop);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= after + 3'(push);
  end
  always_ff @(posedge clk_i) begin
    words_q <= popped;
    if (push) words_q[after] <= data_i;
  end

  // What is in memory stands in the order of the pointers.
  logic in_order;
  always_comb begin
    in_order = count_q <= 3'd5 && held <= 3'd4 && count_q == held + 3'(valid)
        && u_fifo.next_q == u_fifo.read_q + 3'd1 && u_fifo.some_q == (held != 3'd0);
    // near_full_o, two cycles late, comes in time: it shows as long as there is one place or none.
    if (held > u_fifo.held_q + 3'd1 || (u_fifo.held_q >= 3'd2 && !near_full)) in_order = 1'b0;
    if (held >= 3'd3 && !near_full) in_order = 1'b0;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < held && u_fifo.gen_logic.mem[2'(u_fifo.read_q + 3'(i))]
          != words_q[3'(i) + 3'(valid)]) in_order = 1'b0;
    end
  end
  assign right_o = !rst_ni || (in_order && (!valid || data == words_q[0]));

endmodule
