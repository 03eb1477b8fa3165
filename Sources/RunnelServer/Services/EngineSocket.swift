import RunnelNetwork
import RunnelSync

/// A web socket of Engine.IO.
///
/// Loop only; its session may be on another loop.
final class EngineSocket: SocketHandling {
  /// A socket that other loops can name.
  struct Reference: Sendable {
    let id: ObjectIdentifier
    let bound: LoopBound<EngineSocket>

    /// Runs `body` with the socket: at once on its own loop; later on any other, and then hands the sent
    /// frames to the network.
    func visit(from loop: NetworkLoop, _ body: @escaping @Sendable (EngineSocket) -> Void) {
      let bound = bound
      if loop == bound.loop { return body(bound.value) }
      bound.loop.run {
        body(bound.value)
        bound.value.flush()
      }
    }
  }

  private let session: LoopBound<ServiceSession>
  private let channel: SocketChannel
  private let world: ServerWorld
  /// True if a session that polls is to move here.
  private let isMove: Bool
  private var unsent: UnsentCount

  init(
    _ session: LoopBound<ServiceSession>, _ channel: SocketChannel, _ world: ServerWorld,
    isMove: Bool
  ) {
    (self.session, self.channel, self.world) = (session, channel, world)
    self.isMove = isMove
    unsent = UnsentCount(max: world.limits.wire.unsentBytesMax)
  }

  private var reference: Reference {
    Reference(id: ObjectIdentifier(self), bound: LoopBound(self, to: channel.loop))
  }

  // MARK: From the network

  func opened() {
    let (socket, isMove) = (reference, isMove)
    session.visit(from: channel.loop) { session in
      if isMove { session.attach(socket) } else { session.begin(socket) }
    }
  }

  func received(_ text: [UInt8]) {
    let id = ObjectIdentifier(self)
    session.visit(from: channel.loop) { $0.frame(text, from: id) }
  }

  func heard() {}
  func timeIsUp() {}

  func closed() {
    let id = ObjectIdentifier(self)
    session.visit(from: channel.loop) { $0.socketClosed(id) }
  }

  // MARK: From the session

  /// Sends a frame; a client that reads too slowly loses its connection.
  func send(_ text: [UInt8]) {
    unsent.settle(unsent: channel.unsentBytes)
    unsent.add(text.count)
    channel.send(text)
    if !unsent.isExceeded { return }
    world.metrics.reached(WireLimit.unsentBytes)
    channel.close(code: 1008, text: "The client reads too slowly.")
  }

  func flush() { channel.flush() }

  func close(code: UInt16, text: String) { channel.close(code: code, text: text) }

  func setReading(_ isOn: Bool) {
    if isOn { channel.resumeReading() } else { channel.pauseReading() }
  }
}

extension LoopBound where Value == ServiceSession {
  /// Runs `body` with the session: at once on its own loop, later on any other.
  func visit(from loop: NetworkLoop, _ body: @escaping @Sendable (ServiceSession) -> Void) {
    let bound = self
    if loop == bound.loop { return body(bound.value) }
    bound.loop.run {
      body(bound.value)
      bound.value.flush()
    }
  }
}
