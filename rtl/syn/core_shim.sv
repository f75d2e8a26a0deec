// A core between registers, on three pins: for place and route, where a core's own ports outnumber a package's pins.
//
// Inputs come from a shift register, outputs are folded into one bit, a register behind every step: every path that the
// timing report shows is the core's own.

module core_shim
  import sealwright_pkg::*;
#(
  parameter int unsigned Mode   = 0,   // 0 GCM, 1 OCB, 2 cipher alone
  parameter int unsigned Cipher = Aes128,
  parameter int unsigned Sbox   = SboxTable,
  parameter int unsigned Cut    = 0,
  parameter int unsigned Lanes  = 4,
  parameter int unsigned Depth  = 6,
  parameter int unsigned Slots  = 1,
  parameter int unsigned Opens  = 0,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic clk,
  input  logic rst_n,
  input  logic d,
  output logic q
);

  localparam int unsigned InW  = 1 + SlotW + 256 + 1 + SlotW + $bits(command_t) + 2 + 128 * Lanes + 2;
  localparam int unsigned OutW = 5 + 144 * Lanes + $bits(verdict_t);

  logic [InW-1:0] in_q;
  logic rst_nq;
  always_ff @(posedge clk) begin
    in_q   <= {in_q[InW-2:0], d};
    rst_nq <= rst_n;
  end

  logic key_valid, command_valid, s_valid, s_last, m_ready, verdict_ready;
  logic [SlotW-1:0] key_slot, command_slot;
  logic [255:0] key;
  command_t command;
  block_t [Lanes-1:0] s_data;
  assign {key_valid, key_slot, key, command_valid, command_slot, command, s_valid, s_last, s_data, m_ready,
          verdict_ready} = in_q;

  logic key_ready, command_ready, s_ready, m_valid, m_last, verdict_valid;
  block_t [Lanes-1:0] m_data;
  logic [16*Lanes-1:0] m_keep;
  verdict_t verdict;

  if (Mode == 0) begin : gen_gcm
    (* keep_hierarchy *)
    gcm_core #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Depth(Depth), .Slots(Slots)) u_core (
      .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready), .key_slot_i(key_slot), .key_i(key),
      .command_valid_i(command_valid), .command_ready_o(command_ready), .command_slot_i(command_slot),
      .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready), .s_data_i(s_data), .s_last_i(s_last),
      .m_valid_o(m_valid), .m_ready_i(m_ready), .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last),
      .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready), .verdict_o(verdict)
    );
  end else if (Mode == 1) begin : gen_ocb
    (* keep_hierarchy *)
    ocb_core #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots), .Open(1'(Opens))) u_core (
      .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready), .key_slot_i(key_slot), .key_i(key),
      .command_valid_i(command_valid), .command_ready_o(command_ready), .command_slot_i(command_slot),
      .command_i(command), .s_valid_i(s_valid), .s_ready_o(s_ready), .s_data_i(s_data), .s_last_i(s_last),
      .m_valid_o(m_valid), .m_ready_i(m_ready), .m_data_o(m_data), .m_keep_o(m_keep), .m_last_o(m_last),
      .verdict_valid_o(verdict_valid), .verdict_ready_i(verdict_ready), .verdict_o(verdict)
    );
  end else begin : gen_cipher
    (* keep_hierarchy *)
    cipher_only #(.Cipher(Cipher), .Sbox(Sbox), .Cut(Cut), .Lanes(Lanes), .Slots(Slots)) u_core (
      .clk_i(clk), .rst_ni(rst_nq), .key_valid_i(key_valid), .key_ready_o(key_ready), .key_slot_i(key_slot), .key_i(key),
      .valid_i(s_valid), .slot_i(command_slot), .block_i(s_data), .valid_o(m_valid), .block_o(m_data)
    );
    assign {command_ready, s_ready, m_last, verdict_valid, m_keep} = '0;
    assign verdict = '0;
  end

  // Four bits into one a step.
  localparam int unsigned W1 = (OutW + 1 + 3) / 4;
  localparam int unsigned W2 = (W1 + 3) / 4;
  localparam int unsigned W3 = (W2 + 3) / 4;
  logic [4*W1-1:0] out_q;
  logic [4*W2-1:0] fold1_q;
  logic [4*W3-1:0] fold2_q;
  logic [W3-1:0] fold3_q;
  always_ff @(posedge clk) begin
    out_q <= (4*W1)'({key_ready, command_ready, s_ready, m_valid, m_last, m_data, m_keep, verdict_valid, verdict});
    fold1_q <= '0;
    for (int i = 0; i < W1; i++) fold1_q[i] <= ^out_q[4*i+:4];
    fold2_q <= '0;
    for (int i = 0; i < W2; i++) fold2_q[i] <= ^fold1_q[4*i+:4];
    for (int i = 0; i < W3; i++) fold3_q[i] <= ^fold2_q[4*i+:4];
    q <= ^fold3_q;
  end

endmodule
