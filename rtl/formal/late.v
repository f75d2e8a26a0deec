// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A register as a wire: proofs of what a pipeline computes do not ask when.
(* techmap_celltype = "$_DFF_P_" *)
module late (input D, input C, output Q);
  assign Q = D;
endmodule
