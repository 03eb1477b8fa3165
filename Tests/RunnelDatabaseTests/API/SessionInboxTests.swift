import Testing

@testable import RunnelDatabase

/// How messages wait in batches.
@Suite struct SessionInboxTests {
  private func make(_ countMax: Int) -> SessionInbox<Int> {
    SessionInbox(countMax: countMax, overflow: DatabaseError(.overflow, "Too many wait."))
  }

  @Test func messagesOfOneWriteAreOneBatch() throws {
    let inbox = make(2)
    for message in 0..<5 { inbox.post(message, of: 1) }
    for message in 5..<9 { inbox.post(message, of: 2) }
    #expect(try inbox.takeAll() == [[0, 1, 2, 3, 4], [5, 6, 7, 8]])
    #expect(try inbox.takeAll() == [])
  }

  @Test func oneBatchTooManyEndsTheInboxAfterTheOthers() throws {
    let inbox = make(2)
    for message in 1...3 { inbox.post(message, of: message) }
    inbox.post(4)
    #expect(try inbox.takeAll() == [[1], [2]])
    let error = #expect(throws: DatabaseError.self) { try inbox.takeAll() }
    #expect(error?.code == .overflow)
  }

  @Test func answersAreNotCountedAndKeepTheirPlace() throws {
    let inbox = make(1)
    for message in 0..<3 { inbox.post(message) }
    inbox.post(3, of: 7)
    inbox.post(4)
    inbox.post(5, of: 7)
    #expect(try inbox.takeAll() == [[0, 1, 2, 3, 4, 5]])
    inbox.post(6)
    #expect(try inbox.takeAll() == [[6]])
  }

  @Test func whatComesOfAWriteAfterItsBatchWasTakenIsABatchToo() async throws {
    let inbox = make(1)
    inbox.post(1, of: 1)
    #expect(try await inbox.next(isolation: nil) == [1])
    inbox.post(2, of: 1)
    inbox.post(3, of: 1)
    #expect(try await inbox.next(isolation: nil) == [2, 3])
  }
}
