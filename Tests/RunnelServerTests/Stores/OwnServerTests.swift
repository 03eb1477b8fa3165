import Foundation
import PostgresCluster
import RunnelPostgres
@testable import RunnelServer
import TestSupport
import Testing

/// The server inside a program that reads and writes one namespace of a store for its user.
@Suite(.enabled(if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice)))
struct OwnServerTests {
  @Test func theOwnSecretIsAnAdministratorsForTheOneNamespace() async throws {
    let socket = "/tmp/runnel-own-\(UUID().uuidString)"
    let secret = ServerSecrets.newText()
    try await TestServer.onStore {
      let store = try PostgresStore(PostgresPlace(try #require(TestServer.store)))
      try store.makeNamespace(named: "other")
      store.close()
      let rules = "{\"rules\":{\".read\":false,\".write\":false}}"
      try await withServer(rules: rules) { configuration in
        configuration.listen = []
        (configuration.socketFile, configuration.ownSecret) = (socket, secret)
        if case .store(var place) = configuration.databases {
          place.namespace = "test"
          configuration.databases = .store(place)
        }
      } _: { _ in
        let ask = { (method: String, target: String, body: String?) in
          try RawClient(socketFile: socket).request(method, target, body)
        }
        #expect(try ask("GET", "/x.json?ns=test", nil).status == 401)
        let wrong = "/x.json?ns=test&auth=\(ServerSecrets.newText())"
        #expect(try ask("GET", wrong, nil).status == 401)
        let own = "/x.json?ns=test&auth=\(secret)"
        #expect(try ask("PUT", own, "5").status == 200)
        #expect(try ask("GET", own, nil).body == "5")
        #expect(try ask("GET", "/x.json?ns=other&auth=\(secret)", nil).status == 404)
        // Only the user may connect.
        let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
      }
      #expect(!FileManager.default.fileExists(atPath: socket))
    }
  }
}
