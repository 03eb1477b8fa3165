public import Foundation
public import RunnelBase

extension JSONValue {
  /// Makes the JSON of a date, as dates of typed values are stored: for a bound of a query, for
  /// instance, or deeper in a literal.
  ///
  /// - Parameters:
  ///   - date: the date.
  ///   - dates: the format in which dates are stored.
  /// - Throws: `DataCodingError` (`notEncodable`) if the date is out of the range of the format.
  public init(_ date: Date, dates: DateCoding = .milliseconds) throws(DataCodingError) {
    guard let json = dates.json(date) else {
      throw DataCodingError(
        .notEncodable, path: "/", type: Date.self, reason: "it is out of range")
    }
    self = json
  }
}
