"""Compiled loops: plain arrays in, plain arrays out; they know nothing of metrics, tables or signs.

All kernels release the GIL, so that threads over blocks of resamples use all cores. Importing one imports numba, which
takes a while: functions import what they need when they run.
"""
