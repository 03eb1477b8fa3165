/// Makes push ids for given moments: 8 characters of time and 12 random ones.
///
/// Source: tree semantics, section 10.1. Ids sort by their moments, since the alphabet is in ASCII
/// order, and no two messages of the demo have the same millisecond.
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
