"""TensorFlow's tape on NumPy values: records calls as they happen, differentiates them later."""
