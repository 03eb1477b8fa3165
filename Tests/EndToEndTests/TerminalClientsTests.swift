import Glibc
import TestSupport
import Testing

extension TerminalTests {
  /// Who is connected to a served database, seen in the workspace beside the server.
  @Suite struct ConnectedTests {
    @Test func clientsAreSeenAndDisconnected() throws {
      let database = try TestDatabase("{\"a\":{\"x\":1}}")
      let served = try Served([database.file])
      let client = try served.client()
      try client.openSocket()
      _ = try client.readMessage()
      try client.sendText(
        "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"q\",\"b\":{\"p\":\"/a\",\"h\":\"\"}}}")
      _ = try client.readMessage()
      _ = try client.readMessage()
      let terminal = try TmuxTerminal(columns: 100, rows: 24)
      try terminal.runnel(["open", "--database", database.file])
      try terminal.wait(for: "? help")
      try terminal.keys("g", "C")
      let screen = try terminal.wait(for: "1 listen")
      #expect(screen.contains("127.0.0.1"))
      #expect(screen.contains("socket"))
      try terminal.keys("d")
      try terminal.sayYes(to: "Disconnect")
      #expect(try client.readClose() == 1008)
      try terminal.wait(for: "nobody is connected")
      try served.program.send(SIGTERM)
      #expect(try served.program.wait() == 0)
      try terminal.wait(for: "no server serves this database")
    }
  }
}
