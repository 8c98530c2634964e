"""Choosing one of many: the exponential mechanism on integer weights, calibrated exactly."""
