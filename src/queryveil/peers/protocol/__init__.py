"""The protocol without network, disk or clock."""
