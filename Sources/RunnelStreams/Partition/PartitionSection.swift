/// A section of a partition, independent of the types of its rows.
class PartitionPlace {
  /// The index at which the section is shown; nil if it is not.
  final var index: Int?
  /// The index at which rows of the section are collected while a change is computed; otherwise
  /// nil.
  final var slot: Int?
}

/// A section of a partition with all its rows, shown or not.
final class PartitionSection<Item: StreamItem, Section: Comparable & Hashable>: PartitionPlace {
  /// The value that the section stands for.
  let key: Section
  /// The id of the section.
  let id: String
  /// The rows, in the order of the source.
  var rows = ShownRows<Item>(by: RowOrder())

  init(key: Section, id: String) {
    self.key = key
    self.id = id
  }

  /// The number of rows in the section, shown or not.
  var totalCount: Int { rows.list.all.count }

  /// Casts a place to a section of such a partition; a debug build checks the type.
  static func of(_ place: PartitionPlace) -> PartitionSection {
    unsafeDowncast(place, to: PartitionSection.self)
  }
}

/// A row of a partition's source; its label gives its place among the others.
final class PartitionRow<Item: StreamItem>: RowBox<Item> {
  /// The section that holds the row; nil if the row is in none.
  unowned let place: PartitionPlace?

  init(_ item: Item, in place: PartitionPlace?) {
    self.place = place
    super.init(item)
  }

  /// Casts a row of a list that holds only such rows; a debug build checks the type.
  static func row(_ row: RowObject) -> PartitionRow { unsafeDowncast(row, to: PartitionRow.self) }
}

/// A section that is valid until a certain time.
public struct TimedSection<Section> {
  /// The value that the section stands for.
  public var section: Section
  /// The time at which the rule must be asked again about the row, in milliseconds since 1970; nil
  /// for never.
  ///
  /// A rule names a time after the one that it was given; another one asks for no call of its own.
  public var until: Int64?

  /// Makes a section that is valid until a time.
  public init(_ section: Section, until: Int64? = nil) {
    self.section = section
    self.until = until
  }
}

extension TimedSection: Sendable where Section: Sendable {}
