import Glibc
import Synchronization

/// The choice among several hosts: the one that takes writes, and none that was replaced.
///
/// A primary that comes back after a standby took over takes writes, too, until its operator stops it. Its
/// *timeline* is older: each promotion begins a new one. So the first connection of a process to a place looks
/// at all hosts, as does the next one after one that broke, and none takes a primary that is older than those that
/// the process has seen.
///
/// Connections that still lead to the older one break at their next use, or while they wait: a server must not
/// read there what is old.
///
/// Each host gets its share of the time, so that one that does not answer keeps nobody from the others, and the
/// one that was used last is asked first.
struct PrimaryChoice {
  /// What this process has seen.
  private struct Seen {
    /// The newest timeline of each cluster.
    var timelines: [Int64: Int64] = [:]
    /// The host that was used last, of the places all of whose hosts were looked at.
    var hosts: [PostgresPlace: PostgresHost] = [:]
  }

  private static let seen = Mutex(Seen())
  /// How long others are waited for once there is a connection.
  private static let lookTime = Duration.seconds(2)

  /// A connection, and what else was found.
  struct Found {
    var link: NetworkLink
    /// The hosts that take writes, and were replaced.
    var replaced: [String] = []
  }

  /// Which primary of which cluster a connection leads to.
  struct Mark: Sendable {
    var cluster: Int64
    var timeline: Int64

    /// Asks for it; nil if the database does not tell it.
    fileprivate init?(_ link: NetworkLink, within time: Duration) throws(PostgresError) {
      let result: PostgresResult
      do {
        result = try link.perform(
          [
            PostgresStatement(
              "SELECT system_identifier, pg_walfile_name(pg_current_wal_lsn()) FROM pg_control_system()"
            )
          ], within: time)[0]
      } catch {
        if error.kind == .refused { return nil }
        throw error
      }
      // The name of a file of the log begins with the timeline.
      guard result.count == 1, let cluster = try? result.integer(0, 0),
        let timeline = result.text(0, 1).flatMap({ Int64($0.prefix(8), radix: 16) })
      else { return nil }
      (self.cluster, self.timeline) = (cluster, timeline)
    }
  }

  private let place: PostgresPlace
  private let patience: PostgresConnection.Patience
  private var best: (link: NetworkLink, mark: Mark, host: PostgresHost)?
  private var replaced: [String] = []

  private init(_ place: PostgresPlace, _ patience: PostgresConnection.Patience) {
    (self.place, self.patience) = (place, patience)
  }

  /// Connects to a place.
  ///
  /// - Throws: `PostgresError` that says why there is no connection.
  static func connect(
    _ place: PostgresPlace, patience: PostgresConnection.Patience
  ) throws(PostgresError) -> Found {
    if mayNameSeveral(place) {
      let hosts = try NetworkLink.hosts(of: place)
      if hosts.count > 1 {
        var choice = PrimaryChoice(place, patience)
        return try choice.connect(hosts)
      }
    }
    return Found(link: try NetworkLink(place, patience: patience))
  }

  /// True if the process has seen a newer primary of the same cluster.
  static func isReplaced(_ mark: Mark) -> Bool {
    PrimaryChoice.seen.withLock { $0.timelines[mark.cluster] ?? 0 } > mark.timeline
  }

  /// Has the next connection look at all hosts of a place again, because one broke.
  static func lookAgain(at place: PostgresPlace) {
    PrimaryChoice.seen.withLock { $0.hosts[place] = nil }
  }

  private static func mayNameSeveral(_ place: PostgresPlace) -> Bool {
    if place.text.contains(",") || place.text.contains("service") { return true }
    return getenv("PGSERVICE") != nil || getenv("PGHOST").map { strchr($0, 44) != nil } == true
      || getenv("PGHOSTADDR") != nil
  }

  private mutating func connect(_ hosts: [PostgresHost]) throws(PostgresError) -> Found {
    let end = ContinuousClock.now + patience.connecting
    var failures: [PostgresError] = []
    let last = PrimaryChoice.seen.withLock { $0.hosts[place] }
    let hosts = hosts.filter { $0 == last } + hosts.filter { $0 != last }
    for (index, host) in hosts.enumerated() {
      var share = patience
      share.connecting = ContinuousClock.now.duration(to: end) / (hosts.count - index)
      if best != nil { share.connecting = min(share.connecting, PrimaryChoice.lookTime) }
      do {
        let link = try NetworkLink(place, host: host, patience: share)
        guard let mark = try Mark(link, within: max(share.connecting, PrimaryChoice.lookTime))
        else {
          best?.link.close()
          return Found(link: link)
        }
        if take(link, mark, of: host) { break }
      } catch {
        // The place itself is wrong.
        if error.kind == .unsuitable || error.kind == .missingLibrary { throw error }
        failures.append(error)
      }
    }
    if let best {
      PrimaryChoice.seen.withLock { seen in
        seen.hosts[place] = best.host
        let known = seen.timelines[best.mark.cluster] ?? 0
        seen.timelines[best.mark.cluster] = max(best.mark.timeline, known)
      }
      best.link.primary = best.mark
      return Found(link: best.link, replaced: replaced)
    }
    throw failure(failures)
  }

  /// Takes a connection if it is the best one so far; returns true if no other host need be asked.
  private mutating func take(
    _ link: NetworkLink, _ mark: Mark, of host: PostgresHost
  ) -> Bool {
    let (seen, isKnown) = PrimaryChoice.seen.withLock {
      ($0.timelines[mark.cluster] ?? 0, $0.hosts[place] != nil)
    }
    let known = max(seen, best?.mark.cluster == mark.cluster ? best?.mark.timeline ?? 0 : 0)
    if mark.timeline < known || best.map({ $0.mark.cluster != mark.cluster }) == true {
      // The order of the place decides between two clusters, which is not for a program to judge.
      if mark.timeline < known { replaced.append(link.name) }
      link.close()
      return false
    }
    if let best {
      if mark.timeline == best.mark.timeline {
        link.close()
        return false
      }
      replaced.append(best.link.name)
      best.link.close()
    }
    best = (link, mark, host)
    return isKnown
  }

  private func failure(_ failures: [PostgresError]) -> PostgresError {
    let old = replaced.map {
      "\($0) was replaced by another primary: stop it, and make it a standby"
    }
    let texts =
      failures.map { error in
        error.message.hasPrefix(PostgresHandshake.beginning)
          ? String(error.message.dropFirst(PostgresHandshake.beginning.count)) : error.message
      } + old
    return PostgresError(
      .disconnected, state: failures.lazy.compactMap(\.state).first,
      PostgresHandshake.beginning + texts.joined(separator: "; "))
  }
}
