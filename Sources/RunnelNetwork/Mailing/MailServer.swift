import NIOCore
import NIOExtras
import NIOPosix
import NIOSSL
import NIOTLS
import RunnelBase

/// A server of mail, to which messages are handed over.
public struct MailServer: Sendable {
  /// The user and the password at the server.
  public struct Login: Hashable, Sendable, CustomStringConvertible {
    private let user: String
    private let password: String

    /// Makes a login.
    public init(user: String, password: String) { (self.user, self.password) = (user, password) }

    /// A text without the password.
    public var description: String { "the login of \(user)" }

    /// Source: RFC 4616.
    var plain: String {
      Base64.text(of: [0] + Array(user.utf8) + [0] + Array(password.utf8))
    }
  }

  /// The port for a connection that is encrypted from the beginning.
  private static let securePort = 465
  /// The usual port for messages of users.
  public static let defaultPort = 587
  /// The time for the whole delivery of a message, in seconds.
  private static let seconds: Int64 = 60
  fileprivate static let lineBytesMax = 8192

  /// The host.
  public var host: String
  /// The port; 465 is encrypted from the beginning.
  public var port: Int
  /// The login; nil for none.
  public var login: Login?
  /// A PEM file of the certificates to trust, instead of those that the system trusts.
  package var trustedFile: String?

  /// Makes a server.
  public init(host: String, port: Int = MailServer.defaultPort, login: Login? = nil) {
    (self.host, self.port, self.login) = (host, port, login)
  }

  private var isOnThisMachine: Bool {
    // A name such as `127.x.example` may be anywhere.
    host == "localhost" || host == "::1" || AddressRange.bytes(of: host)?.first == 127
  }

  private var security: MailDialogue.Security {
    if port == MailServer.securePort { return .atOnce }
    return isOnThisMachine ? .ifOffered : .required
  }

  /// Hands a message over; `done` is called once, on another thread.
  package func deliver(
    _ message: MailMessage, _ done: @escaping @Sendable (MailFailure?) -> Void
  ) {
    let loop = SharedThreads.loops.any()
    let promise = loop.makePromise(of: Void.self)
    promise.futureResult.whenComplete { result in
      switch result {
      case .success: done(nil)
      case .failure(let failure as MailFailure): done(failure)
      case .failure(let error):
        done(MailFailure(reason: WebConnector.reason(error, namesOption: false), isFinal: false))
      }
    }
    let context: NIOSSLContext
    do {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      if let trustedFile {
        configuration.trustRoots = .file(trustedFile)
      } else if isOnThisMachine {
        // A relay there has a certificate that it made for itself, and nobody is between.
        configuration.certificateVerification = .none
      }
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      return promise.fail(error)
    }
    let dialogue = MailDialogue(message, login: login, security: security)
    let isSecure = security == .atOnce
    ClientBootstrap(group: loop)
      .connectTimeout(.seconds(10))
      .resolver(NameResolver(loop))
      .channelInitializer { [host] channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if isSecure { try pipeline.addHandler(MailServer.encryption(context, host)) }
          try pipeline.addHandler(
            ByteToMessageHandler(
              LineBasedFrameDecoder(), maximumBufferSize: MailServer.lineBytesMax))
          try pipeline.addHandler(MailHandler(dialogue, context, host, promise))
        }
      }
      .connect(host: host, port: port)
      .whenComplete { result in
        switch result {
        case .failure(let error): promise.fail(error)
        case .success(let channel):
          let timer = channel.eventLoop.scheduleTask(in: .seconds(MailServer.seconds)) {
            promise.fail(MailFailure(reason: "it took too long", isFinal: false))
          }
          promise.futureResult.whenComplete { _ in
            timer.cancel()
            channel.close(promise: nil)
          }
        }
      }
  }

  fileprivate static func encryption(
    _ context: NIOSSLContext, _ host: String
  ) throws -> NIOSSLClientHandler {
    let isName = AddressRange.bytes(of: host) == nil
    return try NIOSSLClientHandler(context: context, serverHostname: isName ? host : nil)
  }
}

/// Carries out a dialogue on a connection.
///
/// Loop only.
private final class MailHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var dialogue: MailDialogue
  private let tls: NIOSSLContext
  private let host: String
  private let promise: EventLoopPromise<Void>

  init(
    _ dialogue: MailDialogue, _ tls: NIOSSLContext, _ host: String,
    _ promise: EventLoopPromise<Void>
  ) {
    (self.dialogue, self.tls, self.host, self.promise) = (dialogue, tls, host, promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var line = unwrapInboundIn(data)
    // Text that is no UTF-8 is shown with replacements.
    let text = String(decoding: line.readBytes(length: line.readableBytes) ?? [], as: UTF8.self)
    carryOut(dialogue.receive(text), context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event {
      carryOut(dialogue.handshakeEnded(), context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func carryOut(_ steps: [MailDialogue.Step], _ context: ChannelHandlerContext) {
    for step in steps {
      switch step {
      case .send(let bytes):
        context.writeAndFlush(
          wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
      case .startTLS:
        do {
          try context.pipeline.syncOperations.addHandler(
            MailServer.encryption(tls, host), position: .first)
        } catch {
          promise.fail(error)
        }
      case .done: promise.succeed()
      case .failed(let failure): promise.fail(failure)
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let isLong = error is ByteToMessageDecoderError.PayloadTooLargeError
    let reason = "it sent a line of more than \(MailServer.lineBytesMax) bytes"
    promise.fail(isLong ? MailFailure(reason: reason, isFinal: false) : error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(MailFailure(reason: "it closed the connection", isFinal: false))
  }
}
