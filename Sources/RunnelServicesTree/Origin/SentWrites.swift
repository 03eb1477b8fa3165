package import RunnelBase
package import RunnelTree

/// The writes that were sent and may have been done, though no answer came: those that must not be
/// sent twice, how far writes of several records have come, and what became of records that got another id.
///
/// It is kept on disk beside the replica, so that it outlives the program. All other writes can be
/// sent again: they tell a state.
///
/// Source: services protocol, section 11.5.
package struct SentWrites: Hashable, Sendable {
  /// A record that was asked to be created.
  package struct Creation: Hashable, Sendable {
    /// The record, behind the key of the service; nil in files of earlier versions.
    package var record: String?
    /// The data that were sent.
    package var data: JSONValue
    /// The keys of records with the same values that were there before, or are those of other creations.
    package var known: [String]
    /// True if all records of the service were known.
    package var isWhole = false
    /// The newest record before; nil if that is not known.
    package var mark: CreationMark?
    /// The key of the record that was created, as an event told before the connection was lost.
    package var made: String?
    /// That record, as it was told.
    package var madeRecord: JSONValue?
    /// How often the server was searched for it in vain, and is to be searched again.
    package var searchCount = 0
    /// When that was done first.
    package var searchedSince: Int64?
    /// True if the server answered, by something that is no record: it may do at each call what it did.
    package var isAnswered = false
  }

  /// The most writes that are kept; with more, none is sent before others are answered.
  package static let countMax = 1_000

  /// What was asked to be created, by the id of the write.
  package var creations: [Int64: Creation] = [:]
  /// The writes of which nobody can find out whether they were done: only the user has them sent again.
  package var unknown: Set<Int64> = []
  /// The writes that add to what is there.
  package var additions: Set<Int64> = []
  /// The record of a write of several that is done next, behind the key of the service, by the id of the write:
  /// all before it are done.
  package var progress: [Int64: String] = [:]
  /// The keys of records by their temporary keys, both behind the key of the service.
  package var aliases: [String: String] = [:]
  /// The keys of records that creations have made while others were not answered, the last of them, by service: they
  /// are none of those others.
  package var others: [String: [String]] = [:]
  /// What the server has made of these records beyond what was sent, by their temporary keys: writes that wait
  /// were made without it.
  package var changes: [String: NodeChange] = [:]

  /// Makes an empty list.
  package init() {}

  /// True if there is nothing to keep.
  package var isEmpty: Bool {
    creations.isEmpty && additions.isEmpty && aliases.isEmpty && unknown.isEmpty
      && progress.isEmpty
  }

  /// Drops what is about writes that are not pending any more.
  package mutating func keep(pending: Set<Int64>) {
    creations = creations.filter { pending.contains($0.key) }
    additions.formIntersection(pending)
    unknown.formIntersection(pending)
    progress = progress.filter { pending.contains($0.key) }
    if pending.isEmpty { (aliases, changes) = ([:], [:]) }
    if creations.isEmpty { others = [:] }
  }

  /// The most keys of such records of a service.
  private static let othersMax = 256

  /// Notes a record that another creation has made.
  mutating func note(other key: String, of service: String) {
    var keys = others[service] ?? []
    if keys.contains(key) { return }
    if keys.count >= SentWrites.othersMax { keys.removeFirst() }
    others[service] = keys + [key]
  }

  // MARK: JSON

  /// The form in a file.
  package var json: JSONValue {
    let created = creations.sorted { $0.key < $1.key }.map { id, creation in
      JSONMember(String(id), creation.json)
    }
    let added = additions.sorted().map { JSONValue.number(JSONNumber($0)) }
    let next = progress.sorted { $0.key < $1.key }.map { id, record in
      JSONMember(String(id), .string(record))
    }
    let named = aliases.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) }
    let changed = changes.sorted { $0.key < $1.key }.map { name, change in
      JSONMember(name, .array([change.before.json, change.after.json]))
    }
    let other = others.sorted { $0.key < $1.key }.map { service, keys in
      JSONMember(service, .array(keys.map { .string($0) }))
    }
    return .object([
      JSONMember("creations", .object(created)), JSONMember("additions", .array(added)),
      JSONMember("aliases", .object(named)),
      JSONMember("unknown", .array(unknown.sorted().map { .number(JSONNumber($0)) })),
      JSONMember("progress", .object(next)), JSONMember("changes", .object(changed)),
      JSONMember("others", .object(other)),
    ])
  }

  /// Reads the form in a file; what is damaged is left out.
  package init(json: JSONValue) {
    for member in json["creations"]?.object ?? [] {
      guard let id = Int64(member.name) else { continue }
      creations[id] = Creation(json: member.value)
    }
    additions = SentWrites.ids(json["additions"])
    unknown = SentWrites.ids(json["unknown"])
    for member in json["progress"]?.object ?? [] {
      if let id = Int64(member.name) { progress[id] = member.value.string }
    }
    for member in json["aliases"]?.object ?? [] { aliases[member.name] = member.value.string }
    for member in json["others"]?.object ?? [] {
      others[member.name] = (member.value.array ?? []).compactMap(\.string)
    }
    for member in json["changes"]?.object ?? [] {
      guard let pair = member.value.array, pair.count == 2, let before = try? Node(json: pair[0]),
        let after = try? Node(json: pair[1])
      else { continue }
      changes[member.name] = NodeChange(path: .root, before: before, after: after)
    }
  }

  private static func ids(_ json: JSONValue?) -> Set<Int64> {
    Set((json?.array ?? []).compactMap { $0.int.map { Int64($0) } })
  }
}

extension SentWrites.Creation {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember("data", data), JSONMember("known", .array(known.map { .string($0) })),
    ]
    if let record { members.append(JSONMember("record", .string(record))) }
    if isWhole { members.append(JSONMember("isWhole", .bool(true))) }
    if let mark {
      var parts = [JSONMember("field", .string(mark.field))]
      if let value = mark.value { parts.append(JSONMember("value", value)) }
      members.append(JSONMember("mark", .object(parts)))
    }
    if let made { members.append(JSONMember("made", .string(made))) }
    if searchCount > 0 {
      members.append(JSONMember("searches", .number(JSONNumber(Int64(searchCount)))))
    }
    if let searchedSince {
      members.append(JSONMember("searched", .number(JSONNumber(searchedSince))))
    }
    if isAnswered { members.append(JSONMember("answered", .bool(true))) }
    if let madeRecord { members.append(JSONMember("madeRecord", madeRecord)) }
    return .object(members)
  }

  fileprivate init?(json: JSONValue) {
    guard let data = json["data"] else { return nil }
    self.init(data: data, known: (json["known"]?.array ?? []).compactMap(\.string))
    record = json["record"]?.string
    isWhole = json["isWhole"]?.bool ?? false
    mark = json["mark"].flatMap { mark in
      mark["field"]?.string.map { CreationMark(field: $0, value: mark["value"]) }
    }
    made = json["made"]?.string
    madeRecord = json["madeRecord"]
    isAnswered = json["answered"]?.bool ?? false
    searchCount = json["searches"]?.int ?? 0
    searchedSince = json["searched"]?.int.map(Int64.init)
  }
}
