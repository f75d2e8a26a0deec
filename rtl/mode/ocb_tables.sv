// The multiples of L that OCB's offsets are made of, for every key slot: L_* = E(K, 0), L_$, and L_0 to L_15, each twice
// the one before. Prepared in 19 cycles once L_* is there; read with the slot and the number of an L_i, two cycles later.

module ocb_tables
  import sealwright_pkg::*;
#(
  parameter int unsigned Lanes = 4,
  parameter int unsigned Slots = 1,
  localparam int unsigned SlotW = Slots > 1 ? $clog2(Slots) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [SlotW-1:0] write_slot_i,
  input  block_t           star_i,
  output logic             ready_o,
  input  logic [SlotW-1:0] slot_i,
  input  logic [3:0]       ntz_i,
  output block_t           star_o,
  output block_t           dollar_o,
  output block_t [Lanes-1:0] prefix_o  // what the offset before the beat lacks of that of each lane
);

  typedef enum logic {Idle, Double} state_e;

  state_e state_q;
  logic [4:0] count_q;     // 0: L_*, 1: L_$, 2 + i: L_i
  block_t value_q;
  logic we;

  assign we      = state_q == Double;
  assign ready_o = state_q == Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Idle;
    else if (state_q == Idle) state_q <= valid_i ? Double : Idle;
    else if (count_q == 5'd17) state_q <= Idle;
  end
  always_ff @(posedge clk_i) begin
    count_q <= state_q == Idle ? '0 : count_q + 5'd1;
    value_q <= state_q == Idle ? star_i : double(value_q);
  end

  // A register between what is made and where it is kept.
  block_t star, dollar, l0, l1, ln, kept_q;
  logic [3:0] first_q;  // it is L_*, L_$, L_0, L_1
  logic rest_q;         // L_0 and on
  logic [3:0] index_q;
  always_ff @(posedge clk_i) begin
    kept_q  <= value_q;
    for (int i = 0; i < 4; i++) first_q[i] <= we && count_q == 5'(i);
    rest_q  <= we && count_q >= 5'd2;
    index_q <= 4'(count_q - 5'd2);
  end
  key_store #(.Slots(Slots)) u_star (
    .clk_i, .we_i(first_q[0]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(star)
  );
  key_store #(.Slots(Slots)) u_dollar (
    .clk_i, .we_i(first_q[1]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(dollar)
  );
  key_store #(.Slots(Slots)) u_l0 (
    .clk_i, .we_i(first_q[2]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(l0)
  );
  key_store #(.Slots(Slots)) u_l1 (
    .clk_i, .we_i(first_q[3]), .write_slot_i, .key_i(kept_q), .slot_i, .key_o(l1)
  );

  localparam int unsigned AddressW = $clog2(Slots) + 4;
  function automatic logic [AddressW-1:0] address(logic [SlotW-1:0] slot, logic [3:0] index);
    return AddressW'({Slots > 1 ? slot : '0, index});
  endfunction
  (* no_rw_check *)  // a slot in use gets no key
  block_t mem [16 * Slots];
  always_ff @(posedge clk_i) begin
    if (rest_q) mem[address(write_slot_i, index_q)] <= kept_q;
    ln <= mem[address(slot_i, ntz_i)];
  end

  // Block i of a chain adds L_ntz(i), counting from 1: the lanes of a beat add L_0, L_1, L_0 and, the last, L_ntz_i.
  always_ff @(posedge clk_i) begin
    star_o   <= star;
    dollar_o <= dollar;
    for (int l = 0; l < Lanes; l++) begin
      prefix_o[l] <= (l == Lanes - 1 ? ln : '0)
          ^ (l == 0 && Lanes > 1 || l == 1 ? l0 : '0)
          ^ (l == 1 && Lanes > 2 || l == 2 || l == 3 ? l1 : '0);
    end
  end

  if (Lanes < 4) begin : gen_narrow
    logic unused_l;
    assign unused_l = ^{l0, l1};
  end

endmodule
