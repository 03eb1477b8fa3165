import Foundation
import RunnelNetwork
@testable import RunnelServer
import Synchronization
import TestSupport
import Testing

@Suite struct TLSTests {
  /// Returns the answer to a request over TLS, or the reason of its failure.
  private func read(_ port: Int, trusting files: TLSFiles) async -> String {
    await read(port, trusting: files.certificate)
  }

  private func read(_ port: Int, trusting file: String?) async -> String {
    guard let address = WebAddress("https://localhost:\(port)/x.json") else { return "no address" }
    do throws(NetworkError) {
      let fetcher = WebFetcher(trustedFile: file)
      return String(decoding: try await fetcher.get(address).bytes, as: UTF8.self)
    } catch {
      return error.message
    }
  }

  private func replace(_ path: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  @Test func connectionsWithoutTLSAreClosedAndOthersAreServed() async throws {
    let files = try certificateFiles()
    try await withServer {
      $0.tls = files
      $0.network.firstHeadMilliseconds = 300
      $0.network.handshakeMilliseconds = 1000
    } _: { server in
      #expect(await read(server.port, trusting: files) == "null")
      for text in [
        "GET /x.json HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}", "\u{16}\u{3}\u{1}\0\u{5}hello",
      ] {
        let client = try server.client()
        // The connection may be closed during the write.
        try? client.send(Array(text.unicodeScalars.map { UInt8($0.value) }))
        #expect(client.isClosed(), "\(text.debugDescription)")
      }
      let silent = try server.client()
      #expect(silent.isClosed(), "a handshake that does not begin")
      #expect(await read(server.port, trusting: files) == "null")
    }
  }

  @Test(arguments: [false, true]) func anExpiredCertificateIsTold(isExpired: Bool) async throws {
    let files = try certificateFiles()
    let told = Mutex<[String]>([])
    let log = try LogLines { line in
      told.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    // The certificate of the tests expires in 2126.
    let now: Int64 = isExpired ? 7_258_118_400_000 : 1_800_000_000_000
    try await TestServer.$log.withValue(log) {
      try await withServer {
        $0.tls = files
        $0.calendar = { now }
      } _: { _ in
        log.flush()
      }
    }
    let warnings = told.withLock { $0 }.filter { $0.contains("clients refuse it") }
    #expect(warnings.count == (isExpired ? 1 : 0))
    #expect(warnings.allSatisfy { $0.contains(files.certificate) && $0.contains("2126-") })
  }

  @Test func aClientWithoutTLSIsToldWhichAddressToUse() async throws {
    let files = try certificateFiles()
    try await withServer({ $0.tls = files }) { server in
      let client = try server.client()
      let answer = try client.request("PUT", "/x.json", "{}")
      #expect(answer.status == 400 && answer.body.contains("https://"))
      #expect(client.isClosed())
      #expect(await read(server.port, trusting: files) == "null")
    }
  }

  @Test func anInvalidCertificateDoesNotReplaceTheOldOne() async throws {
    let files = try certificateFiles()
    try await withServer({ $0.tls = files }) { server in
      let trusted = try certificateFiles()
      try replace(files.certificate, "no certificate")
      await server.server.reloadFiles()
      #expect(await read(server.port, trusting: trusted) == "null")
      try replace(files.certificate, TestCertificate.certificate)
      try replace(files.key, "no key")
      await server.server.reloadFiles()
      #expect(await read(server.port, trusting: trusted) == "null")
      try replace(files.key, TestCertificate.key)
      await server.server.reloadFiles()
      #expect(await read(server.port, trusting: trusted) == "null")
    }
  }

  @Test func failuresOfTLSAreToldInPlainWords() async throws {
    let files = try certificateFiles()
    let damaged = files.certificate + ".damaged"
    try replace(damaged, "no certificate")
    try await withServer({ $0.tls = files }) { server in
      let untrusted = await read(server.port, trusting: nil as String?)
      #expect(untrusted.contains("is not trusted") && untrusted.contains("--ca FILE"))
      let missing = await read(server.port, trusting: "/nowhere.pem")
      #expect(missing.contains("/nowhere.pem") && missing.contains("No such file"))
      #expect(await read(server.port, trusting: damaged).contains("no certificates to trust"))
    }
    try await withServer { server in
      let plain = await read(server.port, trusting: files)
      for text in [plain, await read(server.port, trusting: nil as String?)] {
        #expect(!text.contains(".swift") && !text.contains(".cc") && !text.contains("SSL"))
      }
    }
  }

  @Test func filesThatCannotBeUsedAreNamed() async throws {
    let files = try certificateFiles()
    try replace(files.key, "no key")
    let error = await #expect(throws: NetworkError.self) {
      try await withServer({ $0.tls = files }) { _ in }
    }
    #expect(error?.message.contains(files.key) == true)
    #expect(error?.message.contains("PEM") == true)
    let missing = TLSFiles(certificate: "/nowhere.pem", key: files.key)
    await #expect(throws: NetworkError.self) {
      try await withServer({ $0.tls = missing }) { _ in }
    }
  }
}
