// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A register slice beside the plainest queue of two words: the same words in the same order, none
// lost, none twice, and a word that is offered stays until it is taken. Proved by induction over
// time, for any behaviour of both neighbours.

module slice_proof (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  input  logic [1:0] data_i,
  input  logic       ready_i,
  output logic       right_o
);

  logic ready, valid;
  logic [1:0] data;
  slice #(.W(2)) u_slice (
    .clk_i, .rst_ni, .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data)
  );

  logic [1:0] count_q;
  logic [1:0] head_q, next_q;
  logic push, pop;
  assign push = valid_i && ready;
  assign pop  = valid && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + 2'(push) - 2'(pop);
  end
  always_ff @(posedge clk_i) begin
    if (pop) head_q <= count_q == 2'd2 ? next_q : data_i;
    else if (count_q == 2'd0) head_q <= data_i;
    if (count_q == 2'd1 || pop) next_q <= data_i;
  end

  logic offered_q;
  logic [1:0] offered_data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) offered_q <= 1'b0;
    else offered_q <= valid && !ready_i;
  end
  always_ff @(posedge clk_i) offered_data_q <= data;

  assign right_o = !rst_ni || (
      count_q != 2'd3 && ready == (count_q != 2'd2) && valid == (count_q != 2'd0)
          && (!valid || data == head_q)
      && (ready || u_slice.spare_q == next_q)
      && (!offered_q || (valid && data == offered_data_q)));

endmodule
