"""The second engine: the same steps on a cluster. Imported only where it is asked for."""

from .session import Spark, errors_told, open_spark
from .table import SparkTable

__all__ = ["Spark", "SparkTable", "errors_told", "open_spark"]
