package import RunnelBase

/// The writes that were sent and may have been done, though no answer came: those that must not be
/// sent twice, and what became of records that got another id.
///
/// It is kept on disk beside the replica, so that it outlives the program. All other writes can be
/// sent again: they tell a state.
///
/// Source: services protocol, section 11.5.
package struct SentWrites: Hashable, Sendable {
  /// A record that was asked to be created.
  package struct Creation: Hashable, Sendable {
    /// The data that were sent.
    package var data: JSONValue
    /// The ids of known records that had the same values before.
    package var known: [String]
  }

  /// The most writes that are kept; with more, none is sent before others are answered.
  package static let countMax = 1_000

  /// What was asked to be created, by the id of the write.
  package var creations: [Int64: Creation] = [:]
  /// The writes that add to what is there.
  package var additions: Set<Int64> = []
  /// The keys of records by their temporary keys, both behind the key of the service.
  package var aliases: [String: String] = [:]

  /// Makes an empty list.
  package init() {}

  /// True if there is nothing to keep.
  package var isEmpty: Bool { creations.isEmpty && additions.isEmpty && aliases.isEmpty }

  /// Drops what is about writes that are not pending any more.
  package mutating func keep(pending: Set<Int64>) {
    creations = creations.filter { pending.contains($0.key) }
    additions.formIntersection(pending)
    if pending.isEmpty { aliases = [:] }
  }

  // MARK: JSON

  /// The form in a file.
  package var json: JSONValue {
    let created = creations.sorted { $0.key < $1.key }.map { id, creation in
      JSONMember(
        String(id),
        .object([
          JSONMember("data", creation.data),
          JSONMember("known", .array(creation.known.map { .string($0) })),
        ]))
    }
    let added = additions.sorted().map { JSONValue.number(JSONNumber($0)) }
    let named = aliases.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) }
    return .object([
      JSONMember("creations", .object(created)), JSONMember("additions", .array(added)),
      JSONMember("aliases", .object(named)),
    ])
  }

  /// Reads the form in a file; what is damaged is left out.
  package init(json: JSONValue) {
    for member in json["creations"]?.object ?? [] {
      guard let id = Int64(member.name), let data = member.value["data"] else { continue }
      creations[id] = Creation(
        data: data, known: (member.value["known"]?.array ?? []).compactMap(\.string))
    }
    additions = Set((json["additions"]?.array ?? []).compactMap { $0.int.map { Int64($0) } })
    for member in json["aliases"]?.object ?? [] { aliases[member.name] = member.value.string }
  }
}
