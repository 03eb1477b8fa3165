import RunnelBase
@testable import RunnelNetwork
import TestSupport
import Testing

@Suite struct FrameScannerTests {
  /// A frame of a client; `isLast` is that of its message.
  private static func frame(
    _ opcode: UInt8, isLast: Bool, _ random: inout SeededRandom
  ) -> [UInt8] {
    let longest = opcode < 8 ? [3, 125, 126, 70_000].randomElement(using: &random) ?? 0 : 125
    var frame = RawClient.frame(
      opcode, [UInt8](repeating: 0xFF, count: Int.random(in: 0...longest, using: &random)))
    if !isLast { frame[0] &= 0x7F }
    return frame
  }

  /// However the bytes arrive, the end of a message is known, and nothing else is one.
  @Test(arguments: Seeds.first(30))
  func messagesEndWhereTheirLastFrameEnds(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var bytes: [UInt8] = []
    var ends: [Int] = []
    var isInMessage = false
    for _ in 0..<20 {
      let isControl = Int.random(in: 0..<3, using: &random) == 0
      let isLast = isControl || Bool.random(using: &random)
      bytes += Self.frame(isControl ? 9 : isInMessage ? 0 : 1, isLast: isLast, &random)
      if !isControl { isInMessage = !isLast }
      if !isInMessage { ends.append(bytes.count) }
    }
    var scanner = FrameScanner()
    var taken = 0
    while taken < bytes.count {
      let count = min(bytes.count - taken, Int.random(in: 1...5000, using: &random))
      bytes[taken..<taken + count].withUnsafeBytes { scanner.take($0) }
      taken += count
      #expect(scanner.endCount == ends.count { $0 <= taken })
      #expect(scanner.isIncomplete == (!ends.contains(taken)))
    }
  }
}
