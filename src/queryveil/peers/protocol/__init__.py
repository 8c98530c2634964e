"""The protocol between friends, without network, disk or clock."""
