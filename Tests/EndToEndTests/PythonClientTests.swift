import Glibc
import RunnelBase
import TestSupport
import Testing

/// Client libraries of others, as their users use them.
///
/// They are left out only where Python or its packages cannot be had.
@Suite(.enabled("pip reaches the packages of the clients", { PythonClients.isThere }))
struct PythonClientTests {
  private static let rules = """
    {"rules":{"public":{".read":true},"scores":{".indexOn":".value"},"users":{\
    ".indexOn":["age","name","n"],"$user":{".read":"auth.uid === $user"}}}}
    """

  /// A database with rules, and the key file of a service account for a server at an address.
  private struct Setting {
    let database: TestDatabase
    let key: String

    init(server: String) throws {
      database = try TestDatabase("{\"empty\":1}")
      _ = try database.folder.write(PythonClientTests.rules, to: "test.rules.json")
      key = database.folder.file("key.json")
      let made = try Program.run([
        "serve", "service-account", "new", "sdk", database.file, "--to", key, "--server", server,
      ])
      #expect(made.status == 0, "\(made.errors)")
    }
  }

  @Test func pyrebaseReadsWritesAndFollows() throws {
    let port = try FreePort.any()
    let address = "http://localhost:\(port)"
    let setting = try Setting(server: address)
    let secret = try Program.run(["serve", "secret", "new", "py", setting.database.file]).output
    let served = try Served([setting.database.file], listen: "localhost:\(port)")
    let outcome = try PythonClients.run(
      "pyrebase_client.py", [address, String(secret.dropLast()), setting.key])
    #expect(outcome.output == "ok\n")
    let log = try served.program.errors()
    #expect(outcome.status == 0, "\(outcome.errors)\n\(log)")
  }

  @Test func theAdminSDKWorksWithItsKeyFileAlone() throws {
    let port = try FreePort.any()
    let address = "https://localhost:\(port)"
    let setting = try Setting(server: address)
    let folder = setting.database.folder
    let certificate = try folder.write(TestCertificate.certificate, to: "certificate.pem")
    let key = try folder.write(TestCertificate.key, to: "tls.pem")
    let served = try Served(
      [setting.database.file, "--tls-cert", certificate, "--tls-key", key],
      listen: "localhost:\(port)")
    let outcome = try PythonClients.run(
      "admin_client.py", [address, setting.key],
      environment: ["REQUESTS_CA_BUNDLE": certificate])
    #expect(outcome.output == "ok\n")
    let log = try served.program.errors()
    #expect(outcome.status == 0, "\(outcome.errors)\n\(log)")
  }

  @Test func pyrebaseSignsUpAndIn() throws {
    let database = try TestDatabase("{\"empty\":1}")
    _ = try database.folder.write(
      """
      {"rules":{"users":{"$user":{".write":"auth.uid === $user"}}}}
      """, to: "test.rules.json")
    let served = try Served([
      database.file, "--accounts", database.folder.file("accounts.db"), "--project", "demo",
      "--emulator",
    ])
    let outcome = try PythonClients.run(
      "pyrebase_accounts.py", ["http://localhost:\(served.port)"])
    #expect(outcome.output == "ok\n")
    let log = try served.program.errors()
    #expect(outcome.status == 0, "\(outcome.errors)\n\(log)")
  }

  @Test func theAdminSDKAdministersTheAccountsOfAnEmulator() throws {
    let database = try TestDatabase("{\"empty\":1}")
    let served = try Served([
      database.file, "--accounts", database.folder.file("accounts.db"), "--project", "demo",
      "--emulator",
    ])
    let outcome = try PythonClients.run("admin_accounts.py", ["localhost:\(served.port)"])
    #expect(outcome.output == "ok\n")
    let log = try served.program.errors()
    #expect(outcome.status == 0, "\(outcome.errors)\n\(log)")
  }
}

/// A port that nobody uses now.
enum FreePort {
  static func any() throws -> Int {
    let descriptor = try check(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), "socket")
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        try check(bind(descriptor, pointer, size), "bind")
        try check(getsockname(descriptor, pointer, &size), "getsockname")
      }
    }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
