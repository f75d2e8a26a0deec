// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A late queue in memory beside the plainest one: the word of every pop comes Late cycles later, in
// order, none lost, none twice. Its user never pushes when it is full nor pops when it is empty.
// Depth 8, words of one bit.

module fifo_late_proof
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
  logic [3:0] held;  // with the one that is being read
  fifo_late #(.Cfg(queue(1, 8, 1))) u_fifo (
    .clk_i, .rst_ni, .push_i(push), .data_i, .near_full_o(near_full), .valid_o(valid),
    .data_o(data), .pop_i(pop)
  );

  // Places 0 and up from the head; as many as count_q hold words. Those that were popped are on
  // their way.
  logic [3:0] count_q, after;
  logic [7:0] words_q, popped;
  logic [Late-1:0] way_valid_q, way_q;
  assign held   = count_q + 4'(u_fifo.pop_q);
  assign push   = push_i && held < 4'd8;
  assign pop    = pop_i && valid;
  assign popped = pop ? words_q >> 1 : words_q;
  assign after  = count_q - 4'(pop);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {count_q, way_valid_q} <= '0;
    else {count_q, way_valid_q} <= {after + 4'(push), way_valid_q[Late-2:0], pop};
  end
  always_ff @(posedge clk_i) begin
    words_q <= popped;
    if (push) words_q[after[2:0]] <= data_i;
    way_q <= {way_q[Late-2:0], words_q[0]};
  end

  // What is in memory stands in the order of the pointers; the word that was popped a cycle ago is
  // still there.
  logic in_order;
  logic [2:0] head;
  assign head = u_fifo.read_q + 3'(u_fifo.pop_q);
  always_comb begin
    in_order = count_q == u_fifo.back_q + 4'(u_fifo.front_q) && count_q <= 4'd8
        && u_fifo.back_q <= 4'd8
        && valid == (u_fifo.front_q != '0) && u_fifo.some_q == (u_fifo.back_q != '0)
        && u_fifo.pop_q == way_valid_q[0]
        && held <= 4'd8 && u_fifo.write_q == head + count_q[2:0];
    // near_full_o comes in time: it shows as long as there is one place or none.
    if ((u_fifo.back_q >= 4'd3 || held >= 4'd7) && !near_full) in_order = 1'b0;
    for (int i = 0; i < 8; i++) begin
      if (4'(i) < count_q && u_fifo.mem[head + 3'(i)] != words_q[i]) in_order = 1'b0;
    end
    if (way_valid_q[0] && u_fifo.mem[u_fifo.read_q] != way_q[0]) in_order = 1'b0;
    if (way_valid_q[1] && u_fifo.word_q != way_q[1]) in_order = 1'b0;
  end
  assign right_o = !rst_ni || (in_order && (!way_valid_q[Late-1] || data == way_q[Late-1]));

endmodule
