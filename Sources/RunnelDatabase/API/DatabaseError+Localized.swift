public import Foundation

// For programs that show `localizedDescription`.

extension DatabaseError: LocalizedError {
  /// The message, as `description`.
  public var errorDescription: String? { description }
}

extension DataCodingError: LocalizedError {
  /// The message, as `description`.
  public var errorDescription: String? { description }
}
