import Foundation
import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// Which database a call of a service is for.
@Suite struct ServiceNamespaceTests {
  private func total(_ server: TestServer, _ target: String) throws -> JSONValue? {
    let answer = try server.request("GET", target)
    #expect(answer.status == 200, "\(answer.body)")
    return try JSONValue(parsing: answer.body)["total"]
  }

  /// Once, only the first part of the host could.
  @Test func theAddressNamesOneOfSeveralDatabases() async throws {
    let folder =
      FileManager.default.temporaryDirectory.path + "/runnel-many-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // What is left is in the folder for temporary files.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await withServer({
      ServiceTesting.configure(&$0)
      $0.databases = .folder(folder)
      $0.hostNames = ["forum.localhost"]
      $0.creationsMax = 3
    }) { server in
      for name in ["blog", "forum"] {
        #expect(try server.request("PUT", "/x.json?ns=\(name)", "1").status == 200)
      }
      let created = try server.request("POST", "/messages?ns=forum", #"{"id":"a","ns":"x"}"#)
      #expect(created.status == 201, "\(created.body)")
      #expect(try total(server, "/messages?ns=forum") == 1)
      #expect(try total(server, "/messages?$limit=1&ns=forum") == 1)
      #expect(try total(server, "/messages?ns=blog") == 0)
      #expect(try server.request("GET", "/messages.json?ns=forum").body == #"{"a":{"ns":"x"}}"#)
      // Without it the host decides, as before.
      let headers = ["Host": "forum.localhost"]
      let byHost = try server.request("GET", "/messages/a", headers: headers)
      #expect(byHost.status == 200, "\(byHost.body)")
      let client = try server.client()
      try client.openSocket("/socket.io/?EIO=4&transport=websocket&ns=forum")
      #expect(try client.readMessage().hasPrefix("0{"))
      try client.sendText("40")
      #expect(try client.readMessage().hasPrefix("40"))
      try client.sendText(#"421["find","messages",{}]"#)
      #expect(try client.readMessage().contains(#""total":1"#))
    }
  }

  @Test func aSingleDatabaseHasAFieldOfThatName() async throws {
    try await withServer(rules: ServiceTesting.rules, { ServiceTesting.configure(&$0) }) { server in
      for (id, field) in [("a", "x"), ("b", "y")] {
        let record = #"{"id":"\#(id)","ns":"\#(field)"}"#
        let created = try server.request("POST", "/messages?ns=other", record)
        #expect(created.status == 201)
      }
      #expect(try total(server, "/messages?ns=x") == 1)
      #expect(try total(server, "/messages") == 2)
    }
  }
}
