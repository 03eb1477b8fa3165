public import RunnelSync
import RunnelTree

/// The status of the link between a replica and its origin.
public struct OriginStatus: Hashable, Sendable {
  /// The state of the link.
  public enum State: Hashable, Sendable {
    /// This process holds the connection, in this state.
    case link(LinkState)
    /// Another process on the same replica holds the connection, for this one too.
    case elsewhere
    /// The database was closed.
    case closed
  }

  /// The state of the link.
  public var state: State
  /// The state of the link in the process that holds the connection, if that is another one; nil if it is
  /// this one, or if that is not known.
  public var speaker: LinkState?
  /// The time since which the replica has no connection, in milliseconds since 1970, also before this
  /// process; nil while it has one.
  public var offlineSince: Int64?
  /// The ids of the writes of unknown outcome.
  ///
  /// These are increments that were sent to an origin that does not know write ids, and were not
  /// confirmed before the connection was lost; of a server of services, new records too. Only `resend`
  /// sends them again.
  public var unknownWrites: [Int64]

  /// The bytes that were received so far of answers that have not ended, in steps of 1 MiB; 0 if there are
  /// none.
  public var receivedBytes = 0
  /// The milliseconds that the origin took to answer, in the first status after `measureLatency`; nil in
  /// others.
  public var latencyMilliseconds: Int64?

  /// Which data a server of services does not send although there is a connection, in words; nil for none.
  public var limits: String?
  /// False if the origin tells of no changes of others, as services over REST.
  public var hasEvents = true

  /// Makes a status.
  public init(_ state: State, offlineSince: Int64? = nil, unknownWrites: [Int64] = []) {
    self.state = state
    self.offlineSince = offlineSince
    self.unknownWrites = unknownWrites
  }

  /// The state of the link, be it this process's or that of the one that holds the connection; nil if it is
  /// not known, or the database was closed.
  public var link: LinkState? {
    switch state {
    case .link(let link): link
    case .elsewhere: speaker
    case .closed: nil
    }
  }

  /// True while this process is connected and authenticated, and also while it is catching up.
  public var isLive: Bool { state == .link(.live) || state == .link(.catchingUp) }
}

extension OriginStatus {
  /// What pending writes wait for, in words that follow their number; a status that is not known yet is that of a
  /// connection that is being made.
  package static func words(onWaiting status: OriginStatus?) -> String {
    guard let status else { return words(onOwn: .connecting) }
    switch status.state {
    case .link(let link): return words(onOwn: link)
    case .elsewhere: return words(onSpeaker: status.speaker)
    case .closed: return ""
    }
  }

  private static func words(onOwn link: LinkState) -> String {
    switch link {
    case .waiting(_, let reason?): ": \(bare(reason))"
    case .waiting(_, nil): ": the next attempt to connect is awaited"
    case .connecting: ": a connection is being made"
    case .authenticating: ": the server checks who this is"
    case .catchingUp: ": the server has not answered what was asked first"
    case .notAnswering: ": the server does not answer"
    case .live: ": the server has not answered them yet"
    case .offline: ": there is no connection"
    }
  }

  private static func words(onSpeaker link: LinkState?) -> String {
    let other = ": another program has the replica open to send them"
    switch link {
    case .waiting(_, let reason?)?: return "\(other), and waits: \(bare(reason))"
    case .catchingUp?, .notAnswering?: return other + words(onOwn: link ?? .connecting)
    case .live?: return ": another program holds the connection"
    case .waiting?, .connecting?, .authenticating?, .offline?, nil:
      return "\(other), and has no connection"
    }
  }

  private static func bare(_ sentence: String) -> String {
    sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }
}

/// A notice about an origin for its user, beside the link state.
public enum OriginNotice: Hashable, Sendable {
  /// The origin has no index for a query and sent all children instead; `line` is to be added to
  /// its rules.
  case indexMissing(place: String, line: String)
  /// Another credential is used than the one that its source has now.
  case credential(String)
  /// A message for the log.
  case log(String)
}

extension OriginNotice {
  /// Makes the advice for a query that has no index.
  init(missingIndexOf query: Query) {
    let name: String
    switch query.index {
    case .value: name = ".value"
    case .child(let path): name = path.keys.map(\.text).joined(separator: "/")
    case .key, .priority, .compound:
      self = .log("\(query) has no index at the origin.")
      return
    }
    self = .indexMissing(place: query.path.description, line: "\".indexOn\": [\"\(name)\"]")
  }
}
