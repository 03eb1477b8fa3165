/// The cost of a query: how many children were read for those that are shown.
package struct ScanReport: Hashable, Sendable {
  /// The way in which the children were read.
  package enum Way: Hashable, Sendable {
    /// Along the order of keys, in which they are stored.
    case keys
    /// Along a declared index.
    case index(IndexDefinition)
    /// All of them, and then sorted, since no index keeps this order.
    case scan
    /// All of them, from the single record that contains the place.
    case record
  }

  /// The way.
  package var way: Way
  /// The number of children that were read.
  package var scannedCount: Int
  /// The number of children in the result.
  package var shownCount: Int
  /// The index that would make the query faster; nil if none would, or if few children were read.
  package var advice: IndexAdvice?

  package init(way: Way, scannedCount: Int, shownCount: Int, advice: IndexAdvice? = nil) {
    self.way = way
    self.scannedCount = scannedCount
    self.shownCount = shownCount
    self.advice = advice
  }
}

extension ScanReport: CustomStringConvertible {
  /// The numbers and the way, as a line of text.
  package var description: String {
    let words =
      switch way {
      case .keys: "in the order of keys"
      case .index(let definition): "by the index \(definition.pattern) \(definition.order)"
      case .scan: "without an index"
      case .record: "within one record"
      }
    return "scanned \(scannedCount), shown \(shownCount), \(words)"
  }
}

/// An index that a query, or a listener, could have used if it had been declared.
///
/// It is advised if a part of an order, given by bounds or a limit, was found by reading at least
/// `scannedCountMin` children. A query for the whole order reads every child anyway.
public struct IndexAdvice: Hashable, Sendable {
  /// The number of children read from which an index is advised.
  public static let scannedCountMin = 1000

  /// The index to declare.
  public var definition: IndexDefinition
  /// The number of children that were read.
  public var scannedCount: Int

  /// Makes an advice.
  public init(definition: IndexDefinition, scannedCount: Int) {
    self.definition = definition
    self.scannedCount = scannedCount
  }

  /// The advice for a place whose children were all read; nil if they were few, or if no index
  /// helps.
  package init?(for slice: RowSlice, at path: Path, scannedCount: Int) {
    let isPart = slice.start != nil || slice.end != nil || slice.limit != nil
    guard isPart, scannedCount >= IndexAdvice.scannedCountMin,
      let definition = IndexDefinition(pattern: path.description, serving: slice.index)
    else { return nil }
    self.init(definition: definition, scannedCount: scannedCount)
  }
}
