"""Whole-log operations on Apache Spark. It is imported only if Spark is used."""
