/// A value that is never shown: it has no text and no JSON, and reflection does not find it.
///
/// Passwords and tokens are put into actions and states only as secrets. The text of a secret, or
/// of a value that holds one, has `<secret>` in its place. An action that holds a secret is
/// withheld from action logs, whatever its `json()` returns (`LoggedAction.init`).
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

/// The mark of secrets of every type.
private protocol Hidden {}

extension Secret: Hidden {}

/// True if a value is a secret or holds one that reflection can find.
///
/// O(n) in the values it holds. A value that is nested too deeply counts as a secret.
func holdsSecret(_ value: Any, depth: Int = 0) -> Bool {
  if value is any Hidden || depth > ActionLogLimits.depthMax { return true }
  return Mirror(reflecting: value).children.contains {
    holdsSecret($0.value, depth: depth + 1)
  }
}
