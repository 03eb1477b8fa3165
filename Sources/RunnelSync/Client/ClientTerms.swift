public import RunnelTree

/// Where a client connects to.
public struct ClientTarget: Hashable, Sendable {
  /// The host, with its port if that is not the usual one.
  public var host: String
  /// True for a connection with TLS.
  public var isSecure: Bool
  /// The path and query of the request that opens the connection.
  public var request: String
}

/// What is known of the link to an origin, for people.
public enum LinkState: Hashable, Sendable {
  /// No attempt is made until somebody asks for one.
  case offline(ClientOfflineReason)
  /// The next attempt is made at this moment, on the clock that never goes back; before that, what
  /// happened, if an attempt failed.
  case waiting(until: Int64, String?)
  /// A connection is being made.
  case connecting
  /// The origin finds out who one is.
  case authenticating
  /// The origin can be talked to.
  case live
}

/// Why no attempt is made.
public enum ClientOfflineReason: Hashable, Sendable {
  /// Nobody has asked for one yet, or somebody ended it.
  case asked
  /// The origin said that one shall not come back by oneself, and why.
  case shutDown(String)
  /// The origin refused a credential, and the one that was asked for after it.
  case refused(CredentialRefusal)
}

/// What a client session is made of.
public struct ClientConfiguration: Hashable, Sendable {
  /// The host to connect to first.
  public var host: String
  /// True for connections with TLS.
  public var isSecure: Bool
  /// The database on that host; nil if the host names it.
  public var namespace: String?
  /// The name of an app, which some origins want.
  public var appID: String?
  /// What is counted at the first connection: the name and version of the client; nil for nothing.
  public var statistic: String?
  /// True if one connects with a credential, which is asked for.
  public var hasCredential: Bool
  /// By what this replica's writes are told from those of others: random, and always the same.
  public var writer: String
  /// The last write that may have been sent before this program began; see `writeOutcomeUnknown`.
  public var lastEarlierWrite: Int64
  /// True if a write that adds to a number may be sent again although it may have been done.
  public var resendsIncrements: Bool

  /// Makes a configuration.
  public init(host: String, isSecure: Bool, namespace: String? = nil, writer: String) {
    self.host = host
    self.isSecure = isSecure
    self.namespace = namespace
    self.writer = writer
    (appID, statistic) = (nil, nil)
    (hasCredential, resendsIncrements) = (false, false)
    lastEarlierWrite = .min
  }
}

/// The times and numbers that a client goes by.
public struct ClientLimits: Hashable, Sendable {
  /// The most bytes in one message of the origin.
  public var messageBytesMax = 268_435_456 + 65_536
  /// So long it may take from an attempt to the handshake, in milliseconds.
  public var handshakeMilliseconds: Int64 = 30_000
  /// So long it may take to find out who one is, in milliseconds.
  public var authenticationMilliseconds: Int64 = 30_000
  /// After so long without traffic in either direction a sign of life is sent, in milliseconds.
  public var keepAliveMilliseconds: Int64 = 45_000
  /// After so long without a sign of the origin it is asked for one, in milliseconds.
  public var silenceMilliseconds: Int64 = 60_000
  /// So long it may take to give one, in milliseconds.
  public var signMilliseconds: Int64 = 30_000
  /// The shortest time that is gone back to between two attempts, in milliseconds.
  public var delayMin: Int64 = 1000
  /// The longest time between two attempts, in milliseconds.
  public var delayMax: Int64 = 30_000
  /// A connection that lived longer was a good one, in milliseconds.
  public var goodMilliseconds: Int64 = 30_000
  /// So often in a row an origin may name another host.
  public var redirectsMax = 5
  /// The most writes that are sent and not answered.
  ///
  /// A server remembers the names of a client's last 1000 writes: what may have to be sent again is
  /// always among them.
  public var unansweredWritesMax = 500
  /// The most bytes of writes that are sent and not answered; one write may be longer.
  public var unansweredBytesMax = 16_777_216

  /// Makes the limits that hold unless others are chosen.
  public init() {}
}

/// What a client session tells the replica.
public enum ReplicaNews: Hashable, Sendable {
  /// The origin can be talked to. The number names the connection: what the replica wants sent is given
  /// with it. The origin's clock showed `originTime`, in milliseconds since 1970.
  case connected(connection: Int64, originTime: Int64)
  /// The origin is gone.
  case disconnected
  /// The origin told something.
  case message(OriginMessage)
}
