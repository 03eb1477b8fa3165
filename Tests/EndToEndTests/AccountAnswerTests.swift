import Foundation
import Glibc
import Testing

/// Commands for accounts at a service that takes requests and does not answer.
@Suite(.timeLimit(.minutes(2))) struct AccountAnswerTests {
  /// A service that closes each connection once it has read something, or else keeps all open.
  private final class Service {
    let port: Int
    private let listener: Int32

    init(closes: Bool) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      try #require(listener >= 0)
      self.listener = listener
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = withUnsafeMutablePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 ? getsockname(listener, $0, &size) : -1
        }
      }
      try #require(status == 0 && listen(listener, 8) == 0)
      port = Int(UInt16(bigEndian: place.sin_port))
      guard closes else { return }
      Thread.detachNewThread {
        while true {
          let line = accept(listener, nil, nil)
          if line < 0 { return }
          var request: [UInt8] = []
          var piece = [UInt8](repeating: 0, count: 4096)
          // The body ends the request.
          while !String(decoding: request, as: UTF8.self).contains("}") {
            let count = read(line, &piece, piece.count)
            if count <= 0 { break }
            request += piece.prefix(count)
          }
          close(line)
        }
      }
    }

    deinit {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }
  }

  private let folder: TemporaryFolder
  private let password: String
  private let environment: [String: String]

  init() throws {
    folder = try TemporaryFolder()
    password = try folder.write("secret-ana\n", to: "password")
    environment = [
      "XDG_STATE_HOME": folder.file("state"), "XDG_DATA_HOME": folder.file("data"),
      "XDG_CONFIG_HOME": folder.file("config"),
    ]
  }

  private func words(_ service: Service) -> [String] {
    [
      "login", "http://localhost:1/?ns=test", "--emulator", "http://127.0.0.1:\(service.port)",
      "--email", "ana@x.org", "--password-file", password,
    ]
  }

  @Test func signUpWhoseAnswerIsLostSaysHowToFindOut() throws {
    let service = try Service(closes: true)
    let outcome = try Program.run(words(service) + ["--sign-up"], environment: environment)
    #expect(outcome.status == 3, "\(outcome.errors)")
    #expect(outcome.errors.contains("It is not known whether it was done"), "\(outcome.errors)")
    #expect(outcome.errors.contains("`runnel login 'http://"), "\(outcome.errors)")
    let login = try Program.run(words(service), environment: environment)
    #expect(login.status == 3 && !login.errors.contains("not known"), "\(login.errors)")
  }

  @Test func loginThatWaitsSaysSo() throws {
    let service = try Service(closes: false)
    let program = try RunningProgram(words(service), environment: environment)
    for _ in 0..<600 where try !program.errors().contains("Waiting for the answer") {
      if try program.ends(within: 50) { break }
    }
    let errors = try program.errors()
    #expect(errors.contains("Waiting for the answer of the account service"), "\(errors)")
    try program.send(9)
    _ = try program.wait()
    withExtendedLifetime(service) {}
  }
}
