"""Thresholds and ensembles that were tuned on the predictions: is the corrected score honest?"""
