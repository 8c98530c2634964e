"""Whole-log operations on Apache Spark. Nothing imports this package unless Spark is asked for."""
