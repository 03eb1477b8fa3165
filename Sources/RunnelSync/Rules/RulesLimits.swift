import RunnelBase

/// The limits of rules: exceeding one is a reported mistake, or a refused decision.
package enum RulesLimits {
  /// The most bytes of a rules file.
  package static let fileBytesMax = 1 << 20
  /// The most bytes of one expression.
  package static let expressionBytesMax = 1 << 16
  /// The greatest depth of an expression: each operator, call and bracket is a level above its
  /// operands.
  ///
  /// The operands of one chain of `&&` or of `||` are all on one level.
  package static let expressionDepthMax = 100
  /// The most mistakes that are reported for one file.
  package static let mistakesMax = 100
  /// The most states of a regular expression: one for each character that it matches, with
  /// repetitions written out.
  package static let patternStatesMax = RegularExpression.statesMax
  /// The most steps of a decision, unless the caller gives another number.
  ///
  /// A step is roughly an operator of an expression, 64 characters of a text, or a row that is
  /// read.
  package static let stepsMax = 5_000_000
  /// The additional steps that a decision may take for each child that is written and validated, so
  /// that the limit does not refuse a write for its size alone.
  package static let stepsPerChild = 32
}
