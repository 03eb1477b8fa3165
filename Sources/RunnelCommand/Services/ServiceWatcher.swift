import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork

/// Passes the events of a service on, and says what becomes of the connection.
struct ServiceWatcher {
  /// What happens besides events.
  private enum News: Sendable {
    case state(SocketSession.State)
    /// The server has ended the session of who was signed in.
    case sessionEnded
    /// The connection is there and signed in, or the sign-in has failed.
    case ready(FeathersError?)
  }

  private let host: String
  private var isUp = false
  private var isReady = false
  private var isLost = false
  private var isSilent = false
  private var isReasonTold = false

  private init(_ host: String) { self.host = host }

  /// Passes the events on until the program is ended.
  ///
  /// - Throws: `Failure` if the server refuses the connection or the sign-in, or has no such service; and what `tell`
  ///   throws.
  static func run(
    _ caller: ServiceCaller, _ tell: @escaping @Sendable (ServiceEventRecord) throws -> Void
  ) throws {
    var access = caller.access
    access.socket.isPatient = true
    let provider = SocketProvider(caller.address, access)
    let app = caller.application(provider)
    let (path, host) = (caller.path, caller.address.bare)
    defer { app.close() }
    try AsyncWork.wait {
      let (news, writer) = AsyncStream.makeStream(of: News.self)
      let listeners = [
        app.onConnection { writer.yield(.ready(app.authentication.refusal)) },
        app.authentication.onChange { if $0 == .expired { writer.yield(.sessionEnded) } },
      ]
      defer { listeners.forEach { $0.cancel() } }
      let events = app.service(path).events()
      provider.onState { writer.yield(.state($0)) }
      provider.connect()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          if let error = await absence(of: app.service(path)) {
            throw ServiceCaller.failure(error)
          }
          for await record in events { try tell(record) }
        }
        group.addTask {
          var watcher = ServiceWatcher(host)
          for await news in news { try watcher.take(news) }
        }
        // The first to end has failed.
        _ = try await group.next()
        group.cancelAll()
      }
    }
  }

  /// The error of a service that is not there; nil if it is, or if that cannot be told.
  private static func absence(of service: ServiceHandle) async -> FeathersError? {
    do throws(FeathersError) {
      _ = try await service.find(ServiceQuery().limit(0))
      return nil
    } catch {
      return error.code == 404 ? error : nil
    }
  }

  private mutating func take(_ news: News) throws {
    switch news {
    case .ready(let refusal?): throw ServiceCaller.failure(refusal)
    case .ready(nil):
      if isLost { StandardError.say("\(host) is connected again; events may be missing.") }
      (isReady, isLost, isSilent, isReasonTold) = (true, false, false, false)
    case .sessionEnded where isReady:
      StandardError.say("\(host) has ended the session. The program connects and signs in again.")
      lose()
    case .sessionEnded: break
    case .state(let state): try take(state)
    }
  }

  private mutating func lose() {
    (isUp, isReady, isLost, isSilent) = (false, false, true, false)
  }

  private mutating func take(_ state: SocketSession.State) throws {
    switch state {
    case .connecting where isUp:
      StandardError.say("The connection to \(host) is lost. It is made again.")
      lose()
    case .waiting(_, let reason):
      if !isReasonTold {
        // A reason may begin with the address.
        let start = reason.hasPrefix(host) ? "" : "\(host): "
        StandardError.say(start + reason + ". The connection is made again.")
      }
      lose()
      isReasonTold = true
    case .silent:
      StandardError.say("\(host) does not answer.")
      isSilent = true
    case .connected:
      if isSilent { StandardError.say("\(host) answers again.") }
      (isUp, isSilent) = (true, false)
    case .refused(let reason): throw Failure("\(host) refuses the connection: \(reason)")
    case .absent(let reason):
      throw Failure("\(host) has no Socket.IO, and tells of no events over REST: \(reason)")
    default: break
    }
  }
}
