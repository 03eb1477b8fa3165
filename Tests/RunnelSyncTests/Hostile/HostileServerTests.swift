import RunnelBase
import TestSupport
import Testing

/// Whatever clients send is answered or refused; see also `make fuzz`.
@Suite struct HostileServerTests {
  private func check(
    _ corpus: [[UInt8]], seed: UInt64, _ violation: ([UInt8]) -> String?
  ) {
    var random = SeededRandom(seed: seed)
    for text in corpus {
      #expect(violation(text) == nil)
      for _ in 0..<20 {
        var bytes = text
        for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes.remove(at: place)
          case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
          case 2: bytes.insert(UInt8.random(in: 32...126, using: &random), at: place)
          default: bytes += bytes[place...].prefix(20)
          }
        }
        let found = violation(bytes)
        #expect(found == nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }

  @Test(arguments: Seeds.first(5)) func framesAreAnsweredOrRefused(seed: UInt64) {
    check(HostileServerCorpus.frames, seed: seed) { HostileServer.violation(inFrames: $0) }
  }

  @Test(arguments: Seeds.first(5)) func piecesAreBoundedAndComeTogether(seed: UInt64) {
    check(HostileServerCorpus.pieces, seed: seed) { HostileServer.violation(inPieces: $0) }
  }

  @Test(arguments: Seeds.first(5)) func requestsAreAnsweredOrRefused(seed: UInt64) {
    check(HostileServerCorpus.requests, seed: seed) { HostileServer.violation(inRequest: $0) }
  }
}
