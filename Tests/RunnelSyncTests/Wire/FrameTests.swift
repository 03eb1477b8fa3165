import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelSync

/// Messages cut into frames and put together again.
@Suite struct FrameTests {
  private func text(_ frame: [UInt8]) -> String { String(decoding: frame, as: UTF8.self) }

  /// All messages of which the frames are parts.
  private func messages(_ frames: [[UInt8]], bytesMax: Int = 1 << 24) throws -> [[UInt8]] {
    var assembler = FrameAssembler(bytesMax: bytesMax)
    return try frames.compactMap { frame in try assembler.take(frame) }
  }

  @Test func aShortMessageIsOneFrame() {
    let message = Array(#"{"t":"d","d":{}}"#.utf8)
    #expect(FrameSplitter.frames(of: message) == [message])
  }

  @Test func fortyThousandCharactersAreThreePieces() {
    let frames = FrameSplitter.frames(of: Array(String(repeating: "x", count: 40_000).utf8))
    #expect(text(frames[0]) == "3")
    #expect(frames.dropFirst().map(\.count) == [16_384, 16_384, 7_232])
  }

  @Test(arguments: [(16_384, 1), (16_385, 3), (32_768, 3), (32_769, 4)])
  func thePieceBoundIsExact(length: Int, frameCount: Int) {
    let frames = FrameSplitter.frames(of: Array(repeating: UInt8(ascii: "a"), count: length))
    #expect(frames.count == frameCount)
  }

  /// A message of more bytes than a piece has units may still be one piece.
  @Test func piecesAreMeasuredInUTF16() {
    let message = Array(String(repeating: "é", count: 16_384).utf8)
    #expect(FrameSplitter.frames(of: message) == [message])
  }

  @Test func noScalarIsCutInTwo() throws {
    // The emoji would begin at the last unit of the first piece.
    let message = Array((String(repeating: "a", count: 16_383) + "😀é€").utf8)
    let frames = FrameSplitter.frames(of: message)
    #expect(text(frames[0]) == "2")
    #expect(frames[1].count == 16_383)
    #expect(frames.allSatisfy { String(validating: $0, as: UTF8.self) != nil })
    #expect(try messages(frames) == [message])
  }

  @Test func aCountOfOneIsTaken() throws {
    #expect(try messages(["1", "{}"].map { Array($0.utf8) }).map(text) == ["{}"])
  }

  /// Within a message a piece that looks like a number is data.
  @Test func aNumericPieceIsData() throws {
    let frames = ["3", #"{"a":1"#, "0", "}", "{}"].map { Array($0.utf8) }
    #expect(try messages(frames).map(text) == [#"{"a":10}"#, "{}"])
  }

  @Test func aZeroIsASignOfLife() throws {
    #expect(try messages(["0", "0", "{}", "0"].map { Array($0.utf8) }).map(text) == ["{}"])
  }

  @Test(arguments: ["-1", "1.5", "1234567", "12a", "", " 1", "+2"])
  func whatIsNoCountIsAMessage(frame: String) throws {
    #expect(try messages([Array(frame.utf8)]).map(text) == [frame])
  }

  @Test func theLimitIsThatOfAllPiecesTogether() throws {
    let pieces = ["2", "1234567890", "1234567890"].map { Array($0.utf8) }
    #expect(try messages(pieces, bytesMax: 20).count == 1)
    #expect(throws: TreeError.self) { try messages(pieces, bytesMax: 19) }
  }

  /// However many pieces are announced, nothing is kept for those that have not come.
  @Test func anAnnouncedCountTakesNoMemory() throws {
    var assembler = FrameAssembler(bytesMax: 100)
    #expect(try assembler.take(Array("999999".utf8)) == nil)
    for _ in 0..<1000 { #expect(try assembler.take([]) == nil) }
    #expect(assembler.keptBytes == 0)
    #expect(assembler.isAwaitingPieces)
  }

  @Test(arguments: Seeds.first(30))
  func whatIsCutIsPutTogether(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let scalars = ["a", "é", "€", "😀", "0", "{"]
    var sent: [[UInt8]] = []
    for _ in 0..<5 {
      let length = Int.random(in: 1..<60_000, using: &random)
      let unit = scalars[Int.random(in: 0..<scalars.count, using: &random)]
      let other = scalars[Int.random(in: 0..<scalars.count, using: &random)]
      let start = String(repeating: other, count: Int.random(in: 0..<3, using: &random))
      sent.append(Array(("{" + start + String(repeating: unit, count: length)).utf8))
    }
    let frames = sent.flatMap { FrameSplitter.frames(of: $0) }
    #expect(try messages(frames) == sent)
    for frame in frames {
      #expect(text(frame).utf16.count <= 16_384)
      #expect(String(validating: frame, as: UTF8.self) != nil)
    }
  }

  /// Whatever arrives: a message, nothing, or an error, and never more than the limit is kept.
  @Test(arguments: Seeds.first(200))
  func anyFramesAreTaken(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var assembler = FrameAssembler(bytesMax: 64)
    for _ in 0..<100 {
      let length = Int.random(in: 0..<12, using: &random)
      let digits = Bool.random(using: &random)
      let frame = (0..<length).map { _ in
        digits
          ? UInt8.random(in: 48...57, using: &random) : UInt8.random(in: 0...255, using: &random)
      }
      // What is too long is refused; the session closes then.
      _ = try? assembler.take(frame)
      #expect(assembler.keptBytes <= 64)
    }
  }
}
