"""Which device calls run on: the current one of the driver, or the simulator's."""

from __future__ import annotations

import functools

from tracejit.runtime.cuda.driver import Driver
from tracejit.runtime.cuda.resources import Device

__all__ = ["current_device"]


def current_device() -> Device:
    """Return the device that calls of this thread run on.

    Raises `DeviceError` where there is no driver or no device.
    """
    from tracejit.codegen.cuda.functions import IS_SIMULATED

    if IS_SIMULATED:
        from tracejit.runtime.cuda.simulator import SIMULATED

        return SIMULATED
    return _driver().current()


@functools.cache
def _driver() -> Driver:
    from cuda.bindings import driver

    return Driver(driver)
