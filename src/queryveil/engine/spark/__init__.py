"""The second engine: the same steps on a cluster. Imported only where it is asked for."""

from .session import SparkCluster, open_spark, readable_errors
from .table import SparkTable

__all__ = ["SparkCluster", "SparkTable", "open_spark", "readable_errors"]
