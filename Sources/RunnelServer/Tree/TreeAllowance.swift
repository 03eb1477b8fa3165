import RunnelSync

/// What callers may use of a tree, and where it is counted that they wanted more.
struct TreeAllowance: Sendable {
  let limits: ServedTreeLimits
  /// The most bytes of one read, but for administrators'.
  let readBytesMax: Int
  let metrics: ServerMetrics

  /// The same rules, whose decisions take so many steps at most.
  func bounded(_ rules: RulesEngine) -> RulesEngine {
    var rules = rules
    rules.stepsMax = limits.rulesStepsMax
    return rules
  }

  /// A caller reached a limit.
  func reached(_ limit: TreeLimit) { metrics.reached(limit) }

  /// A caller reached a limit of requests.
  func reached(_ limit: RESTLimit) { metrics.reached(limit) }
}
