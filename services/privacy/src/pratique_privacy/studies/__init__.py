"""Studies: sweeps and further adversaries, each a folder of facts that leads to one answer."""
