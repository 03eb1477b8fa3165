import Synchronization

/// What happens in a world, line by line, for whoever looks for the cause of a failure.
package enum SimulationTrace {
  private static let state = Atomic<Bool>(false)

  /// True if lines are printed.
  package static var isOn: Bool {
    get { state.load(ordering: .relaxed) }
    set { state.store(newValue, ordering: .relaxed) }
  }

  /// Prints a line.
  static func note(_ line: @autoclosure () -> String) {
    if isOn { print(line()) }
  }
}
