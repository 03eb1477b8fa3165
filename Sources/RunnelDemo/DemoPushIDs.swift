/// Makes push ids of given moments: 8 characters of time and 12 of chance.
///
/// Source: tree semantics, section 10.1. Two ids are in the order of their moments, for the
/// alphabet is in ASCII order; the demo has no two messages in one millisecond.
struct DemoPushIDs {
  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  /// Makes an id of a moment in milliseconds since 1970.
  static func id(at milliseconds: Int64, using random: inout some RandomNumberGenerator) -> String {
    precondition(0..<1 << 48 ~= milliseconds, "Eight characters of time hold 48 bits.")
    var characters: [UInt8] = []
    characters.reserveCapacity(20)
    for shift in stride(from: Int64(42), through: 0, by: -6) {
      characters.append(alphabet[Int(milliseconds >> shift & 63)])
    }
    for _ in 0..<12 {
      characters.append(alphabet[Int.random(in: 0..<64, using: &random)])
    }
    return String(decoding: characters, as: UTF8.self)
  }
}
