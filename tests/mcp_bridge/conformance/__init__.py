"""The published conformance suite of the protocol, in both eras, against a served instance with its fixtures."""
