/// A section of a partition, whatever its rows are.
class PartitionPlace {
  /// Where the section is shown; nil if it is not.
  final var index: Int?
  /// Where rows of the section are gathered while a change is worked out; else nil.
  final var slot: Int?
}

/// A section of a partition with all its rows, shown or not.
final class PartitionSection<Item: KeyedItem, Section: Comparable & Hashable>: PartitionPlace {
  /// What the section stands for.
  let key: Section
  /// What it is known by.
  let id: String
  /// The rows, in the order of the source.
  var rows = ShownRows<Item>(by: RowOrder())

  init(key: Section, id: String) {
    self.key = key
    self.id = id
  }

  /// How many rows belong to it.
  var totalCount: Int { rows.list.all.count }

  /// A place that is known to be a section of such a partition; a debug build checks it.
  static func of(_ place: PartitionPlace) -> PartitionSection {
    unsafeDowncast(place, to: PartitionSection.self)
  }
}

/// A row of a partition's source; its label says where it stands among the others.
final class PartitionRow<Item: KeyedItem>: RowBox<Item> {
  /// The section that the row is in, which holds its rows; nil if it is in none.
  unowned let place: PartitionPlace?

  init(_ item: Item, in place: PartitionPlace?) {
    self.place = place
    super.init(item)
  }

  /// A row of a list that holds only such rows; a debug build checks it.
  static func row(_ row: RowObject) -> PartitionRow { unsafeDowncast(row, to: PartitionRow.self) }
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
