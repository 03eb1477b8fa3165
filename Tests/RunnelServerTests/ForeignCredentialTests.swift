import Foundation
import RunnelServer
import TestSupport
import Testing

/// A credential that is used on another database than its own.
@Suite struct ForeignCredentialTests {
  @Test func aSecretOfAnotherDatabaseIsToldAsSuch() async throws {
    let folder =
      FileManager.default.temporaryDirectory.path + "/runnel-many-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // What is left is in the folder for temporary files.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var secrets = ServerSecrets()
    let added = secrets.add("backup", now: 0)
    let secret = try #require(added).text
    try secrets.write(to: ServerSecrets.file(beside: folder + "/forum.db"))
    try await withServer({
      $0.databases = .folder(folder)
      $0.creationsMax = 3
    }) { server in
      for name in ["forum", "blog"] {
        #expect(try server.request("PUT", "/x.json?ns=\(name)", "1").status == 200)
      }
      #expect(try server.request("GET", "/x.json?ns=forum&auth=\(secret)").status == 200)
      let foreign = try server.request("GET", "/x.json?ns=blog&auth=\(secret)")
      #expect(foreign.status == 401)
      #expect(foreign.body.contains("not valid for this database"), "\(foreign.body)")
      let unknown = try server.request("GET", "/x.json?ns=blog&auth=garbage")
      #expect(unknown.status == 401)
      #expect(unknown.body.contains("Could not parse auth token."), "\(unknown.body)")
    }
  }
}
