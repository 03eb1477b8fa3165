extension Filter {
  /// Returns the text of the filter without the terms that a further one takes the place of: those with which
  /// no row would fit both, other values of its field, and the term itself.
  ///
  /// `added` is a filter of one term, made from a value of a row. O(terms + characters).
  func text(withoutTermsReplacedBy added: Filter) -> String {
    guard let new = added.terms.first else { return text }
    let characters = Array(text)
    let kept = terms.filter { !$0.isReplaced(by: new) }
    return kept.map { String(characters[$0.range]) }.joined(separator: " ")
  }
}

extension Filter.Term {
  /// Whether another term takes the place of this one.
  fileprivate func isReplaced(by new: Filter.Term) -> Bool {
    switch (test, new.test) {
    case (.isOne(let field, let values), .isOne(let other, let wanted)):
      // Of several values that are hidden each stays hidden; a value that is shown is the only one.
      let areShown = !isNegated && !new.isNegated
      let areAlike = Set(values.map(\.meaning)) == Set(wanted.map(\.meaning))
      return field == other && (areShown || areAlike)
    case (.has(let field), .has(let other)): return field == other
    default: return false
    }
  }
}

extension FilterValue {
  /// What tells the value from others, however it was written.
  fileprivate var meaning: String {
    moments.map { "\($0.start) \($0.end)" } ?? text.lowercased()
  }
}
