// Beats of the data stream, waiting to be joined: `last` stands ready, the data comes Late cycles after its pop.

module stream_in
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               s_valid_i,
  output logic               s_ready_o,
  input  block_t [Lanes-1:0] s_data_i,
  input  logic               s_last_i,
  output logic               valid_o,
  output logic               last_o,
  input  logic               pop_i,
  output block_t [Lanes-1:0] data_o
);

  logic full, unused_full, unused_valid;
  logic came_q, last_q;
  block_t [Lanes-1:0] data_q;

  assign s_ready_o = !full;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) came_q <= 1'b0;
    else came_q <= s_valid_i && s_ready_o;
  end
  always_ff @(posedge clk_i) begin
    last_q <= s_last_i;
    data_q <= s_data_i;
  end

  fifo #(.W(1), .Depth(16)) u_last (
    .clk_i, .rst_ni, .push_i(came_q), .data_i(last_q), .near_full_o(unused_full),
    .valid_o, .data_o(last_o), .pop_i
  );
  // Both queues show a word at the same time.
  fifo_late #(.W(128 * Lanes), .Depth(16)) u_data (
    .clk_i, .rst_ni, .push_i(came_q), .data_i(data_q), .near_full_o(full),
    .valid_o(unused_valid), .data_o, .pop_i
  );

endmodule
