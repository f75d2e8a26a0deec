// What every beat of a packet is, and its offsets, worked out ahead of the data (RFC 7253, sections 4.1 and 4.2).
//
// Beats: the associated data in beats of its own, the text (of an empty text one beat that takes no data). Block i of
// either chain stands under Offset_i = Offset_{i-1} + L_ntz(i), a last partial one under Offset_* = Offset_m + L_*; the
// chain of the associated data begins at zero, that of the text at the nonce's offset. What the tag is encrypted under
// is Offset_* or Offset_m, plus L_$. Only the offset before a beat is a loop, one addition long.

module ocb_control
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic [SlotW-1:0]    slot_i,
  input  lengths_t            lengths_i,
  input  block_t              offset_i,    // of the packet that was taken Late cycles ago
  input  logic                go_i,        // there is room for beats
  // ocb_tables, which answers two cycles later
  output logic [SlotW-1:0]    table_slot_o,
  output logic [3:0]          table_ntz_o,
  input  block_t              star_i,
  input  block_t              dollar_i,
  input  block_t [Lanes-1:0]  prefix_i,
  // beats
  output logic                valid_o,
  output logic [SlotW-1:0]    slot_o,
  output logic                open_o,
  output logic                text_o,      // 0: associated data
  output logic                data_o,      // takes a beat of the stream
  output logic                data_last_o, // the packet's last one
  output logic                text_last_o, // its last one with text
  output logic                end_o,       // its last beat
  output logic [Lanes-1:0]    full_o,      // lanes with 16 bytes
  output logic [Lanes-1:0]    part_o,      // the lane with fewer
  output logic [16*Lanes-1:0] keep_o,
  output block_t [Lanes-1:0]  offset_o,
  output block_t              final_o      // of the last beat: what the checksum is added to
);

  localparam int unsigned Bytes  = 16 * Lanes;
  localparam int unsigned BytesW = $clog2(Bytes + 1);
  localparam int unsigned BeatW  = LenW - 4 - $clog2(Lanes) + 1;

  logic busy_q, in_ad_q, first_q, has_text_q, open_q, last_q, load;
  logic text_short_q;                 // the text has one beat or none
  logic ends_q;                       // !in_ad_q && last_q
  logic [SlotW-1:0] slot_q;
  logic [LenW-1:0] bytes_q, text_q;   // of this chain from here on; of the text that is to follow
  logic [BeatW-1:0] number_q;         // of this beat in its chain, from 1

  assign ready_o = !busy_q || (go_i && ends_q);
  assign load    = valid_i && ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= load || (busy_q && !(go_i && ends_q));
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      slot_q     <= slot_i;
      open_q     <= lengths_i.open;
      in_ad_q    <= lengths_i.has_ad;
      has_text_q <= lengths_i.has_text;
      bytes_q    <= lengths_i.first_len;
      text_q     <= lengths_i.text_len;
      last_q     <= lengths_i.first_short;
      text_short_q <= lengths_i.text_short;
      ends_q     <= !lengths_i.has_ad && lengths_i.text_short;
      number_q   <= BeatW'(1);
      first_q    <= 1'b1;
    end else if (go_i) begin
      in_ad_q  <= in_ad_q && !last_q;
      ends_q   <= last_q ? text_short_q : !in_ad_q && bytes_q <= LenW'(2 * Bytes);
      first_q  <= last_q;
      number_q <= last_q ? BeatW'(1) : number_q + BeatW'(1);
      bytes_q  <= last_q ? text_q : bytes_q - LenW'(Bytes);
      last_q   <= last_q ? text_short_q : bytes_q <= LenW'(2 * Bytes);
    end
  end

  // First register: the bytes of the beat, and the L_i of its last lane.
  typedef struct packed {
    logic [SlotW-1:0] slot;
    logic open, text, data, data_last, text_last, ends, first;
    logic [BytesW-1:0] bytes;
  } step_t;

  function automatic logic [3:0] ntz(logic [BeatW-1:0] n);
    ntz = 4'd15;
    for (int i = BeatW - 1; i >= 0; i--) if (n[i]) ntz = 4'(i + $clog2(Lanes));
  endfunction

  logic valid_q, valid_q3, valid_q4;
  step_t step_q, step_q2, step_q3;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= busy_q && go_i;
  end
  always_ff @(posedge clk_i) begin
    step_q.slot      <= slot_q;
    step_q.open      <= open_q;
    step_q.text      <= !in_ad_q;
    step_q.data      <= in_ad_q || has_text_q;
    step_q.data_last <= last_q && (in_ad_q ? !has_text_q : 1'b1);
    step_q.text_last <= ends_q;
    step_q.ends      <= ends_q;
    step_q.first     <= first_q;
    step_q.bytes     <= last_q ? BytesW'(bytes_q) : BytesW'(Bytes);
    table_ntz_o      <= ntz(number_q);
  end
  assign table_slot_o = step_q.slot;

  // Third: the tables have answered, and the bytes are told lane by lane.
  logic [Lanes-1:0] full_q3, part_q3, whole_q3;  // whole_q3: the lane is the last full one
  logic star_q3;                                 // there is a lane with fewer
  delay_valid #(.Cycles(2)) u_valid (.clk_i, .rst_ni, .valid_i(valid_q), .valid_o(valid_q3));
  delay #(.W($bits(step_t)), .Cycles(1)) u_step (.clk_i, .d_i(step_q), .q_o(step_q2));
  always_ff @(posedge clk_i) begin
    step_q3 <= step_q2;
    star_q3 <= step_q2.bytes[3:0] != '0;
    for (int l = 0; l < Lanes; l++) begin
      full_q3[l]  <= step_q2.bytes >= BytesW'(16 * l + 16);
      part_q3[l]  <= step_q2.bytes > BytesW'(16 * l) && step_q2.bytes < BytesW'(16 * l + 16);
      whole_q3[l] <= step_q2.bytes[BytesW-1:4] == (BytesW-4)'(l + 1);
    end
  end

  // Fourth: what each lane adds to the offset before the beat.
  step_t step_q4;
  logic [Lanes-1:0] full_q4, part_q4;
  logic [Bytes-1:0] keep_q4;
  block_t [Lanes-1:0] earlier, add_q4;
  block_t whole, final_q4;
  always_comb begin
    whole = '0;  // what the blocks of 16 bytes add
    for (int l = 0; l < Lanes; l++) begin
      earlier[l] = l == 0 ? '0 : prefix_i[l > 0 ? l - 1 : 0];
      if (whole_q3[l]) whole = whole ^ prefix_i[l];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {valid_q4, valid_o} <= '0;
    else {valid_q4, valid_o} <= {valid_q3, valid_q4};
  end
  always_ff @(posedge clk_i) begin
    step_q4  <= step_q3;
    full_q4  <= full_q3;
    part_q4  <= part_q3;
    final_q4 <= dollar_i ^ whole ^ (star_q3 ? star_i : '0);
    for (int l = 0; l < Lanes; l++) add_q4[l] <= part_q3[l] ? earlier[l] ^ star_i : prefix_i[l];
    for (int i = 0; i < Bytes; i++) keep_q4[i] <= BytesW'(i) < step_q3.bytes;
  end

  // Fifth: the offsets. That of the nonce is here when its packet's first beat is.
  block_t loop_q, base, step_add_q4, came_q, start_q;
  logic came;
  delay_valid #(.Cycles(Late + 1)) u_came (.clk_i, .rst_ni, .valid_i(load), .valid_o(came));
  always_ff @(posedge clk_i) begin
    came_q <= offset_i;
    if (came) start_q <= came_q;
    step_add_q4 <= prefix_i[Lanes-1];
  end
  assign base = !step_q4.first ? loop_q : step_q4.text ? start_q : '0;
  always_ff @(posedge clk_i) begin
    if (valid_q4) loop_q <= base ^ step_add_q4;
    for (int l = 0; l < Lanes; l++) offset_o[l] <= base ^ add_q4[l];
    final_o     <= step_q4.ends ? base ^ final_q4 : '0;
    slot_o      <= step_q4.slot;
    open_o      <= step_q4.open;
    text_o      <= step_q4.text;
    data_o      <= step_q4.data;
    data_last_o <= step_q4.data_last;
    text_last_o <= step_q4.text_last;
    end_o       <= step_q4.ends;
    full_o      <= full_q4;
    part_o      <= part_q4;
    keep_o      <= keep_q4;
  end

endmodule
