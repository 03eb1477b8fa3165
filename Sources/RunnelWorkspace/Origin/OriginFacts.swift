package import RunnelBase
import RunnelStore
import RunnelTerminal

/// What is known of the server whose database is shown.
package struct OriginFacts: Hashable, Sendable {
  /// The state of the link to it.
  package enum Link: String, Hashable, Sendable, CaseIterable {
    /// No attempt is made until somebody asks for one.
    case offline
    /// The next attempt is made after a while.
    case waiting
    /// A connection is being made.
    case connecting
    /// What is shown is what the server has.
    case live
    /// Another process on the same file talks to the server, for this one too.
    case shared
    /// The server does not take who one is.
    case refused
    /// The server said that one shall not come back by oneself.
    case shutDown
  }

  /// The state of the link.
  package var link: Link
  /// Why it is not live, in words; nil if it is not known.
  package var reason: String?
  /// Since when the server cannot be talked to, in milliseconds since 1970; nil while it can.
  package var since: Int64?
  /// The writes of which nobody knows whether the server did them.
  package var unknownCount: Int

  /// Makes facts.
  package init(_ link: Link, reason: String? = nil, since: Int64? = nil, unknownCount: Int = 0) {
    (self.link, self.reason, self.since) = (link, reason, since)
    self.unknownCount = unknownCount
  }
}

extension OriginFacts {
  /// What stands in the header instead of `live`; nil if the list says it.
  func line(_ state: AppState, _ glyphs: Glyphs, isShort: Bool) -> StyledLine? {
    let parts: (sign: String, words: String, role: StyleRole)
    switch link {
    case .live, .shared: return nil
    case .connecting: parts = (glyphs.connecting, "connecting", .connecting)
    case .waiting, .offline: parts = (glyphs.connecting, "offline\(sinceText(state))", .warn)
    case .refused: parts = (glyphs.failed, "refused", .error)
    case .shutDown: parts = (glyphs.failed, "shut down", .error)
    }
    return StyledLine(isShort ? parts.sign : "\(parts.sign) \(parts.words)", parts.role)
  }

  /// After so long what clocks showed does not say when it was.
  private static let dayMilliseconds: Int64 = 86_400_000

  private func sinceText(_ state: AppState) -> String {
    guard let since else { return "" }
    let days = (state.now - since) / OriginFacts.dayMilliseconds
    if days > 0 { return " for \(days) d" }
    return " since \(state.settings.local.timeText(since))"
  }

  /// Takes over what is known now, and says what the user has to know.
  static func take(_ state: inout AppState, _ facts: OriginFacts) {
    let before = state.database.origin
    // One attempt after the other is no news: it is offline until one succeeds.
    if before?.link == .waiting, facts.link == .connecting { return }
    state.database.origin = facts
    let isNew = before?.link != facts.link || before?.reason != facts.reason
    guard isNew, let reason = facts.reason else { return }
    switch facts.link {
    case .refused, .shutDown: state.say(.error, reason)
    // An attempt that fails is made again: once it is said why.
    case .waiting: if before?.reason != facts.reason { state.say(.info, reason) }
    case .offline, .connecting, .live, .shared: break
    }
  }
}

// MARK: Recording

extension OriginFacts {
  /// The facts as a recorded session has them.
  package var json: JSONValue {
    var members = [JSONMember("link", .string(link.rawValue))]
    if let reason { members.append(JSONMember("reason", .string(reason))) }
    if let since { members.append(JSONMember("since", .number(JSONNumber(since)))) }
    if unknownCount > 0 {
      members.append(JSONMember("unknown", .number(JSONNumber(Int64(unknownCount)))))
    }
    return .object(members)
  }

  /// Reads what `json` wrote; nil if it is something else.
  package init?(_ json: JSONValue) {
    guard let link = json["link"]?.string.flatMap(Link.init) else { return nil }
    self.init(
      link, reason: json["reason"]?.string, since: json["since"]?.int.map(Int64.init),
      unknownCount: json["unknown"]?.int ?? 0)
  }
}
