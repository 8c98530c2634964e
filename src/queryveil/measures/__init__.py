"""What risk and what use are left: one small file a measure."""
