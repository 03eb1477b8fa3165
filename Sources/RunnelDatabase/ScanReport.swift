import RunnelTree

/// What a query cost: how many children were read for those that are shown.
public struct ScanReport: Hashable, Sendable {
  /// By which way the children were read.
  public enum Way: Hashable, Sendable {
    /// Along the order of keys, in which they are stored.
    case keys
    /// Along a declared index.
    case index(IndexDefinition)
    /// All of them, to be sorted, for nothing keeps this order.
    case scan
    /// All of them, out of the one row that holds the place.
    case record
  }

  /// By which way.
  public var way: Way
  /// How many children were read.
  public var scannedCount: Int
  /// How many of them are in the answer.
  public var shownCount: Int
  /// Which index would spare the reading; nil if none would, or it was little.
  public var advice: IndexAdvice?
}

extension ScanReport: CustomStringConvertible {
  /// The numbers and the way, as a line of text.
  public var description: String {
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

/// An index that a query, or a listener, could have used, had it been declared.
///
/// It is given where a part of an order, by bounds or a limit, was found by reading `scannedCountMin`
/// children or more. For all of an order every child is read anyway.
public struct IndexAdvice: Hashable, Sendable {
  /// How many children are read before an index is advised.
  public static let scannedCountMin = 1000

  /// The index to declare.
  public var definition: IndexDefinition
  /// How many children were read.
  public var scannedCount: Int

  /// Makes an advice.
  public init(definition: IndexDefinition, scannedCount: Int) {
    self.definition = definition
    self.scannedCount = scannedCount
  }

  /// The advice for a place whose children were all read; nil if they were few, or if no index
  /// helps.
  init?(for slice: RowSlice, at path: Path, scannedCount: Int) {
    let isPart = slice.start != nil || slice.end != nil || slice.limit != nil
    guard isPart, scannedCount >= IndexAdvice.scannedCountMin,
      let definition = IndexDefinition(pattern: path.description, serving: slice.index)
    else { return nil }
    self.init(definition: definition, scannedCount: scannedCount)
  }
}

/// The advice that the reads of one connection gave, each index once, with the most children read.
///
/// Used by the thread of the connection.
final class AdviceLog {
  /// How many indexes are remembered; what others would be is not.
  private static let countMax = 64

  private var advice: [IndexAdvice] = []

  func note(_ new: IndexAdvice) {
    if let index = advice.firstIndex(where: { $0.definition == new.definition }) {
      advice[index].scannedCount = max(advice[index].scannedCount, new.scannedCount)
    } else if advice.count < AdviceLog.countMax {
      advice.append(new)
    }
  }

  /// What was noted since the last time, in the order in which it came up.
  func take() -> [IndexAdvice] {
    defer { advice = [] }
    return advice
  }
}
