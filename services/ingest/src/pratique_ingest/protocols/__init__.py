"""Control-plane decoders, one file a protocol: bytes in, findings out, bounded walks only."""
