// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fits the frames of the data stream to their commands: whatever arrives, each packet gets as many
// beats as its command implies, and the next packet begins with the next frame.
//
// A frame that ends early is filled up with beats marked `short`. Surplus beats of a frame are
// dropped, and the last beat that is kept is marked `long`. Data waits for its command. A beat
// appears Late cycles after its pop.

module frame_in
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes    = 4,
  parameter bit          Numbered = 1'b0  // s_ended_i has a meaning
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // a command was accepted; its packet has beats_i + 1 beats
  input  logic                packet_i,
  input  logic [BlockW-1:0]   beats_i,
  output logic                full_o,    // rises some commands early
  input  logic                s_valid_i,
  output logic                s_ready_o,
  input  block_t [Lanes-1:0]  s_data_i,
  input  logic [16*Lanes-1:0] s_keep_i,
  input  logic                s_last_i,
  input  logic                s_ended_i, // no beat: the frame has ended (frame_number)
  output logic                valid_o,
  input  logic                pop_i,
  output block_t [Lanes-1:0]  data_o,
  output logic [16*Lanes-1:0] keep_o,
  output logic                short_o,
  output logic                long_o
);

  // ---- expected frames: those of commands that wait for their data ----
  logic queued_valid, queued_only, queued_pop, came_q, only_q;
  logic [BlockW-1:0] queued_beats, beats_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) came_q <= 1'b0;
    else came_q <= packet_i;
  end
  always_ff @(posedge clk_i) begin
    beats_q <= beats_i;
    only_q  <= beats_i == '0;
  end
  fifo_port #(.Cfg(queue(BlockW + 1, 128, 8))) u_frames (
    .clk_i, .rst_ni, .push_i(came_q), .data_i({only_q, beats_q}), .near_full_o(full_o),
    .valid_o(queued_valid), .data_o({queued_only, queued_beats}), .pop_i(queued_pop)
  );
  // Their beats are counted ahead of the data. That a beat is accepted is known late in the cycle:
  // the slice keeps this signal from the counter.
  logic ahead_valid, ahead_last, ahead_ready, next_valid, next_last, load;
  packet_beats u_ahead (
    .clk_i, .rst_ni, .valid_i(queued_valid), .only_i(queued_only), .beats_i(queued_beats),
    .load_o(queued_pop), .valid_o(ahead_valid), .last_o(ahead_last), .ready_i(ahead_ready)
  );
  slice #(.W(1)) u_next (
    .clk_i, .rst_ni, .valid_i(ahead_valid), .ready_o(ahead_ready), .data_i(ahead_last),
    .valid_o(next_valid), .ready_i(load), .data_o(next_last)
  );

  // The port is registered: no combinational path passes through it, of valid or of ready.
  // The mark of an end is in it only where it has a meaning.
  localparam int unsigned PortW = 144 * Lanes + 1 + 32'(Numbered);
  logic port_valid, port_ready, port_last, port_ended;
  logic [PortW-1:0] port_in, port_out;
  block_t [Lanes-1:0] port_data;
  logic [16*Lanes-1:0] port_keep;
  slice #(.W(PortW)) u_port (
    .clk_i, .rst_ni, .valid_i(s_valid_i), .ready_o(s_ready_o), .data_i(port_in),
    .valid_o(port_valid), .ready_i(port_ready), .data_o(port_out)
  );
  assign {port_last, port_keep, port_data} = port_out[144*Lanes:0];
  if (Numbered) begin : gen_ended
    assign port_in    = {s_ended_i, s_last_i, s_keep_i, s_data_i};
    assign port_ended = port_out[PortW-1];
  end else begin : gen_plain
    logic unused_ended;
    assign unused_ended = s_ended_i;
    assign port_in      = {s_last_i, s_keep_i, s_data_i};
    assign port_ended   = 1'b0;
  end

  logic full, push, short_d, long_d;
  frame_fit #(.Numbered(Numbered)) u_fit (
    .clk_i, .rst_ni, .next_valid_i(next_valid), .next_last_i(next_last), .load_o(load),
    .s_valid_i(port_valid), .s_ready_o(port_ready), .s_last_i(port_last), .s_ended_i(port_ended),
    .full_i(full), .push_o(push), .short_o(short_d), .long_o(long_d)
  );

  // ---- beats that wait for the join ----
  logic push_q, short_q, long_q;
  block_t [Lanes-1:0] data_q;
  logic [16*Lanes-1:0] keep_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) push_q <= 1'b0;
    else push_q <= push;
  end
  always_ff @(posedge clk_i) begin
    data_q  <= port_data;
    keep_q  <= port_keep;
    short_q <= short_d;
    long_q  <= long_d;
  end
  fifo_late #(.Cfg(queue(144 * Lanes + 2, 16))) u_beats (
    .clk_i, .rst_ni, .push_i(push_q), .data_i({short_q, long_q, keep_q, data_q}),
    .near_full_o(full), .valid_o, .data_o({short_o, long_o, keep_o, data_o}), .pop_i
  );

endmodule
