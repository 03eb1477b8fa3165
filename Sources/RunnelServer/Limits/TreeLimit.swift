import RunnelBase
import RunnelSync
import RunnelTree

/// The limits of what is done with a tree.
public struct ServedTreeLimits: Hashable, Sendable {
  /// The most levels of a place that is written.
  public var depthMax = TreeLimits.depthMax
  /// The most steps of a decision of the rules.
  public var rulesStepsMax = RulesLimits.stepsMax

  /// Makes the limits that hold unless others are chosen.
  public init() {}
}

/// A limit of what is done with a tree that was reached, by its name for people.
enum TreeLimit: String, Hashable, Sendable, CaseIterable {
  /// `depthMax`.
  case depth = "max-depth"
  /// `rulesStepsMax`.
  case rulesSteps = "max-rules-steps"
}

extension Write {
  /// The most levels of a place that it writes, at least as many as there are.
  ///
  /// O(n) in what is written.
  var levelCount: Int {
    switch self {
    case .set(let path, let json): path.keys.count + json.levelCount
    case .update(let path, let members):
      path.keys.count
        + (members.map { $0.name.split(separator: "/").count + $0.value.levelCount }.max() ?? 0)
    // No client asks for these.
    case .copy, .move: 0
    }
  }
}

extension JSONValue {
  /// The levels of places below a value; what begins with a point is none of its own.
  fileprivate var levelCount: Int {
    switch self {
    case .null, .bool, .number, .string: 0
    case .array(let elements): elements.isEmpty ? 0 : 1 + (elements.map(\.levelCount).max() ?? 0)
    case .object(let members):
      members.map { ($0.name.hasPrefix(".") ? 0 : 1) + $0.value.levelCount }.max() ?? 0
    }
  }
}
