// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A GCM or OCB core with an AXI4-Stream on every channel.
//
//   s_axis_key      tdata the key (one of 16 bytes in bytes 0..15), tuser {erase, slot}
//   m_axis_key      valid for one cycle, when a key is loaded, erased or refused: tuser {status,
//                   slot}
//   s_axis_command  tdata bytes 0..11 nonce, 12..13 length of the associated data, 14..15 of the
//                   text (both little-endian), 16..31 the tag of a packet to open; tuser {number,
//                   slot, open}
//   s_axis          one frame per command: blocks of associated data, then blocks of text, with
//                   tkeep, tlast and the packet's number in tuser; a packet without data has one
//                   beat without a byte
//   m_axis          the text, in the lanes of its input; tlast on its last beat
//   m_axis_verdict  tdata the tag; tuser {text, status, open, authentic}
//
// Hold = 0: text is output before its verdict. Hold > 0: the text of each packet is held back until
// its verdict, and dropped unless the status is StatusOk; packets with more than Hold bytes of text
// are refused.
//
// Number > 0: packets are numbered, and no beat can reach another packet than its own
// (frame_number). Number = 0: frames and commands are paired by their order alone, and tuser of
// s_axis has no meaning.

`include "assert.svh"

module sealwright_axis
  import sealwright_pkg::*;
#(
  // Plain integers, which every tool can set: values of mode_e, cipher_e and sbox_e, and of the
  // fields of core_cfg_t.
  parameter int unsigned Mode   = 0,
  parameter int unsigned Cipher = 0,
  parameter int unsigned Sbox   = 0,
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,  // blocks in a beat
  parameter int unsigned Depth  = 6,  // registers in GHASH's loop
  parameter int unsigned Slots  = 4,  // key slots
  parameter int unsigned Tag    = 16,  // bytes of the tags
  parameter int unsigned Opens  = 1,  // 0: an OCB core has no inverse cipher
  parameter int unsigned Keep   = 0,  // 1: keys survive a reset
  parameter int unsigned Hold   = 0,  // most bytes of text in a packet; 0: no limit, not held back
  parameter int unsigned Number = 16,  // bits of a packet's number; 0: there are none
  localparam int unsigned SlotW = slot_bits(Slots),
  localparam int unsigned NumberW = Number > 0 ? Number : 1
) (
  input  logic                 clk,
  input  logic                 rst_n,
  input  logic                 s_axis_key_tvalid,
  output logic                 s_axis_key_tready,
  input  logic [255:0]         s_axis_key_tdata,
  input  logic [SlotW:0]       s_axis_key_tuser,
  output logic                 m_axis_key_tvalid,
  output logic [SlotW+1:0]     m_axis_key_tuser,
  output logic [Slots-1:0]     slot_valid,
  output logic [Slots-1:0]     slot_busy,
  input  logic                 s_axis_command_tvalid,
  output logic                 s_axis_command_tready,
  input  logic [255:0]         s_axis_command_tdata,
  input  logic [SlotW+Number:0] s_axis_command_tuser,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [128*Lanes-1:0] s_axis_tdata,
  input  logic [16*Lanes-1:0]  s_axis_tkeep,
  input  logic                 s_axis_tlast,
  input  logic [NumberW-1:0]   s_axis_tuser,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [128*Lanes-1:0] m_axis_tdata,
  output logic [16*Lanes-1:0]  m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic                 m_axis_verdict_tvalid,
  input  logic                 m_axis_verdict_tready,
  output logic [127:0]         m_axis_verdict_tdata,
  output logic [5:0]           m_axis_verdict_tuser
);

  localparam core_cfg_t Cfg = '{
    pipe: '{
      cipher: cipher_e'(Cipher), sbox: sbox_e'(Sbox), cut: built_cut(Sbox, Cut), lanes: Lanes,
      slots: Slots, inverse: 1'b0
    },
    depth: Depth, tag_bytes: Tag, max_text: Hold, opens: Mode == 32'(ModeGcm) || Opens != 0,
    keep: Keep != 0, numbered: Number != 0
  };

  // ---- allowed parameters ----
  `SEALWRIGHT_REQUIRE(gen_bad_mode, Mode <= 32'(ModeOcb), "Mode must be 0 (GCM) or 1 (OCB)")
  `SEALWRIGHT_REQUIRE(gen_bad_cipher, Cipher <= 32'(Serpent256),
      "Cipher must be 0 (AES-128), 1 (AES-256) or 2 (Serpent-256)")
  `SEALWRIGHT_REQUIRE(gen_bad_sbox, Sbox <= 32'(SboxComposite),
      "Sbox must be 0 (table), 1 (memory) or 2 (composite field)")
  `SEALWRIGHT_REQUIRE(gen_bad_cut, Cut <= (Cipher == 32'(Serpent256) ? 1 : 4),
      "Cut must be at most 4, with Serpent at most 1")
  // Also for Serpent, which has no S-box in memory: built_cut would add a register unasked.
  `SEALWRIGHT_REQUIRE(gen_bad_rom, Cut != 0 || Sbox != 32'(SboxRom),
      "with Sbox = 1 (an S-box in memory) Cut must be 1 or more; Serpent has none: set Sbox = 0")
  `SEALWRIGHT_REQUIRE(gen_bad_lanes, Lanes == 1 || Lanes == 2 || Lanes == 4,
      "Lanes must be 1, 2 or 4")
  `SEALWRIGHT_REQUIRE(gen_bad_depth, Depth >= 1 && Depth <= 6, "Depth must be 1 to 6")
  `SEALWRIGHT_REQUIRE(gen_bad_slots, Slots >= 1 && Slots <= 256 && (Slots & (Slots - 1)) == 0,
      "Slots must be a power of two up to 256")
  // SP 800-38D, 5.2.1.2
  `SEALWRIGHT_REQUIRE(gen_bad_tag, Mode == 32'(ModeOcb) || Tag == 4 || Tag == 8
      || (Tag >= 12 && Tag <= 16), "Tag must be 4, 8 or 12 to 16 bytes in GCM")
  `SEALWRIGHT_REQUIRE(gen_bad_ocb_tag, Mode != 32'(ModeOcb) || Tag == 8 || Tag == 12 || Tag == 16,
      "Tag must be 8, 12 or 16 bytes in OCB")
  `SEALWRIGHT_REQUIRE(gen_bad_flag, Opens <= 1 && Keep <= 1, "Opens and Keep must be 0 or 1")
  `SEALWRIGHT_REQUIRE(gen_bad_hold, Hold <= 65535, "Hold must be at most 65535 bytes")
  `SEALWRIGHT_REQUIRE(gen_bad_number, Number == 0 || (Number > $clog2(Flight) && Number <= 16),
      "Number must be 0, or 9 to 16 bits")

  command_t command;
  verdict_t core_verdict, verdict;
  key_status_e done_status;
  logic key_valid, key_ready, key_erase, done_valid;
  logic [SlotW-1:0] key_slot, done_slot;
  logic data_valid, data_ready, data_last, data_ended;
  block_t [Lanes-1:0] data;
  logic [16*Lanes-1:0] data_keep;
  logic core_valid, core_ready, core_last, core_verdict_valid, core_verdict_ready;
  block_t [Lanes-1:0] core_data;
  logic [16*Lanes-1:0] core_keep;

  assign command.open     = s_axis_command_tuser[0];
  assign command.nonce    = s_axis_command_tdata[95:0];
  assign command.ad_len   = s_axis_command_tdata[96+:LenW];
  assign command.text_len = s_axis_command_tdata[112+:LenW];
  assign command.tag      = s_axis_command_tdata[255:128];

  assign m_axis_key_tuser     = {done_status, done_slot};
  assign m_axis_verdict_tdata = verdict.tag;
  assign m_axis_verdict_tuser = {verdict.text, verdict.status, verdict.open, verdict.authentic};

  if (Keep != 0) begin : gen_sweep
    key_sweep #(.Slots(Slots)) u_sweep (
      .clk_i(clk), .rst_ni(rst_n), .slot_valid_i(slot_valid), .key_valid_i(s_axis_key_tvalid),
      .key_ready_o(s_axis_key_tready), .key_erase_i(s_axis_key_tuser[SlotW]),
      .key_slot_i(s_axis_key_tuser[SlotW-1:0]), .done_valid_o(m_axis_key_tvalid),
      .key_valid_o(key_valid), .key_ready_i(key_ready), .key_erase_o(key_erase),
      .key_slot_o(key_slot), .done_valid_i(done_valid), .done_status_i(done_status)
    );
  end else begin : gen_no_sweep
    assign key_valid             = s_axis_key_tvalid;
    assign {key_erase, key_slot} = s_axis_key_tuser;
    assign s_axis_key_tready     = key_ready;
    assign m_axis_key_tvalid     = done_valid;
  end

  if (Number != 0) begin : gen_number
    frame_number #(.Lanes(Lanes), .W(NumberW)) u_number (
      .clk_i(clk), .rst_ni(rst_n), .command_i(s_axis_command_tvalid && s_axis_command_tready),
      .packet_i(s_axis_command_tuser[SlotW+1+:NumberW]), .s_valid_i(s_axis_tvalid),
      .s_ready_o(s_axis_tready), .s_number_i(s_axis_tuser), .s_data_i(s_axis_tdata),
      .s_keep_i(s_axis_tkeep), .s_last_i(s_axis_tlast), .m_valid_o(data_valid),
      .m_ready_i(data_ready), .m_data_o(data), .m_keep_o(data_keep), .m_last_o(data_last),
      .m_ended_o(data_ended)
    );
  end else begin : gen_no_number
    logic unused_number;
    assign unused_number = s_axis_tuser[0];
    assign data_valid    = s_axis_tvalid;
    assign data          = s_axis_tdata;
    assign data_keep     = s_axis_tkeep;
    assign data_last     = s_axis_tlast;
    assign data_ended    = 1'b0;
    assign s_axis_tready = data_ready;
  end

  if (mode_e'(Mode) == ModeGcm) begin : gen_gcm
    gcm_core #(.Cfg(Cfg)) u_core (
      .clk_i(clk), .rst_ni(rst_n), .key_valid_i(key_valid), .key_ready_o(key_ready),
      .key_erase_i(key_erase), .key_slot_i(key_slot),
      .key_i(s_axis_key_tdata), .done_valid_o(done_valid), .done_slot_o(done_slot),
      .done_status_o(done_status), .slot_valid_o(slot_valid), .slot_busy_o(slot_busy),
      .command_valid_i(s_axis_command_tvalid), .command_ready_o(s_axis_command_tready),
      .command_slot_i(s_axis_command_tuser[SlotW:1]), .command_i(command),
      .s_valid_i(data_valid), .s_ready_o(data_ready), .s_data_i(data), .s_keep_i(data_keep),
      .s_last_i(data_last), .s_ended_i(data_ended), .m_valid_o(core_valid),
      .m_ready_i(core_ready), .m_data_o(core_data), .m_keep_o(core_keep), .m_last_o(core_last),
      .verdict_valid_o(core_verdict_valid), .verdict_ready_i(core_verdict_ready),
      .verdict_o(core_verdict)
    );
  end else begin : gen_ocb
    ocb_core #(.Cfg(Cfg)) u_core (
      .clk_i(clk), .rst_ni(rst_n), .key_valid_i(key_valid), .key_ready_o(key_ready),
      .key_erase_i(key_erase), .key_slot_i(key_slot),
      .key_i(s_axis_key_tdata), .done_valid_o(done_valid), .done_slot_o(done_slot),
      .done_status_o(done_status), .slot_valid_o(slot_valid), .slot_busy_o(slot_busy),
      .command_valid_i(s_axis_command_tvalid), .command_ready_o(s_axis_command_tready),
      .command_slot_i(s_axis_command_tuser[SlotW:1]), .command_i(command),
      .s_valid_i(data_valid), .s_ready_o(data_ready), .s_data_i(data), .s_keep_i(data_keep),
      .s_last_i(data_last), .s_ended_i(data_ended), .m_valid_o(core_valid),
      .m_ready_i(core_ready), .m_data_o(core_data), .m_keep_o(core_keep), .m_last_o(core_last),
      .verdict_valid_o(core_verdict_valid), .verdict_ready_i(core_verdict_ready),
      .verdict_o(core_verdict)
    );
  end

  if (Hold != 0) begin : gen_hold
    // one beat more: text may begin in any lane
    localparam int unsigned Beats = (Hold + 16 * Lanes - 1) / (16 * Lanes) + 1;
    text_hold #(.Lanes(Lanes), .Beats(Beats > 16 ? 2 ** $clog2(Beats) : 16)) u_hold (
      .clk_i(clk), .rst_ni(rst_n), .s_valid_i(core_valid), .s_ready_o(core_ready),
      .s_data_i(core_data), .s_keep_i(core_keep), .s_last_i(core_last),
      .s_verdict_valid_i(core_verdict_valid), .s_verdict_ready_o(core_verdict_ready),
      .s_verdict_i(core_verdict), .m_valid_o(m_axis_tvalid), .m_ready_i(m_axis_tready),
      .m_data_o(m_axis_tdata), .m_keep_o(m_axis_tkeep), .m_last_o(m_axis_tlast),
      .m_verdict_valid_o(m_axis_verdict_tvalid), .m_verdict_ready_i(m_axis_verdict_tready),
      .m_verdict_o(verdict)
    );
  end else begin : gen_stream
    assign core_ready            = m_axis_tready;
    assign core_verdict_ready    = m_axis_verdict_tready;
    assign m_axis_tvalid         = core_valid;
    assign m_axis_tdata          = core_data;
    assign m_axis_tkeep          = core_keep;
    assign m_axis_tlast          = core_last;
    assign m_axis_verdict_tvalid = core_verdict_valid;
    assign verdict               = core_verdict;
  end

endmodule
