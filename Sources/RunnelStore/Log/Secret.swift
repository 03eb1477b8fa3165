/// A value that is never shown: it has no text, no JSON, and nothing that reflection finds.
///
/// Passwords and tokens travel in actions and states as secrets only. A text that is made of one, or of
/// what holds one, says `<secret>`; an action that holds one is written to no action log, whatever it
/// says of itself (`ActionLogEntry.init`).
public struct Secret<Value: Sendable>: Sendable {
  private let value: @Sendable () -> Value

  /// Hides a value.
  public init(_ value: Value) { self.value = { value } }

  /// The value, for the one place that uses it.
  public func reveal() -> Value { value() }
}

extension Secret: Equatable where Value: Equatable {
  /// True if the hidden values are equal.
  public static func == (left: Secret, right: Secret) -> Bool {
    left.reveal() == right.reveal()
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<secret>`.
  public var description: String { "<secret>" }
  /// Always `<secret>`.
  public var debugDescription: String { "<secret>" }
  /// A mirror that shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What tells secrets of every type from other values.
private protocol Hidden {}

extension Secret: Hidden {}

/// True if a value is a secret or holds one, as far as reflection sees.
///
/// O(n) in what it holds. What lies deeper than any value should is taken for a secret.
func holdsSecret(_ value: Any, depth: Int = 0) -> Bool {
  if value is any Hidden || depth > ActionLogLimits.depthMax { return true }
  return Mirror(reflecting: value).children.contains {
    holdsSecret($0.value, depth: depth + 1)
  }
}
