// A valid bit, Cycles later; none is valid after reset.

module delay_valid #(
  parameter int unsigned Cycles = 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic valid_o
);

  logic [Cycles-1:0] step_q;

  if (Cycles == 1) begin : gen_one
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) step_q <= '0;
      else step_q <= valid_i;
    end
  end else begin : gen_many
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) step_q <= '0;
      else step_q <= {step_q[Cycles-2:0], valid_i};
    end
  end
  assign valid_o = step_q[Cycles-1];

endmodule
