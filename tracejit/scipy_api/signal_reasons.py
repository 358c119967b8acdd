"""Why functions of `scipy.signal` are not captured."""

from __future__ import annotations

from tracejit.trace.ground.reasons import KNOWN_NUMBERS, TEXT, WhyNot, not_captured

__all__: list[str] = []

ORDERS = WhyNot("data would decide the order of a filter, which says how many coefficients it has",
                "Call it on constants, and design the filter of this order with traced frequencies",
                plain=True)
PLACES = WhyNot("data would decide how many places it finds",
                "Find them outside, and take the signal at them with x[places]", plain=True)
SYSTEMS = WhyNot("it makes an object that holds a system",
                 "Pass the tuple of the system's arrays to the functions of scipy.signal",
                 plain=True)

not_captured("scipy.signal", {
    KNOWN_NUMBERS: "besselap buttap check_COLA check_NOLA firwin_2d get_window max_len_seq "
                   "savgol_coeffs unit_impulse",
    TEXT: "choose_conv_method",
    ORDERS: "band_stop_obj buttord cheb1ord cheb2ord ellipord iirdesign kaiserord",
    PLACES: "argrelextrema argrelmax argrelmin find_peaks find_peaks_cwt",
    WhyNot("data would decide which roots it takes for one, and so how many there are",
           "Count them outside, or leave equal ones as they are", plain=True): "unique_roots",
    SYSTEMS: "dlti lti StateSpace TransferFunction ZerosPolesGain",
    WhyNot("it makes an object that holds a transform", "Use scipy.signal.czt or zoom_fft",
           plain=True): "CZT ZoomFFT",
    WhyNot("it makes an object that holds a transform and how to undo it",
           "Use scipy.signal.stft, istft or spectrogram", plain=True): "ShortTimeFFT",
    WhyNot("windows that undo each other's transforms are constants of a program",
           "Call it on constants", plain=True): "closest_STFT_dual_window",
    WhyNot("its equation of degrees is solved by Landen's steps, as many as the ripples say",
           "Pass ripples that are constants", plain=True): "ellipap",
    WhyNot("it exchanges the places of greatest errors until none changes, of which data would "
           "decide where they are", "Use scipy.signal.firls", plain=True): "remez",
    WhyNot("of the many gains that place the poles it returns where an iteration stops, which is "
           "no function of the poles alone",
           "Use scipy.linalg.solve_continuous_are for a gain", plain=True): "place_poles",
})
