import RunnelBase
import RunnelServices
import RunnelTree

// Records that are to be read before they are written, and cannot be: what others wrote there is not overwritten in
// silence.
//
// Source: services protocol, section 11.5.

/// What is known of records that could not be read before they were to be written.
struct UnreadRecords: Sendable {
  /// How often a record could not be read in a row.
  var failures: [RecordID: Int] = [:]
  /// What writes that were refused since nobody may read their record do to it, by the place below it: the same,
  /// sent again, is written all the same.
  var refused: [RecordID: Set<[Path: JSONValue]>] = [:]
  /// The writes that were sent again so.
  var allowed: Set<Int64> = []
}

extension ServiceOrigin {
  /// How often a record is asked for before its write is refused.
  private static let readsMax = 3

  /// The records, by their keys here, whose writes wait until a record was read.
  func waiting(for service: Key, _ key: Key) -> [RecordID] {
    var records = [RecordID(service: service, key: key)]
    for (name, target) in sent.aliases where target == key.text {
      guard let path = try? Path(name), path.keys.count == 2, path.keys[0] == service else {
        continue
      }
      records.append(RecordID(service: service, key: path.keys[1]))
    }
    // A creation waits for something else.
    let marked = services[service]?.newest.waiting
    return records.filter { queue.isWaiting($0) && marked?.contains($0) != true }
  }

  /// A record could not be read, for an error that is no passing one: decides about the writes that wait for it.
  mutating func unread(_ service: Key, _ key: Key, _ error: FeathersError, _ now: Int64) {
    let isKnown = !mirror.node(service, key).isEmpty
    for record in waiting(for: service, key) {
      switch error.code {
      case 401:
        queue.wake(record)
        effects.append(.signedOut(error.message))
        pause(now, ServiceOrigin.signInPause)
      case 405 where isKnown, 501 where isKnown:
        // The service has lists only: then what these tell is all that can be known.
        wake(record, isRead: true)
      case 499, 500, 502...:
        let count = (unreadRecords.failures[record] ?? 0) + 1
        unreadRecords.failures[record] = count < ServiceOrigin.readsMax ? count : nil
        if count < ServiceOrigin.readsMax {
          queue.wake(record)
          pause(now)
        } else {
          refuseUnread(record, error)
        }
      default:
        if isKnown { compare(record, without: error) } else { refuseUnread(record, error) }
      }
    }
  }

  /// Sends the writes of a record that nobody may read if they were sent again after that had been said; else
  /// refuses the first one that was not.
  private mutating func compare(_ record: RecordID, without error: FeathersError) {
    let jobs = queue.jobs(of: record).filter { $0.items[$0.done].record == record }
    if let job = jobs.first(where: { !isAllowed($0, record) }) {
      unreadRecords.refused[record, default: []].insert(job.items[job.done].contents)
      return refuseUnread(record, error, job)
    }
    for job in jobs { unreadRecords.refused[record]?.remove(job.items[job.done].contents) }
    unreadRecords.allowed.formIntersection(queue.jobs.keys)
    unreadRecords.allowed.formUnion(jobs.map(\.id))
    checks[record] = nil
    wake(record, isRead: true)
  }

  private func isAllowed(_ job: ServiceWrites.Job, _ record: RecordID) -> Bool {
    unreadRecords.allowed.contains(job.id)
      || unreadRecords.refused[record]?.contains(job.items[job.done].contents) == true
  }

  /// True if one of these writes is made also if its record cannot be compared.
  func isAllowedUnread(_ jobs: [ServiceWrites.Job]) -> Bool {
    jobs.contains { unreadRecords.allowed.contains($0.id) }
  }

  /// Refuses the first write of a record, or the one that may be sent again.
  private mutating func refuseUnread(
    _ record: RecordID, _ error: FeathersError, _ job: ServiceWrites.Job? = nil
  ) {
    guard let id = job?.id ?? queue.ids(of: record).first else { return }
    var refusal = error.treeError
    refusal.message =
      "The record cannot be read, so it cannot be compared with what others wrote: \(refusal.message)"
    if let job {
      let others =
        job.items.count - job.done > 1 ? ", and so are later ones of which that is true" : ""
      refusal.message += " · sent again, it is written all the same\(others)"
    }
    refuse(record, [id], refusal)
  }
}

extension ServiceWrites.Item {
  /// What is to stand at which place below the record.
  fileprivate var contents: [Path: JSONValue] {
    Dictionary(edits.map { (Path(unchecked: $0.below), $0.json) }) { $1 }
  }
}
