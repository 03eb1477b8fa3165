import RunnelSync

/// The limits of a tree's callers, and the counters of reached limits.
struct TreeAllowance: Sendable {
  let limits: ServedTreeLimits
  /// The most bytes of one read; administrators have no limit.
  let readBytesMax: Int
  let metrics: ServerMetrics

  /// The rules with the limit of steps for a decision.
  func bounded(_ rules: RulesEngine) -> RulesEngine {
    var rules = rules
    rules.stepsMax = limits.rulesStepsMax
    return rules
  }

  /// Counts a caller that reached a limit.
  func reached(_ limit: TreeLimit) { metrics.reached(limit) }

  /// Counts a caller that reached a limit of requests.
  func reached(_ limit: RESTLimit) { metrics.reached(limit) }
}
