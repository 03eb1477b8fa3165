import NIOCore
import NIOPosix
import NIOSSL
import RunnelIdentity
@testable import RunnelNetwork
import RunnelServer
import Synchronization
import TestSupport
import Testing

/// Mails that are handed to a server of mail over a socket.
@Suite struct MailServerTests {
  /// A server of mail that takes everything, and offers encryption if it has a certificate.
  private final class Mailbox: Sendable {
    struct Received: Hashable {
      var lines: [String] = []
      var isEncrypted = false
    }

    let received = Mutex(Received())
  }

  /// Loop only.
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let mailbox: Mailbox
    private let tls: NIOSSLContext?
    private var text = ""
    private var isInData = false
    private var isEncrypted = false

    init(_ mailbox: Mailbox, _ tls: NIOSSLContext?) { (self.mailbox, self.tls) = (mailbox, tls) }

    func channelActive(context: ChannelHandlerContext) { say("220 test", context) }

    private func say(_ line: String, _ context: ChannelHandlerContext) {
      let buffer = context.channel.allocator.buffer(string: line + "\r\n")
      context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      text += buffer.readString(length: buffer.readableBytes) ?? ""
      while let end = text.firstRange(of: "\r\n") {
        let line = String(text[..<end.lowerBound])
        text = String(text[end.upperBound...])
        answer(line, context)
      }
    }

    private func answer(_ line: String, _ context: ChannelHandlerContext) {
      mailbox.received.withLock { received in
        received.lines.append(line)
        received.isEncrypted = isEncrypted
      }
      if isInData {
        if line == "." {
          isInData = false
          say("250 taken", context)
        }
        return
      }
      switch line.split(separator: " ").first {
      case "EHLO": say(tls == nil || isEncrypted ? "250 AUTH PLAIN" : "250 STARTTLS", context)
      case "STARTTLS":
        say("220 go ahead", context)
        guard let tls else { return }
        isEncrypted = true
        do {
          try context.pipeline.syncOperations.addHandler(
            NIOSSLServerHandler(context: tls), position: .first)
        } catch {
          Issue.record("\(error)")
        }
      case "AUTH": say("235 welcome", context)
      case "DATA":
        isInData = true
        say("354 go ahead", context)
      default: say("250 ok", context)
      }
    }
  }

  private func withMailbox(
    _ certificate: TLSFiles?, _ body: (Mailbox, Int) async throws -> Void
  ) async throws {
    let mailbox = Mailbox()
    let context = try certificate.map { files in
      try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: NIOSSLCertificate.fromPEMFile(files.certificate).map {
            .certificate($0)
          },
          privateKey: .privateKey(NIOSSLPrivateKey(file: files.key, format: .pem))))
    }
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Handler(mailbox, context))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    do {
      try await body(mailbox, channel.localAddress?.port ?? 0)
    } catch {
      try await channel.close().get()
      throw error
    }
    try await channel.close().get()
  }

  private func deliver(to server: MailServer) async throws -> MailFailure? {
    let message = MailMessage(
      clientName: "id.example", sender: try #require(MailAddress("a@id.example")),
      recipient: try #require(MailAddress("b@x.org")),
      content: Array("Subject: x\r\n\r\nHello\r\n".utf8))
    return await withCheckedContinuation { done in
      server.deliver(message) { done.resume(returning: $0) }
    }
  }

  @Test func aMailIsDeliveredEncrypted() async throws {
    let files = try certificateFiles()
    try await withMailbox(files) { mailbox, port in
      var server = MailServer(
        host: "localhost", port: port, login: MailServer.Login(user: "ada", password: "pass"))
      server.trustedFile = files.certificate
      let failure = try await deliver(to: server)
      #expect(failure == nil)
      let received = mailbox.received.withLock { $0 }
      #expect(received.isEncrypted)
      #expect(
        received.lines.prefix(5) == [
          "EHLO id.example", "STARTTLS", "EHLO id.example", "AUTH PLAIN AGFkYQBwYXNz",
          "MAIL FROM:<a@id.example>",
        ])
      #expect(received.lines.contains("Hello"))
    }
  }

  @Test func aCertificateThatIsNotTrustedGetsNoMail() async throws {
    try await withMailbox(certificateFiles()) { mailbox, port in
      // On Linux, this address reaches the machine too, but is not taken for it.
      let failure = try await deliver(to: MailServer(host: "0.0.0.0", port: port))
      #expect(failure?.isFinal == false)
      #expect(mailbox.received.withLock { $0.lines } == ["EHLO id.example", "STARTTLS"])
    }
  }

  @Test(arguments: ["localhost", "127.0.0.1"])
  func aRelayOnThisMachineMayHaveACertificateOfItsOwn(host: String) async throws {
    try await withMailbox(certificateFiles()) { mailbox, port in
      let failure = try await deliver(to: MailServer(host: host, port: port))
      #expect(failure == nil)
      let received = mailbox.received.withLock { $0 }
      #expect(received.isEncrypted && received.lines.contains("Hello"))
    }
  }

  @Test func aServerThatIsNotThereIsToldOf() async throws {
    let failure = try await deliver(to: MailServer(host: "127.0.0.1", port: 1))
    #expect(failure?.isFinal == false)
    #expect(failure?.reason.isEmpty == false)
  }

  /// A server that never ends its first line.
  ///
  /// Loop only.
  private final class Endless: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
      context.writeAndFlush(
        wrapOutboundOut(ByteBuffer(repeating: UInt8(ascii: "2"), count: 20_000)), promise: nil)
    }
  }

  @Test func aLineWithoutAnEndIsToldInWords() async throws {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Endless())
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let server = MailServer(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
    let failure = try await deliver(to: server)
    try await channel.close().get()
    #expect(
      failure == MailFailure(reason: "it sent a line of more than 8192 bytes", isFinal: false))
  }

  @Test func theServerOfAccountsSendsItsMails() async throws {
    try await withMailbox(nil) { mailbox, port in
      try await withAccounts {
        $0.accounts?.mailServer = MailServer(host: "127.0.0.1", port: port)
        $0.accounts?.mailSender = "help@id.example"
      } _: { server in
        _ = try server.signUp()
        _ = try server.accounts(
          "sendOobCode", #"{"requestType":"PASSWORD_RESET","email":"ada@x.org"}"#)
        for _ in 0..<500 where !mailbox.received.withLock({ $0.lines.contains(".") }) {
          try await Task.sleep(for: .milliseconds(10))
        }
        let lines = mailbox.received.withLock { $0.lines }
        #expect(lines.contains("MAIL FROM:<help@id.example>"))
        #expect(lines.contains("RCPT TO:<ada@x.org>"))
        #expect(lines.contains("Subject: Reset your password"))
        #expect(try server.mails().isEmpty)
      }
    }
  }

  @Test func theLogNamesTheMailThatAServerCannotTake() async throws {
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    let log = try LogLines { line.yield(String(decoding: $0, as: UTF8.self)) }
    try await TestServer.$log.withValue(log) {
      try await withMailbox(nil) { mailbox, port in
        try await withAccounts {
          $0.accounts?.mailServer = MailServer(host: "127.0.0.1", port: port)
        } _: { server in
          #expect(try server.signUp("zoë@x.org").status == 200)
          _ = try server.accounts(
            "sendOobCode", #"{"requestType":"PASSWORD_RESET","email":"zoë@x.org"}"#)
          let told = await lines.first { $0.contains("A mail was not delivered") }
          #expect(told?.contains("not delivered and is given up: PASSWORD_RESET for zo") == true)
          #expect(told?.contains("it does not offer SMTPUTF8") == true)
          #expect(told?.contains("oobCode") == false)
          #expect(mailbox.received.withLock { $0.lines } == ["EHLO id.example"])
        }
      }
    }
  }
}
