"""The exponential mechanism with integer weights: calibration and exact sampling."""
