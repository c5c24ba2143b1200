"""What a fitted estimator says about X."""
