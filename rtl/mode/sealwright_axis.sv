// A GCM or OCB core behind AXI4-Streams: every channel flat, lengths and keys beside the data.
//
//   s_axis_key      tdata 32 bytes of key (16-byte keys first), tuser the slot
//   s_axis_command  tdata bytes 0..11 nonce, 12..13 length of the associated data, 14..15 of the text (least byte first),
//                   16..31 the tag that an opened packet claims; tuser {slot, open}
//   s_axis          associated data in beats of its own, then the text; tlast on the packet's last beat
//   m_axis          the text; tlast on its last beat
//   m_axis_verdict  tdata the tag; tuser {open, authentic}

module sealwright_axis
  import sealwright_pkg::*;
#(
  parameter int unsigned Mode   = 0,        // 0 GCM, 1 OCB
  parameter int unsigned Cipher = Aes128,
  parameter int unsigned Sbox   = SboxTable,
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Depth  = 6,
  parameter int unsigned Slots  = 4,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic                 clk,
  input  logic                 rst_n,
  input  logic                 s_axis_key_tvalid,
  output logic                 s_axis_key_tready,
  input  logic [255:0]         s_axis_key_tdata,
  input  logic [SlotW-1:0]     s_axis_key_tuser,
  input  logic                 s_axis_command_tvalid,
  output logic                 s_axis_command_tready,
  input  logic [255:0]         s_axis_command_tdata,
  input  logic [SlotW:0]       s_axis_command_tuser,
  input  logic                 s_axis_tvalid,
  output logic                 s_axis_tready,
  input  logic [128*Lanes-1:0] s_axis_tdata,
  input  logic [16*Lanes-1:0]  s_axis_tkeep,
  input  logic                 s_axis_tlast,
  output logic                 m_axis_tvalid,
  input  logic                 m_axis_tready,
  output logic [128*Lanes-1:0] m_axis_tdata,
  output logic [16*Lanes-1:0]  m_axis_tkeep,
  output logic                 m_axis_tlast,
  output logic                 m_axis_verdict_tvalid,
  input  logic                 m_axis_verdict_tready,
  output logic [127:0]         m_axis_verdict_tdata,
  output logic [1:0]           m_axis_verdict_tuser
);

  command_t command;
  verdict_t verdict;

  assign command.open     = s_axis_command_tuser[0];
  assign command.nonce    = s_axis_command_tdata[95:0];
  assign command.ad_len   = s_axis_command_tdata[96+:LenW];
  assign command.text_len = s_axis_command_tdata[112+:LenW];
  assign command.tag      = s_axis_command_tdata[255:128];

  assign m_axis_verdict_tdata = verdict.tag;
  assign m_axis_verdict_tuser = {verdict.open, verdict.authentic};

  // The command's lengths say which bytes count.
  logic unused_keep;
  assign unused_keep = ^s_axis_tkeep;

  if (Mode == 0) begin : gen_gcm
    gcm_core #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Depth(Depth), .Slots(Slots)) u_core (
      .clk_i(clk), .rst_ni(rst_n),
      .key_valid_i(s_axis_key_tvalid), .key_ready_o(s_axis_key_tready), .key_slot_i(s_axis_key_tuser),
      .key_i(s_axis_key_tdata),
      .command_valid_i(s_axis_command_tvalid), .command_ready_o(s_axis_command_tready),
      .command_slot_i(s_axis_command_tuser[SlotW:1]), .command_i(command),
      .s_valid_i(s_axis_tvalid), .s_ready_o(s_axis_tready), .s_data_i(s_axis_tdata), .s_last_i(s_axis_tlast),
      .m_valid_o(m_axis_tvalid), .m_ready_i(m_axis_tready), .m_data_o(m_axis_tdata), .m_keep_o(m_axis_tkeep),
      .m_last_o(m_axis_tlast),
      .verdict_valid_o(m_axis_verdict_tvalid), .verdict_ready_i(m_axis_verdict_tready), .verdict_o(verdict)
    );
  end else begin : gen_ocb
    ocb_core #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots)) u_core (
      .clk_i(clk), .rst_ni(rst_n),
      .key_valid_i(s_axis_key_tvalid), .key_ready_o(s_axis_key_tready), .key_slot_i(s_axis_key_tuser),
      .key_i(s_axis_key_tdata),
      .command_valid_i(s_axis_command_tvalid), .command_ready_o(s_axis_command_tready),
      .command_slot_i(s_axis_command_tuser[SlotW:1]), .command_i(command),
      .s_valid_i(s_axis_tvalid), .s_ready_o(s_axis_tready), .s_data_i(s_axis_tdata), .s_last_i(s_axis_tlast),
      .m_valid_o(m_axis_tvalid), .m_ready_i(m_axis_tready), .m_data_o(m_axis_tdata), .m_keep_o(m_axis_tkeep),
      .m_last_o(m_axis_tlast),
      .verdict_valid_o(m_axis_verdict_tvalid), .verdict_ready_i(m_axis_verdict_tready), .verdict_o(verdict)
    );
  end

endmodule
