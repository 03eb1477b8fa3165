@testable import RunnelServer
import RunnelSync
import RunnelTree
import Testing

@Suite struct ReadRoomTests {
  private static let large = ServedAnswer.text([UInt8](repeating: 120, count: 200_000))

  @Test func aReadWaitsUntilTheAnswersBeforeItAreTaken() {
    let room = ReadRoom(unsentBytesMax: 400_000)
    #expect(!room.isFull(for: 1))
    room.give(Self.large, to: 1)
    #expect(room.isFull(for: 2))
    room.take(1)
    #expect(!room.update(unsent: 200_000), "the network has not taken it")
    #expect(room.isFull(for: 2))
    #expect(room.update(unsent: 0), "a read waited")
    #expect(!room.update(unsent: 0), "none waits any more")
    #expect(!room.isFull(for: 2))
  }

  /// A transaction that failed is done anew, with the same reads in the same order.
  @Test func theAnswersOfAFailedTransactionDoNotHoldUpItsReads() {
    let room = ReadRoom(unsentBytesMax: 400_000)
    for number in 1...3 as ClosedRange<Int64> { room.give(Self.large, to: number) }
    #expect(!room.isFull(for: 1))
    #expect(room.isFull(for: 2))
  }

  @Test func nothingWaitsForASessionThatHasEnded() {
    let room = ReadRoom(unsentBytesMax: 400_000)
    room.give(Self.large, to: 1)
    #expect(room.isFull(for: 2))
    #expect(room.end(), "a read waited")
    #expect(room.hasEnded)
    #expect(!room.isFull(for: 2))
  }
}
