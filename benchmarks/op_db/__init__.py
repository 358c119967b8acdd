"""PyTorch's own samples of its functions, put to tracejit: values, gradients, second gradients."""
