// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Here packets and beats have numbers of six bits, of which the module sees the lower three. While
// the beat at the port is less than half of eight numbers away from the packet whose turn it is:
// a beat is passed on exactly if it has the number of that packet, all six bits, and `ended`
// exactly before a beat of a later one; what is dropped are beats of earlier packets; nothing is
// lost, and nothing waits without a reason. A packet's turn ends with its last beat, or with
// `ended`. hold_stubs.sv has the queue of numbers, of two places: what the queue itself does is
// proved by itself (fifo_proof.sv).

module frame_number_proof
  import sealwright_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       command_i,
  input  logic [5:0] packet_i,
  input  logic       s_valid_i,
  input  logic [5:0] s_number_i,
  input  logic [1:0] s_bits_i,
  input  logic       s_last_i,
  input  logic       m_ready_i,
  output logic       right_o
);

  // A beat carries all of its number, and bits that tell it from others.
  typedef struct packed {
    logic last;
    logic [5:0] number;
    logic [1:0] bits;
  } beat_t;
  logic s_ready, m_valid, m_last, m_ended, push;
  block_t m_data;
  logic [15:0] m_keep;
  frame_number #(.Lanes(1), .W(3)) u_number (
    .clk_i, .rst_ni, .command_i(push), .packet_i(packet_i[2:0]), .s_valid_i, .s_ready_o(s_ready),
    .s_number_i(s_number_i[2:0]), .s_data_i({120'b0, s_number_i, s_bits_i}),
    .s_keep_i({15'b0, s_last_i}), .s_last_i, .m_valid_o(m_valid), .m_ready_i, .m_data_o(m_data),
    .m_keep_o(m_keep), .m_last_o(m_last), .m_ended_o(m_ended)
  );

  // Beside it, plainly: the packets whose turn is to come and the beats that came and are not gone,
  // the next one first.
  logic [1:0] packets_q, beats_q;
  logic [1:0][5:0] packet_q;
  beat_t [1:0] beat_q;
  logic take, here, goes, leaves, ends;
  logic signed [5:0] ahead;
  assign push   = command_i && packets_q != 2'd2;
  assign take   = s_valid_i && s_ready;
  assign here   = beats_q != '0 && packets_q != '0;
  assign ahead  = beat_q[0].number - packet_q[0];
  assign goes   = here && ahead == 0 && m_ready_i;             // the beat is passed on
  assign leaves = here && u_number.ready;
  assign ends   = (goes && beat_q[0].last) || (here && ahead > 0 && m_ready_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {packets_q, beats_q} <= '0;
    else begin
      packets_q <= packets_q + 2'(push) - 2'(u_number.done);
      beats_q   <= beats_q + 2'(take) - 2'(leaves);
    end
  end
  always_ff @(posedge clk_i) begin
    if (u_number.done) packet_q[0] <= packet_q[1];
    if (push) packet_q[1'(packets_q - 2'(u_number.done))] <= packet_i;
    if (leaves) beat_q[0] <= beat_q[1];
    if (take) beat_q[1'(beats_q - 2'(leaves))] <= {s_last_i, s_number_i, s_bits_i};
  end

  // The module holds the same.
  logic fits;
  assign fits = packets_q != 2'd3 && u_number.u_packets.count_q == packets_q
      && (packets_q == '0 || u_number.packet == packet_q[0][2:0])
      && (packets_q != 2'd2 || u_number.u_packets.words_q[1] == packet_q[1][2:0])
      && beats_q != 2'd3 && u_number.here == (beats_q != '0) && s_ready == (beats_q != 2'd2)
      && (beats_q == '0 || (u_number.number == beat_q[0].number[2:0] && m_keep[0] == m_last
          && {m_last, m_data[7:0]} == beat_q[0]))
      && (s_ready || {u_number.u_port.spare_q[147:144], u_number.u_port.spare_q[128],
          u_number.u_port.spare_q[7:0]} == {beat_q[1].number[2:0], {2{beat_q[1].last}},
          beat_q[1].number, beat_q[1].bits});

  logic near, passes;
  assign near   = ahead >= -6'sd4 && ahead <= 6'sd3;
  assign passes = m_valid == (here && ahead >= 0) && (!m_valid || m_ended == (ahead > 0))
      && leaves == (here && (ahead < 0 || (ahead == 0 && m_ready_i))) && u_number.done == ends;
  assign right_o = !rst_ni || (fits && (!here || !near || passes) && (here || !m_valid));

endmodule
