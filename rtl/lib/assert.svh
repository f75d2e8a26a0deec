// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Checks of parameters, and assertions for simulation.

`ifndef SEALWRIGHT_ASSERT_SVH
`define SEALWRIGHT_ASSERT_SVH

// Stops elaboration with `message_` unless `condition_` holds. SEALWRIGHT_UNGUARDED leaves these
// checks out, for comparisons of the logic that sources describe (flow/closure.py).
`ifdef SEALWRIGHT_UNGUARDED
`define SEALWRIGHT_REQUIRE(name_, condition_, message_)
`else
`define SEALWRIGHT_REQUIRE(name_, condition_, message_) \
  if (!(condition_)) begin : name_ \
    $fatal(1, message_); \
  end
`endif

// The assertions need clk_i and rst_ni in the module around them. Synthesis ignores them.

// Reports `message_` as an error if `condition_` holds at a rising edge of the clock outside reset.
`ifdef SYNTHESIS
`define SEALWRIGHT_NEVER(name_, condition_, message_)
`define SEALWRIGHT_STABLE(name_, valid_, ready_, word_)
`else
`define SEALWRIGHT_NEVER(name_, condition_, message_) \
  always_ff @(posedge clk_i) begin \
    if (rst_ni) begin \
      name_: assert (!(condition_)) else $error("%m: %s", message_); \
    end \
  end

// Reports an error if a word that is offered is withdrawn or changes before it is accepted.
`define SEALWRIGHT_STABLE(name_, valid_, ready_, word_) \
  logic name_``Waits; \
  logic [$bits(word_)-1:0] name_``Word; \
  always_ff @(posedge clk_i or negedge rst_ni) begin \
    if (!rst_ni) name_``Waits <= 1'b0; \
    else name_``Waits <= (valid_) && !(ready_); \
  end \
  always_ff @(posedge clk_i) name_``Word <= (word_); \
  `SEALWRIGHT_NEVER(name_, name_``Waits && !((valid_) && name_``Word == (word_)), \
      "an offer was withdrawn or changed")
`endif

`endif
