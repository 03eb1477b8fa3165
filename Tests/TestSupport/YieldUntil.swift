/// A wait in a test that did not end.
package struct StillWaiting: Error {
  package init() {}
}

/// Waits until something holds of which no event tells; others get their turn between two looks.
///
/// The bound is one of steps, because a busy machine makes them slower. It is far beyond what a test
/// needs: without it a test that fails would never end, also not at its time limit.
///
/// - Parameters:
///   - stepsMax: the number of looks; fewer if one takes long.
///   - holds: is asked at each step.
/// - Throws: `StillWaiting` if it never held.
package func yieldUntil(
  stepsMax: Int = 20_000_000, _ holds: () async throws -> Bool
) async throws {
  for _ in 0..<stepsMax {
    if try await holds() { return }
    await Task.yield()
  }
  throw StillWaiting()
}
