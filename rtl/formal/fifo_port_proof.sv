// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A queue at a port: its deep part and its head, both of which are proved by themselves
// (fifo_late_proof, fifo_proof), are used as they must be. The head is never pushed when it is
// full, nor the deep part popped when it is empty; so that a word that goes in comes out. Its user
// never pushes when it is full nor pops when it is empty.

module fifo_port_proof
  import sealwright_pkg::*;
(
  input  logic clk_i,
  input  logic rst_ni,
  input  logic push_i,
  input  logic data_i,
  input  logic pop_i,
  output logic right_o
);

  logic valid, near_full, unused_data;
  fifo_port #(.Cfg(queue(1, 16))) u_port (
    .clk_i, .rst_ni, .push_i, .data_i, .near_full_o(near_full), .valid_o(valid),
    .data_o(unused_data), .pop_i(pop_i && valid)
  );

  // What was asked for is on its way, in the head's memory, or is the head.
  logic [3:0] held, way;
  assign held = u_port.u_head.write_q - u_port.u_head.read_q;
  assign way  = 4'(u_port.u_came.step[1]) + 4'(u_port.u_came.step[2]) + 4'(u_port.u_came.step[3]);
  always_comb begin
    right_o = u_port.out_q == way + held + 4'(valid) && u_port.out_q <= 4'd8
        && way + held <= 4'd8 && held <= 4'd8
        && u_port.u_head.next_q == u_port.u_head.read_q + 4'd1
        && u_port.u_head.some_q == (held != '0)
        && u_port.u_deep.valid_o == (u_port.u_deep.front_q != '0)
        && !(u_port.came && held == 4'd8) && !(u_port.ask && !u_port.some);
    if (!rst_ni) right_o = 1'b1;
  end

endmodule
