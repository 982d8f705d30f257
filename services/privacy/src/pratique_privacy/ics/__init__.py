"""ICS: Pratique as a data producer of the O-RAN Information Coordinator Service (Non-RT RIC)."""
