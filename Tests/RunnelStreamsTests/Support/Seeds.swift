import Foundation

/// Seeds of random stories: so many, or `RUNNEL_SEEDS` if that asks for more.
func seeds(_ count: UInt64) -> Range<UInt64> {
  0..<max(count, ProcessInfo.processInfo.environment["RUNNEL_SEEDS"].flatMap(UInt64.init) ?? 0)
}
