"""The hooks that rewritten code calls: Python on plain values, regions on traced ones."""
