package import RunnelBase
package import RunnelTree
import RunnelStore
import RunnelTerminal

/// The state of the link to the server whose database is shown.
package struct OriginFacts: Hashable, Sendable {
  /// The state of the link to it.
  package enum Link: String, Hashable, Sendable, CaseIterable {
    /// Offline by request: no attempt to connect is made.
    case offline
    /// Offline: the next attempt to connect is made after a pause.
    case waiting
    /// A connection is being made.
    case connecting
    /// Connected: the server has not answered all that was asked when the connection began.
    case catchingUp
    /// Connected: the data shown is the server's.
    case live
    /// Connected, but the server gives no sign of life.
    case notAnswering
    /// Connected: the data shown were read from the server, which tells of no changes of others.
    case read
    /// Another process on the same file holds the connection, and has not told its state.
    case shared
    /// The server refused the credentials.
    case refused
    /// The server ended the connection and forbade automatic reconnection.
    case shutDown
  }

  /// The state of the link.
  package var link: Link
  /// The reason why the link is not live; nil if there is none.
  package var reason: String?
  /// The time since which the link is not live, in milliseconds since 1970; nil while it is.
  package var since: Int64?
  /// The ids of the writes of unknown outcome.
  package var unknownWrites: [Int64]
  /// Whether another process on the same file holds the connection, for this one too; the state is its own.
  package var isShared = false
  /// Whether it is a Feathers server, whose services may have methods.
  package var hasServices = false
  /// Whether there was no connection for a while since the facts that were shown before.
  package var isOtherConnection = false

  /// The places of records that have just got another key at the server, with the new ones.
  package var newPlaces: [Path: Path] = [:]
  /// The bytes that were received so far of answers that have not ended; 0 if there are none.
  package var receivedBytes = 0
  /// What limits the data of the server, in words; nil for nothing.
  package var limits: String?
  /// What gives the access, in words, if it is no user, such as `secret`; nil for a user's access, and for none.
  package var credential: String?
  /// The milliseconds that the server took to answer, if that was just measured; nil otherwise.
  package var latency: Int64?

  /// Makes facts.
  package init(
    _ link: Link, reason: String? = nil, since: Int64? = nil, unknownWrites: [Int64] = []
  ) {
    (self.link, self.reason, self.since) = (link, reason, since)
    self.unknownWrites = unknownWrites
  }
}

extension OriginFacts {
  /// Returns the text in the header instead of `live`; nil if the list's own state is shown.
  func line(_ state: AppState, _ glyphs: Glyphs, isShort: Bool) -> StyledLine? {
    let parts: (sign: String, words: String, role: StyleRole)
    switch link {
    case .live, .read: return nil
    case .shared: parts = (glyphs.connecting, "in another window", .muted)
    case .connecting: parts = (glyphs.connecting, "connecting", .connecting)
    case .catchingUp:
      parts = (glyphs.connecting, "catching up\(receivedText)", .connecting)
    case .notAnswering:
      parts = (glyphs.connecting, "not answering\(sinceText(state))", .warn)
    case .waiting, .offline:
      parts = (glyphs.connecting, "offline\(signInText(state) ?? sinceText(state))", .warn)
    case .refused: parts = (glyphs.failed, "refused\(signInText(state) ?? "")", .error)
    case .shutDown: parts = (glyphs.failed, "shut down", .error)
    }
    return StyledLine(isShort ? parts.sign : "\(parts.sign) \(parts.words)", parts.role)
  }

  /// Returns what is said of a list that has all that the server sends: that it is live, unless the server tells of
  /// no changes.
  static func liveLine(_ facts: OriginFacts?, _ glyphs: Glyphs, isShort: Bool) -> StyledLine {
    let (sign, words, role): (String, String, StyleRole) =
      facts?.link == .read
      ? (glyphs.connecting, "over REST", .warn) : (glyphs.live, "live", .live)
    return StyledLine(isShort ? sign : "\(sign) \(words)", role)
  }

  /// The amount of data that was received so far of long answers, with a space before it; empty if there
  /// are none.
  var receivedText: String { receivedBytes == 0 ? "" : " \(receivedBytes >> 20) MB" }

  /// The age from which on the age of the data is shown.
  private static let ageMilliseconds: Int64 = 60_000

  /// Whether the data shown come from the cache, and may be older than those of the server.
  package var isCached: Bool { ![.live, .read].contains(link) }

  /// Whether another process is connected, for this one too.
  package var isLiveElsewhere: Bool { isShared && [.live, .read].contains(link) }

  /// Whether there is no connection and none is being made at the moment: what the replica does not
  /// know cannot be read.
  package var isDisconnected: Bool {
    switch link {
    case .offline, .waiting, .notAnswering, .refused, .shutDown: true
    case .connecting, .catchingUp, .live, .read, .shared: false
    }
  }

  /// Whether the server can be asked now as it could not before: there is another connection, or somebody
  /// else is signed in.
  private func isReached(after before: OriginFacts?) -> Bool {
    guard let before else { return false }
    if !hasServices { return before.isCached && !isCached }
    // A question for a list makes the link catch up, also on a connection that was there before.
    return isConnected && (isOtherConnection || !before.isConnected)
  }

  /// Whether there is a connection, and the server takes who asks.
  package var isConnected: Bool {
    switch link {
    case .catchingUp, .live, .notAnswering, .read: true
    case .offline, .waiting, .connecting, .shared, .refused, .shutDown: false
    }
  }

  /// Returns the words that mark the rows of a list as those of the cache, with their age; nil if they
  /// are the server's.
  ///
  /// Limit: a list that was not shown before the connection was lost may be older.
  func cachedText(now: Int64) -> String? {
    guard isCached else { return nil }
    guard let since, now - since >= OriginFacts.ageMilliseconds else { return "cached" }
    return "cached \(Age.text(of: since, now: now))"
  }

  /// Returns the time at which `cachedText` changes; nil if it does not by itself.
  func nextCachedChange(now: Int64) -> Int64? {
    guard isCached, let since else { return nil }
    let first = since + OriginFacts.ageMilliseconds
    return now < first ? first : Age.nextChange(of: since, now: now)
  }

  /// The age after which days are shown instead of the clock time.
  private static let dayMilliseconds: Int64 = 86_400_000

  private func sinceText(_ state: AppState) -> String {
    guard let since else { return "" }
    let days = (state.now - since) / OriginFacts.dayMilliseconds
    if days > 0 { return " for \(days) d" }
    return " since \(state.settings.local.timeText(since))"
  }

  /// The keys that end being offline; nil if no sign-in does, or it is not needed.
  private func signInText(_ state: AppState) -> String? {
    guard let accounts = state.database.accounts else { return nil }
    // A server that refuses who is not signed in may take an account.
    let isNobodyRefused = link == .refused && accounts.session == .nobody
    guard accounts.goesOnBySignIn || isNobodyRefused else { return nil }
    let keys = AccountsScreen.signInHint(state, "signs in")
    return keys.isEmpty ? nil : keys
  }

  /// Stores new facts, and shows a message if the user must know of the change.
  static func take(_ state: inout AppState, _ facts: OriginFacts) {
    let before = state.database.origin
    // Repeated attempts are not shown: the link stays offline until one succeeds.
    if before?.link == .waiting, facts.link == .connecting { return }
    state.database.origin = facts
    state.database.origin?.newPlaces = [:]
    state.database.origin?.isOtherConnection = false
    RecordMoves.follow(&state, facts.newPlaces)
    if facts.isReached(after: before) { ListScreen.readFailedAgain(&state) }
    // What was said of the lost connection is over.
    if before?.isCached == true, !facts.isCached {
      state.toast?.ofLink = nil
      if state.toast?.isOfLink == true { state.toast = nil }
    }
    if let latency = facts.latency {
      state.say(.info, "the server answered in \(latency == 0 ? "less than 1" : "\(latency)") ms")
    }
    let unknown = Set(facts.unknownWrites)
    if unknown != state.writes.queue.unknown {
      state.writes.queue.unknown = unknown
      QueueScreen.refreshQueue(&state)
    }
    let isNew = before?.link != facts.link || before?.reason != facts.reason
    guard isNew, let reason = facts.reason ?? facts.link.standingReason else { return }
    switch facts.link {
    case .refused, .shutDown:
      TimedToast.sayOfLink(&state, .error, reason)
    // Attempts are repeated: the reason is shown only when it changes. That a session has ended was
    // said already, and what has become of the account says more than that its credential is another one.
    case .waiting:
      if before?.reason != facts.reason, state.database.accounts?.reasonEnded == nil,
        !AccountsScreen.saysChange(state)
      {
        TimedToast.sayOfLink(&state, .info, reason)
      }
    case .read: state.say(.info, state.phrase(reason, .viewResync, "asks again"))
    case .offline, .connecting, .catchingUp, .live, .notAnswering, .shared: break
    }
  }
}

extension OriginFacts.Link {
  /// What a state means for the data shown, if the header does not say all of it; nil if it does.
  fileprivate var standingReason: String? {
    self == .read ? "over REST the server tells of no changes of others" : nil
  }
}

// MARK: Recording

extension OriginFacts {
  /// The facts as JSON, for recorded sessions.
  package var json: JSONValue {
    var members = [JSONMember("link", .string(link.rawValue))]
    if let reason { members.append(JSONMember("reason", .string(reason))) }
    if let since { members.append(JSONMember("since", .number(JSONNumber(since)))) }
    if receivedBytes > 0 {
      members.append(JSONMember("received", .number(JSONNumber(Int64(receivedBytes)))))
    }
    if let latency { members.append(JSONMember("latency", .number(JSONNumber(latency)))) }
    if !unknownWrites.isEmpty {
      let ids = unknownWrites.map { JSONValue.number(JSONNumber($0)) }
      members.append(JSONMember("unknown", .array(ids)))
    }
    if isShared { members.append(JSONMember("shared", .bool(true))) }
    if let limits { members.append(JSONMember("limits", .string(limits))) }
    if let credential { members.append(JSONMember("credential", .string(credential))) }
    if hasServices { members.append(JSONMember("services", .bool(true))) }
    if isOtherConnection { members.append(JSONMember("other", .bool(true))) }
    if !newPlaces.isEmpty {
      let places = newPlaces.sorted { $0.key < $1.key }
        .map { JSONMember("\($0.key)", .string("\($0.value)")) }
      members.append(JSONMember("places", .object(places)))
    }
    return .object(members)
  }

  /// Reads facts that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    guard let link = json["link"]?.string.flatMap(Link.init) else { return nil }
    self.init(
      link, reason: json["reason"]?.string, since: json["since"]?.int.map(Int64.init),
      unknownWrites: json["unknown"]?.array?.compactMap { $0.int.map(Int64.init) } ?? [])
    latency = json["latency"]?.int.map(Int64.init)
    receivedBytes = json["received"]?.int ?? 0
    limits = json["limits"]?.string
    credential = json["credential"]?.string
    hasServices = json["services"] == true
    isOtherConnection = json["other"] == true
    isShared = json["shared"] == true
    for member in json["places"]?.object ?? [] {
      guard let old = try? Path(member.name), let new = try? Path(member.value.string ?? "") else {
        continue
      }
      newPlaces[old] = new
    }
  }
}
