import RunnelTree

/// A section made by one of several rules, for one value.
///
/// It is declared here and not beside the rules, so that the compiler specializes partitions for
/// it.
package struct RuleSection: Hashable, Sendable, Comparable {
  /// The index of the rule; the number of rules for rows that match none.
  package var rule: Int
  /// The position among the sections of one rule.
  package var rank: Int
  /// The value that the section stands for, as text.
  package var value: String

  /// Makes a section.
  package init(rule: Int, rank: Int = 0, value: String) {
    self.rule = rule
    self.rank = rank
    self.value = value
  }

  /// Orders by rule, by rank, and by value in the order of the tree's keys.
  package static func < (left: RuleSection, right: RuleSection) -> Bool {
    if left.rule != right.rule { return left.rule < right.rule }
    if left.rank != right.rank { return left.rank < right.rank }
    return left.value.isOrderedBefore(right.value)
  }
}
