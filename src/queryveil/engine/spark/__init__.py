"""The second engine: the same steps on a cluster. Imported only where it is asked for."""
