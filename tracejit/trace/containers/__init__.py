"""What names and containers hold, as trees and runs, and who else holds it."""
