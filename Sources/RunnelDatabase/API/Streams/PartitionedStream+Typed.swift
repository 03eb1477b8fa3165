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
  ///   - isDescending: whether the sections are in the opposite order.
  public convenience init<Value: Decodable & Sendable>(
    _ source: any SectionedStream<DecodedRecord<Value>>, by field: RowField,
    isDescending: Bool = false
  ) where Item == DecodedRecord<Value> {
    self.init(source, isDescending: isDescending, sectionID: \.id) { row in
      FieldSection(of: row.record, by: field)
    }
    setTitles { $0.text }
  }

  /// Makes a partition of typed rows by a field that is given as text: `team`, `author/name`.
  ///
  /// - Throws: `TreeError`, as `RowField`, if there is no such field.
  public convenience init<Value: Decodable & Sendable>(
    _ source: any SectionedStream<DecodedRecord<Value>>, by field: String,
    isDescending: Bool = false
  ) throws(TreeError) where Item == DecodedRecord<Value> {
    self.init(source, by: try RowField(field), isDescending: isDescending)
  }
}

extension PartitionedStream where Section == DaySection {
  /// Makes a partition by the day of a date, the earliest first; rows without one come last.
  ///
  /// For the newest day first, `isDescending`; rows without a date then come first.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - date: returns the date of a row.
  ///   - zone: the zone whose days are meant.
  ///   - isDescending: whether the sections are in the opposite order.
  public convenience init(
    _ source: any SectionedStream<Item>, byDayOf date: @escaping (Item) -> Date?,
    in zone: TimeZone = .current, isDescending: Bool = false
  ) {
    self.init(
      source,
      byDayOf: { item in
        date(item).flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.down)) }
      },
      isDescending: isDescending,
      offsetSeconds: { milliseconds in
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
      })
  }
}
