# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lint, simulation, proofs and synthesis of the hardware cores. Usage, in rtl/: `python -m flow --help`."""
