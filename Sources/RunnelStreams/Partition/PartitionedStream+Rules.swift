import RunnelBase
public import RunnelTree

extension PartitionedStream where Section == Int {
  /// Makes a partition into sections with these titles, which are shown even if they are empty.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - titles: the titles, in order.
  ///   - partition: returns the index of a row's title; a row for which it returns nil, or no valid
  ///     index, is not shown.
  public convenience init(
    _ source: any SectionedStream<Item>, titles: [String], partition: @escaping (Item) -> Int?
  ) {
    self.init(source, fixed: Array(titles.indices), sectionID: { "\($0)" }) { item in
      partition(item).flatMap { titles.indices.contains($0) ? $0 : nil }
    }
    setTitles { titles[$0] }
  }
}

extension PartitionedStream where Section == String {
  /// Makes a partition into sections that are named by texts; the texts are also their titles.
  ///
  /// Sections stand in the order of their texts.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - fixed: sections that are shown even if they are empty.
  ///   - isDescending: whether the sections are in the opposite order.
  ///   - partition: returns the text of a row's section; nil for a row that is not shown, so give
  ///     rows without a text, or with an error, a section if they are to be seen.
  public convenience init(
    _ source: any SectionedStream<Item>, fixed: [String] = [], isDescending: Bool = false,
    partition: @escaping (Item) -> String?
  ) {
    self.init(
      source, fixed: fixed, isDescending: isDescending, sectionID: { $0 }, partition: partition)
    setTitles { $0 }
  }
}

extension PartitionedStream where Section == FieldSection, Item == Record {
  /// Makes a partition of records by the value of a field; records without it come first.
  ///
  /// Sections stand in the tree's order of their values.
  ///
  /// - Parameters:
  ///   - source: the stream; its rows must be read in full, since rows with only a summary count as
  ///     having no value.
  ///   - field: the field.
  ///   - isDescending: whether the sections are in the opposite order.
  public convenience init(
    _ source: any SectionedStream<Record>, by field: RowField, isDescending: Bool = false
  ) {
    self.init(source, isDescending: isDescending, sectionID: \.id) { record in
      FieldSection(of: record, by: field)
    }
    setTitles { $0.text }
  }

  /// Makes a partition of records by the value of a field, given as text: `team`, `author/name`.
  ///
  /// - Throws: `TreeError`, as `RowField`, if there is no such field.
  public convenience init(
    _ source: any SectionedStream<Record>, by field: String, isDescending: Bool = false
  ) throws(TreeError) {
    self.init(source, by: try RowField(field), isDescending: isDescending)
  }
}

extension PartitionedStream where Section == DaySection {
  /// Makes a partition by the day of a time, the earliest first; rows without one come last.
  ///
  /// For the newest day first, `isDescending`; rows without a time then come first.
  ///
  /// - Parameters:
  ///   - source: the stream.
  ///   - time: returns the time of a row, in milliseconds since 1970.
  ///   - isDescending: whether the sections are in the opposite order.
  ///   - offsetSeconds: returns how far the clocks of the zone are ahead of UTC, at a time in
  ///     milliseconds since 1970.
  public convenience init(
    _ source: any SectionedStream<Item>, byDayOf time: @escaping (Item) -> Int64?,
    isDescending: Bool = false, offsetSeconds: @escaping (_ milliseconds: Int64) -> Int
  ) {
    self.init(source, isDescending: isDescending, sectionID: \.id) { item in
      DaySection(milliseconds: time(item), offsetSeconds: offsetSeconds)
    }
    setTitles { $0.text }
  }
}

/// A section of records with the same value in a field.
public struct FieldSection: Hashable, Sendable {
  /// The value of the field, which the tree can order.
  public let value: IndexValue

  /// Makes the section of a value.
  public init(_ value: IndexValue) { self.value = value }

  /// Makes the section of the records whose field is a text.
  public init(_ text: String) { value = .leaf(.string(text)) }

  /// Makes the section of the records whose field is a whole number.
  public init(_ number: Int) { value = .leaf(.number(JSONNumber(Int64(number)))) }

  /// Makes the section of the records whose field is `true` or `false`.
  public init(_ bool: Bool) { value = .leaf(.bool(bool)) }

  /// The section of the records that have no value in the field.
  public static let withoutValue = FieldSection(IndexValue.null)

  /// The section of a record.
  package init(of record: Record, by field: RowField) {
    let child = Child(key: record.row.key, node: record.row.node ?? .empty)
    self.init(field.value(of: child))
  }

  /// The id of the section: the value as JSON.
  package var id: String {
    switch value {
    case .null: "null"
    case .leaf(let leaf): leaf.json.jsonText()
    case .children: "{}"
    case .tuple(let tuple): "\(tuple)"
    }
  }

  /// The value for a person to read; nil if there is none.
  public var text: String? {
    switch value {
    case .leaf(.string(let text)): text
    case .leaf: id
    case .null, .children, .tuple: nil
    }
  }
}

extension FieldSection: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  /// Makes the section of a text.
  public init(stringLiteral text: String) { self.init(text) }

  /// Makes the section of a whole number.
  public init(integerLiteral number: Int) { self.init(number) }

  /// Makes the section of `true` or `false`.
  public init(booleanLiteral bool: Bool) { self.init(bool) }
}

extension FieldSection: Comparable {
  /// The tree's order of values.
  public static func < (left: FieldSection, right: FieldSection) -> Bool {
    left.value < right.value
  }
}

/// A section of rows of one day.
public struct DaySection: Hashable, Sendable {
  /// The farthest time that has a day of its own, in milliseconds, since any number in the data may
  /// be taken for a time.
  private static let millisecondsMax: Int64 = 200_000 * 365 * 86_400_000

  /// The farthest day that has a section of its own: no zone shows a later one for that time.
  private static let dayNumberMax = Int(millisecondsMax / 86_400_000) + 1

  /// The day, counted from 1970-01-01, which is 0; nil for rows without a time.
  public let dayNumber: Int?

  /// The section of a day, counted from 1970-01-01; nil for that of rows without a time.
  ///
  /// Days more than 73,000,001 days away, about 200,000 years, are that farthest day.
  public init(dayNumber: Int?) {
    let farthest = DaySection.dayNumberMax
    self.dayNumber = dayNumber.map { min(max($0, -farthest), farthest) }
  }

  /// The section of a time in milliseconds since 1970, in a zone whose clocks are so far ahead of
  /// UTC.
  public init(milliseconds: Int64?, offsetSeconds: (_ milliseconds: Int64) -> Int) {
    dayNumber = milliseconds.map { time in
      let near = min(max(time, -DaySection.millisecondsMax), DaySection.millisecondsMax)
      return CivilTime(milliseconds: near, offsetSeconds: offsetSeconds(near)).dayNumber
    }
  }

  /// The id of the section: the date in ISO 8601.
  var id: String { dayNumber.map { CivilTime(dayNumber: $0).dateText } ?? "" }

  /// The date for a person to read; nil for rows without a time.
  public var text: String? { dayNumber.map { CivilTime(dayNumber: $0).longDateText } }
}

extension DaySection: Comparable {
  /// Orders by day; rows without a time come last.
  public static func < (left: DaySection, right: DaySection) -> Bool {
    (left.dayNumber ?? .max) < (right.dayNumber ?? .max)
  }
}
