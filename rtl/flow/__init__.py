# SPDX-License-Identifier: MIT OR Apache-2.0
"""Everything that is done with the cores: lint, simulation, proofs, synthesis. `python -m flow --help` in rtl/."""
