import RunnelBase
import RunnelServices
import RunnelTree

// Writes of records that have a version: they are sent with the condition that the record still has it,
// so that no write of another is lost. If it has not, the record is read, and the write is made anew on
// what stands there; a field that both have changed makes the write a refused one.
//
// Source: services protocol, section 11.5.

/// What is checked before a write of a record is sent again.
struct VersionCheck: Sendable {
  /// The version with which the write was sent.
  var value: JSONValue
  /// The record at that version.
  var base: Node
}

extension ServiceOrigin {
  /// The fields that may be the version of a record, the surest first.
  static let versionFields = [
    "version", "_v", "__v", "rev", "updatedAt", "updated_at", "modifiedAt",
  ]

  /// The version of a record; nil if it has none, or if the server cannot find a record by it.
  func version(
    of node: Node, _ key: Key, _ service: Key
  ) -> (field: String, value: JSONValue)? {
    if services[service]?.ignoresVersions != false { return nil }
    let record = mirror.record(node, key, of: service)
    for field in ServiceOrigin.versionFields {
      switch record[field] {
      case .string?, .number?: return record[field].map { (field, $0) }
      default: break
      }
    }
    return nil
  }

  /// A write found no record of its version: has the record read, and the write sent anew after that.
  mutating func check(_ call: WriteCall, _ error: FeathersError) {
    guard let version = call.version else { return }
    let service = call.record.service
    forget(call.ids)
    if error.code == 400 {
      services[service]?.ignoresVersions = true
      services[service]?.versionDoubt = call.record
      return queue.release(call.record)
    }
    checks[call.record] = VersionCheck(value: version.value, base: version.base)
    queue.wait(call.record)
    fetch(service, call.target)
  }

  /// Notes whether a write that was refused is taken without the version.
  mutating func settleDoubt(_ call: WriteCall, _ answer: Result<JSONValue, FeathersError>) {
    let service = call.record.service
    guard call.version == nil, services[service]?.versionDoubt == call.record else { return }
    services[service]?.versionDoubt = nil
    // Then it was not the version.
    if case .failure(let error) = answer, error.code == 400 {
      services[service]?.ignoresVersions = false
    }
  }

  /// True if a record has to be read before it is written: it has no version with which the server could
  /// tell that it is another now.
  func mustBeRead(_ key: Key, of service: Key, _ current: Node) -> Bool {
    !current.isEmpty && version(of: current, key, service) == nil
  }

  /// Notes what the reading of a record says that was not written since it had another version.
  mutating func noteCheck(of record: RecordID, _ current: Node) {
    guard let check = checks[record] else { return }
    if version(of: current, record.key, record.service)?.value == check.value {
      // The record is as it was: it is the condition that the server does not understand.
      services[record.service]?.ignoresVersions = true
      checks[record] = nil
    }
  }
}
