// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whatever comes in: a beat is passed on only to the packet that has its number, once; of every
// packet one frame is passed on, which ends with `last` or `ended`, and `ended` comes only before a
// beat of a later packet; beats that are neither passed on nor of an earlier packet wait. Nothing
// waits without a reason. keystream_stubs.sv has the queue of numbers, of one place: what the queue
// itself does is proved by itself (fifo_proof.sv).

module frame_number_proof
  import sealwright_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       command_i,
  input  logic [2:0] packet_i,
  input  logic       s_valid_i,
  input  logic [2:0] s_number_i,
  input  logic [3:0] s_tag_i,
  input  logic       s_last_i,
  input  logic       m_ready_i,
  output logic       right_o
);

  // A beat carries its number, and a few bits that tell it from others.
  logic s_ready, m_valid, m_last, m_ended, push;
  block_t m_data;
  logic [15:0] m_keep;
  frame_number #(.Lanes(1), .W(3)) u_number (
    .clk_i, .rst_ni, .command_i(push), .packet_i, .s_valid_i, .s_ready_o(s_ready), .s_number_i,
    .s_data_i({121'b0, s_number_i, s_tag_i}), .s_keep_i({15'b0, s_last_i}), .s_last_i,
    .m_valid_o(m_valid), .m_ready_i, .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last),
    .m_ended_o(m_ended)
  );

  // Beside it, plainly: the packet whose turn it is, and the beats that came and are not gone (the
  // port has two places).
  logic turn_q;
  logic [2:0] packet_q;
  logic [1:0] count_q;
  logic [1:0][7:0] beats_q;  // {last, number, bits}, the next one first
  logic [2:0] number, later;
  logic take, leaves, earlier;
  assign push    = command_i && !turn_q;
  assign take    = s_valid_i && s_ready;
  assign number  = beats_q[0][6:4];
  assign later   = number - packet_q;
  assign earlier = later inside {3'd4, 3'd5, 3'd6, 3'd7};
  assign leaves  = count_q != '0 && turn_q && (earlier || (later == '0 && m_ready_i));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q  <= 1'b0;
      count_q <= '0;
    end else begin
      turn_q  <= push || (turn_q && !(m_valid && m_ready_i && (m_last || m_ended)));
      count_q <= count_q + 2'(take) - 2'(leaves);
    end
  end
  always_ff @(posedge clk_i) begin
    if (push) packet_q <= packet_i;
    if (leaves) beats_q[0] <= beats_q[1];
    if (take) beats_q[1'(count_q - 2'(leaves))] <= {s_last_i, s_number_i, s_tag_i};
  end

  logic [6:0] next;
  assign next = beats_q[1][6:0];

  logic fits, passes;
  assign fits = u_number.wanted == turn_q && (!turn_q || u_number.packet == packet_q)
      && count_q != 2'd3 && u_number.here == (count_q != '0) && s_ready == (count_q != 2'd2)
      && (count_q == '0 || (u_number.number == number
          && {m_last, m_keep[0], m_data[6:0]} == {{2{beats_q[0][7]}}, beats_q[0][6:0]}))
      && (s_ready || {u_number.u_port.spare_q[147:144], u_number.u_port.spare_q[128],
          u_number.u_port.spare_q[6:0]} == {next[6:4], {2{beats_q[1][7]}}, next});
  // What is passed on: a beat of the packet's number, or its end before a beat of a later one.
  assign passes = m_valid == (turn_q && count_q != '0 && !earlier)
      && (!m_valid || m_ended == (later != '0));
  assign right_o = !rst_ni || (fits && passes);

endmodule
