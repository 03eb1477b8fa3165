/// The number of rows of a list that are shown, counted from one of its ends.
public struct RowLimit: Hashable, Sendable {
  /// The number of rows; a negative number counts as 0.
  public var count: Int { didSet { count = max(count, 0) } }
  /// The end at which the shown rows stand.
  public var end: ListEnd

  /// Makes a limit to `count` rows at an end; a negative number counts as 0.
  public init(_ count: Int, at end: ListEnd = .start) {
    self.count = max(count, 0)
    self.end = end
  }

  /// The range that is shown of `count` rows.
  func range(of rowCount: Int) -> Range<Int> {
    switch end {
    case .start: 0..<min(count, rowCount)
    case .end: max(0, rowCount - count)..<rowCount
    }
  }
}

extension RowLimit: ExpressibleByIntegerLiteral {
  /// Makes a limit to the first rows.
  public init(integerLiteral count: Int) { self.init(count) }
}
