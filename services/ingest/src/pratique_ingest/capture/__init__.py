"""From the bytes of a file to frames, and from a frame to its outermost IP header and transport."""
