import Foundation
import GRDB
import RunnelStorage
import RunnelTree

// The columns of a row that GRDB read.

extension Row {
  /// The bytes of a column that is not null.
  func bytes(_ column: String) -> [UInt8] { bytesOrNil(column) ?? [] }

  /// The bytes of a column; nil if it is null.
  func bytesOrNil(_ column: String) -> [UInt8]? {
    // Only the closure could throw, and it does not.
    (try? withUnsafeData(named: column) { $0.map { Array($0) } }) ?? nil
  }

  /// The bytes of a column that holds bytes; nil if it holds anything else.
  func blob(_ column: String) -> [UInt8]? {
    if case .blob(let bytes) = (self[column] as DatabaseValue).storage { Array(bytes) } else { nil }
  }

  /// The integer in a column; nil if it is null.
  ///
  /// - Throws: `Damage` if the column holds something else, for which GRDB would trap.
  func integerOrNil(_ column: String) throws -> Int64? {
    switch (self[column] as DatabaseValue).storage {
    case .null: return nil
    case .int64(let value): return value
    case .double, .string, .blob: throw Damage("\(column) is no integer")
    }
  }

  /// The text in a column.
  ///
  /// - Throws: `Damage` if the column holds something else.
  func text(_ column: String) throws -> String {
    guard case .string(let value) = (self[column] as DatabaseValue).storage else {
      throw Damage("\(column) is no text")
    }
    return value
  }

  /// The bytes of a column, by its position; nil if it is null.
  func bytesOrNil(at index: Int) -> [UInt8]? {
    // Only the closure could throw, and it does not.
    (try? withUnsafeData(atIndex: index) { $0.map { Array($0) } }) ?? nil
  }

  /// The key in the first column.
  func key() throws -> RunnelTree.Key {
    guard let key = OrderedBytes.key(from: bytesOrNil(at: 0) ?? []) else {
      throw Damage("a key is none")
    }
    return key
  }
}

extension [UInt8] {
  /// The bytes as an argument of a statement.
  var databaseBlob: Data {
    withUnsafeBytes { bytes in bytes.baseAddress.map { Data(bytes: $0, count: count) } ?? Data() }
  }
}
