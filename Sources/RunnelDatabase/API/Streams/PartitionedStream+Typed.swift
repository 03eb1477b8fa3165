public import Foundation
public import RunnelStreams
public import RunnelTree

// Partitions of typed rows, by a field of the stored record and by days of dates.

extension PartitionedStream where Section == FieldSection {
  /// Makes a partition of typed rows by the stored value of a field; rows without it come first.
  ///
  /// A row that does not fit the type is in the section of its field like the others.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - field: the field.
  public convenience init<Value: Decodable & Sendable>(
    _ source: any SectionedStream<DecodedRecord<Value>>, by field: RowField
  ) where Item == DecodedRecord<Value> {
    self.init(source, sectionID: \.id) { FieldSection(of: $0.record, by: field) }
    setTitles { $0.text }
  }

  /// Makes a partition of typed rows by a field that is given as text: `team`, `author/name`.
  ///
  /// - Throws: `TreeError`, as `RowField`, if there is no such field.
  public convenience init<Value: Decodable & Sendable>(
    _ source: any SectionedStream<DecodedRecord<Value>>, by field: String
  ) throws(TreeError) where Item == DecodedRecord<Value> {
    self.init(source, by: try RowField(field))
  }
}

extension PartitionedStream where Section == DaySection {
  /// Makes a partition by the day of a date; rows without one come last.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - date: returns the date of a row.
  ///   - zone: the zone whose days are meant.
  public convenience init(
    _ source: any SectionedStream<Item>, byDayOf date: @escaping (Item) -> Date?,
    in zone: TimeZone = .current
  ) {
    self.init(
      source,
      byDayOf: { item in
        date(item).flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.down)) }
      },
      offsetSeconds: { milliseconds in
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
      })
  }
}
