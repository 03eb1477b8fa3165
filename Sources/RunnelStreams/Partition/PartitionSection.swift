/// A section of a partition with all its rows, shown or not.
final class PartitionSection<Item: KeyedItem, Section: Comparable & Hashable> {
  typealias Place = SourceOrder<PartitionSection, Item>.Place
  typealias Entry = RowEntry<Place, Item>

  /// What the section stands for.
  let key: Section
  /// What it is known by.
  let id: String
  /// The rows, in the order of the source.
  var rows = ShownRows<Place, Item> { $0.label < $1.label }
  /// Where the section is shown; nil if it is not.
  var index: Int?

  init(key: Section, id: String) {
    self.key = key
    self.id = id
  }

  /// How many rows belong to it.
  var totalCount: Int { rows.all.count }
}

/// A section that is right for a while.
public struct TimedSection<Section> {
  /// What the section stands for.
  public var section: Section
  /// When the row has to be asked about again, in milliseconds since 1970; nil if never.
  public var until: Int64?

  /// Makes a section that is right until a time.
  public init(_ section: Section, until: Int64? = nil) {
    self.section = section
    self.until = until
  }
}

extension TimedSection: Sendable where Section: Sendable {}
