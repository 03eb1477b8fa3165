import RunnelBase
import RunnelSync
import RunnelTree

/// The limits of operations on a tree.
public struct ServedTreeLimits: Hashable, Sendable {
  /// The greatest depth of a written place, in levels.
  public var depthMax = TreeLimits.depthMax
  /// The most steps of a decision of the rules.
  public var rulesStepsMax = RulesLimits.stepsMax
  /// The most bytes of a collection, or a record, that a call of a service reads.
  public var serviceReadBytesMax = 16_777_216

  /// Makes the default limits.
  public init() {}
}

/// A limit of operations on a tree that was reached, by its name for people.
enum TreeLimit: String, Hashable, Sendable, CaseIterable {
  /// `depthMax`.
  case depth = "max-depth"
  /// `rulesStepsMax`.
  case rulesSteps = "max-rules-steps"
  /// `serviceReadBytesMax`.
  case serviceRead = "max-service-read"
}

extension Write {
  /// The greatest depth of a place that the write sets, in levels, or an upper bound of it.
  ///
  /// O(n) in the written values.
  var levelCount: Int {
    switch self {
    case .set(let path, let json): path.keys.count + json.levelCount
    case .update(let path, let members):
      path.keys.count
        + (members.map { $0.name.split(separator: "/").count + $0.value.levelCount }.max() ?? 0)
    // Clients do not request these.
    case .copy, .move: 0
    }
  }
}

extension JSONValue {
  /// The levels below a value; a name that begins with a point adds none.
  fileprivate var levelCount: Int {
    switch self {
    case .null, .bool, .number, .string: 0
    case .array(let elements): elements.isEmpty ? 0 : 1 + (elements.map(\.levelCount).max() ?? 0)
    case .object(let members):
      members.map { ($0.name.hasPrefix(".") ? 0 : 1) + $0.value.levelCount }.max() ?? 0
    }
  }
}
