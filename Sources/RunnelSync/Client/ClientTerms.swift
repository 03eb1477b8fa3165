package import RunnelTree

/// The address that a client connects to.
package struct ClientTarget: Hashable, Sendable {
  /// The host, with its port if that is not the usual one.
  package var host: String
  /// True for a connection with TLS.
  package var isSecure: Bool
  /// The path and query of the request that opens the connection.
  package var request: String
}

/// The state of the link to an origin, for people.
public enum LinkState: Hashable, Sendable {
  /// No attempt is made until the user asks for one.
  case offline(ClientOfflineReason)
  /// The next attempt is made at this moment, on the monotonic clock. The text says what went
  /// wrong, if an attempt failed.
  case waiting(until: Int64, String?)
  /// A connection is being made.
  case connecting
  /// The origin is checking the credential.
  case authenticating
  /// The origin can be reached. It has not answered all that the replica listened to when the
  /// connection began, so what is shown may be older than the origin's data.
  case catchingUp
  /// The origin can be reached, and has answered all listens with which the connection began.
  case live
  /// There is a connection, and the origin gives no sign of life although it was asked for one.
  case notAnswering
}

/// The reason why no attempt is made.
public enum ClientOfflineReason: Hashable, Sendable {
  /// Nobody has asked for an attempt yet, or the user stopped the client.
  case asked
  /// The origin told the client not to reconnect automatically; the text is the origin's reason.
  case shutDown(String)
  /// The origin refused a credential, and also the replacement that was requested after it.
  case refused(CredentialRefusal)
}

/// The configuration of a client session.
package struct ClientConfiguration: Hashable, Sendable {
  /// The host to connect to first.
  package var host: String
  /// True for connections with TLS.
  package var isSecure: Bool
  /// The database on that host; nil if the host names it.
  package var namespace: String?
  /// The name of an app, which some origins require.
  package var appID: String?
  /// The statistics reported at the first connection: name and version of the client; nil for none.
  package var statistic: String?
  /// True if the client authenticates with a credential, which the session asks for.
  package var hasCredential: Bool
  /// True if the session asks for the credential on each connection, and uses no other one there: who gives it
  /// checks first whether there may be a connection.
  package var asksEachTime = false
  /// The names that tell this replica's writes from those of others.
  package var writers: WriterNames
  /// The name of the session that an earlier program had at the origin, which ends it at the next
  /// handshake; nil for none.
  package var lastSession: String?
  /// The last write that may have been sent before this program began; see `writeOutcomeUnknown`.
  package var lastEarlierWrite: Int64
  /// True if a write that adds to a number may be sent again although it may have been done.
  package var resendsIncrements: Bool

  /// Makes a configuration.
  package init(host: String, isSecure: Bool, namespace: String? = nil, writers: WriterNames) {
    self.host = host
    self.isSecure = isSecure
    self.namespace = namespace
    self.writers = writers
    (appID, statistic, lastSession) = (nil, nil, nil)
    (hasCredential, resendsIncrements) = (false, false)
    lastEarlierWrite = .min
  }
}

/// The time limits and counts of a client.
public struct ClientLimits: Hashable, Sendable {
  /// The most bytes in one message of the origin.
  public var messageBytesMax = 268_435_456 + 65_536
  /// The longest time from an attempt to the handshake, in milliseconds.
  public var handshakeMilliseconds: Int64 = 30_000
  /// The longest time for the authentication, in milliseconds.
  public var authenticationMilliseconds: Int64 = 30_000
  /// The time without traffic in either direction after which a keep-alive is sent, in
  /// milliseconds.
  public var keepAliveMilliseconds: Int64 = 45_000
  /// The time without a sign of life from the origin after which it is asked for one, in
  /// milliseconds.
  public var silenceMilliseconds: Int64 = 60_000
  /// The time without a sign of life after which an origin that owes an answer is asked for one, in
  /// milliseconds.
  public var answerMilliseconds: Int64 = 5000
  /// The time without a sign of life after which an origin is asked for one while somebody uses its data, in
  /// milliseconds.
  public var attentionMilliseconds: Int64 = 10_000
  /// The time without an answer to that question after which the link is `notAnswering`, in
  /// milliseconds.
  public var doubtMilliseconds: Int64 = 3000
  /// The longest time that the origin may take to answer that question, in milliseconds.
  public var signMilliseconds: Int64 = 30_000
  /// The upper bound of the wait after a good connection, in milliseconds.
  public var delayMin: Int64 = 1000
  /// The longest wait between two attempts, in milliseconds.
  public var delayMax: Int64 = 30_000
  /// The lifetime from which a connection counts as good, in milliseconds.
  public var goodMilliseconds: Int64 = 30_000
  /// The most times in a row that an origin may name another host.
  public var redirectsMax = 5
  /// The most writes that are sent and not answered.
  ///
  /// A server remembers the names of a client's last 1000 writes, so every write that may have to
  /// be sent again is among them.
  public var unansweredWritesMax = 500
  /// The most bytes of writes that are sent and not answered; one write may be longer.
  public var unansweredBytesMax = 16_777_216

  /// Makes the default limits.
  public init() {}
}

/// News that a client session tells the replica.
package enum ReplicaNews: Hashable, Sendable {
  /// The origin can be reached. The replica names the connection by this number when it gives its
  /// commands. `originTime` is the time of the origin's clock, in milliseconds since 1970.
  case connected(connection: Int64, originTime: Int64)
  /// The connection is lost.
  case disconnected
  /// The origin sent a message.
  case message(OriginMessage)
}
