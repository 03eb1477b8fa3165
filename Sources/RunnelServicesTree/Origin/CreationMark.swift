package import RunnelBase
import RunnelServices

/// The newest record of a service at a time, by which the records that were created later are told from those
/// that existed.
///
/// The ids of some servers grow, or begin with a time; other records say when they were created.
///
/// Source: services protocol, section 11.5.
package struct CreationMark: Hashable, Sendable {
  /// When a record was created, as seen from the mark.
  enum Moment { case before, after, unclear }

  /// The field whose values grow with each new record.
  package var field: String
  /// The greatest value of the field; nil if there was no record.
  package var value: JSONValue?

  /// The fields that may say when a record was created.
  private static let timeFields = ["createdAt", "created_at"]

  /// The field whose values grow with each new record, as one of the records shows; nil if there is none.
  static func field(of record: JSONValue, idField: String) -> String? {
    switch record[idField] {
    case .number?: return idField
    case .string(let text)? where isTimedID(text): return idField
    default: break
    }
    return timeFields.first { name in
      switch record[name] {
      case .number?: true
      case .string(let text)?: isTime(text)
      default: false
      }
    }
  }

  /// True for an id of 12 bytes in hexadecimal digits, the first of which tell the second.
  private static func isTimedID(_ text: String) -> Bool {
    text.utf8.count == 24
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
      }
  }

  /// True for a time as programs write it in UTC, so that later ones are greater texts.
  private static func isTime(_ text: String) -> Bool {
    text.utf8.count >= 20 && text.hasSuffix("Z") && text.utf8.dropFirst(10).first == 0x54
  }

  /// Tells whether a record was created before the mark was made, or after it.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - sent: the data of the record that was sent; a time that the sender chose does not tell what is older.
  /// - Returns: the moment; unclear if the record does not tell.
  func moment(of record: JSONValue, sent: JSONValue) -> Moment {
    guard let value else { return .after }
    guard let other = record[field], let order = CreationMark.compare(other, value) else {
      return .unclear
    }
    if order > 0 { return .after }
    if sent[field] != nil { return .unclear }
    // Ids are given once; within the same second there may be several.
    let isID = if case .number = other { !CreationMark.timeFields.contains(field) } else { false }
    return order < 0 || isID ? .before : .unclear
  }

  /// Notes a record that exists.
  mutating func note(_ record: JSONValue) {
    guard let other = record[field] else { return }
    guard let value else { return self.value = other }
    if let order = CreationMark.compare(other, value), order > 0 { self.value = other }
  }

  /// Compares two values of the field; nil if they are of different kinds, 0 if they do not tell.
  private static func compare(_ left: JSONValue, _ right: JSONValue) -> Int? {
    switch (left, right) {
    case (.number, .number): return RecordOrder.compare(left, right)
    case (.string(let left), .string(let right)):
      if isTimedID(left), isTimedID(right) {
        let (a, b) = (left.prefix(8), right.prefix(8))
        return a == b ? 0 : (a < b ? -1 : 1)
      }
      guard isTime(left), isTime(right), left.utf8.count == right.utf8.count else { return nil }
      return left == right ? 0 : (left < right ? -1 : 1)
    default: return nil
    }
  }
}
