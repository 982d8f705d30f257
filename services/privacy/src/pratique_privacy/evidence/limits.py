"""Limits: what a posture does not say, in the words of every certificate, datasheet and report."""

from typing import Final

LIMITATIONS: Final = (
    "The figures are syntactic: they hold for the quasi-identifiers that were named, and give no differential privacy.",
    "They do not compose: releases of the same people can be joined. Of earlier releases of the same bytes to the same "
    "recipient, `composition` in the posture says what a join does; what a recipient got elsewhere is in no figure.",
    "PPI is a summary with weights that somebody chose: read it beside k, l, t and uniques.",
    "k_rw is a mean over records and can hide rows that are alone in their class.",
    "The adversaries are models: they know the quasi-identifiers of this table and not who was where at what time.",
    "An insensitive column may identify: read `all_columns` and the flags.",
    "What was not decoded from a capture is in no figure; the capture counts it in its warnings.",
)

# The three risks of the Article 29 Working Party's Opinion 05/2014 (WP216), each as the question it asks.
SINGLING_OUT: Final = "Can a record of one person or machine be singled out?"
LINKABILITY: Final = "Can two records of the same one be linked, in this release or across releases?"
INFERENCE: Final = "Can a sensitive value of somebody be inferred?"
