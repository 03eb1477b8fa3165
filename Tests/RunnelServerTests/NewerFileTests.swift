import GRDB
import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// A newer program migrates the file while an older one serves it.
@Suite struct NewerFileTests {
  @Test func aServerStopsWritingWhenItFindsANewerFile() async throws {
    try await withServer { server in
      #expect(try server.request("PUT", "/x.json", "1").status == 200)
      let other = try DatabaseQueue(path: server.file)
      let version = try await other.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
      try await other.write { try $0.execute(sql: "PRAGMA user_version = 99") }
      for _ in 0..<2 {
        let socket = try server.socket()
        let answer = try server.request("PUT", "/x.json", "2")
        #expect(answer.status == 503, "\(answer)")
        #expect(answer.body.contains("error"))
        // The session is closed: its client sends the write again to a server that can do it.
        let status = try? socket.status(1, "p", "{\"p\":\"/x\",\"d\":3}")
        #expect(status != "ok")
      }
      try await other.write {
        try $0.execute(sql: "PRAGMA user_version = \(version ?? 0)")
      }
      #expect(try OtherProcess.read("x", in: server.file) == 1)
    }
  }
}
