"""The contents of names and containers, as trees and runs, and who else holds them."""
