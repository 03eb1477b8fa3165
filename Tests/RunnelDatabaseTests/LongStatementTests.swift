import GRDB
import Testing

@testable import RunnelDatabase

@Suite struct LongStatementTests {
  private struct AnotherError: Error {}

  @Test func aStoppedStatementIsCancelledWhateverItsErrorBecame() throws {
    let folder = try TemporaryFolder()
    let session = try folder.session()
    let numbers =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) SELECT sum(i) FROM n"
    let error = #expect(throws: RunnelDatabase.DatabaseError.self) {
      try session.store.onConnection { db in
        try LongStatement.run(on: db, while: { false }) {
          do {
            _ = try Int.fetchOne(db, sql: numbers)
          } catch {
            throw AnotherError()
          }
        }
      }
    }
    #expect(error?.code == .cancelled)
    try session.close()
  }

  @Test func otherErrorsStayThemselves() throws {
    let folder = try TemporaryFolder()
    let session = try folder.session()
    #expect(throws: AnotherError.self) {
      try session.store.onConnection { db in
        try LongStatement.run(on: db, while: { true }) { throw AnotherError() }
      }
    }
    try session.close()
  }
}
