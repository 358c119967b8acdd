"""Which device calls run on: the current one of the driver, or the simulator's."""

from __future__ import annotations

import functools

from tracejit.program.cuda.driver import Driver
from tracejit.program.cuda.images import is_simulated
from tracejit.program.cuda.resources import Device
from tracejit.program.cuda.simulator import Simulator

__all__ = ["current_device"]


def current_device() -> Device:
    """Return the device that calls of this thread run on.

    Raises `DeviceError` where there is no driver or no device.
    """
    return _driver().current()


@functools.cache
def _driver() -> Driver | Simulator:
    if is_simulated():
        return Simulator()
    from cuda.bindings import driver

    return Driver(driver)
