public import RunnelTree

/// An entry of an index, with the record elsewhere that it names.
public struct IndexedRecord: KeyedItem, Hashable, Sendable {
  /// What is known of the record.
  public enum Target: Hashable, Sendable {
    /// It is on its way.
    case loading
    /// This is it.
    case found(Node)
    /// Nothing stands where it is said to be.
    case missing
    /// It could not be read, for this reason.
    case failed(String)
    /// The entry names no place.
    case unnamed
  }

  /// The entry.
  public var entry: Record
  /// Where the record is said to be; nil if the entry names no place.
  public var path: Path?
  /// What is known of it.
  public var target: Target

  /// The identity of the entry: two entries may name one record.
  public var key: String { entry.key }

  /// The record; nil unless it was found.
  public var node: Node? {
    if case .found(let node) = target { node } else { nil }
  }
}
