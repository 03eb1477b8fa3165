package import RunnelBase

// Pending writes on disk: JSON with the write as requested, and its parts in the export format.

extension PendingWrite {
  private enum Name {
    static let set = "set"
    static let update = "update"
    static let value = "value"
    static let parts = "parts"
    static let path = "path"
    static let node = "node"
    static let priority = "priority"
    static let base = "base"
    static let seen = "seen"
    static let estimates = "estimates"
    static let isVisible = "visible"
    static let isDurable = "durable"
    static let session = "session"
    static let isPassing = "passing"
    static let client = "client"
    static let number = "number"
    static let madeAt = "at"
    static let done = "done"
    static let isCompared = "compared"
    static let holdsBases = "held"
  }

  /// The write as JSON, without its id.
  package var json: JSONValue {
    var members: [JSONMember] =
      switch write.asked(parts) {
      case .set(let path, let json):
        [JSONMember(Name.set, .string(path.description)), JSONMember(Name.value, json)]
      case .update(let path, let values):
        [
          JSONMember(Name.update, .string(path.description)),
          JSONMember(Name.value, .object(values)),
        ]
      case .copy, .move: []
      }
    members.append(JSONMember(Name.parts, .array(parts.indices.map(partJSON))))
    members.append(JSONMember(Name.isVisible, .bool(isVisible)))
    members.append(JSONMember(Name.isDurable, .bool(isDurable)))
    if holdsBases { members.append(JSONMember(Name.holdsBases, true)) }
    if let madeAt { members.append(JSONMember(Name.madeAt, .number(JSONNumber(madeAt)))) }
    if doneCount > 0 {
      members.append(JSONMember(Name.done, .number(JSONNumber(Int64(doneCount)))))
    }
    return .object(members + seenMembers + makerMembers)
  }

  private var seenMembers: [JSONMember] {
    guard let seen else { return [] }
    var members = [
      JSONMember(Name.path, .string(seen.path.description)),
      JSONMember(Name.node, seen.node.exportJSON),
    ]
    if !seen.estimates.isEmpty {
      let places = seen.estimates.map { JSONValue.string($0.description) }
      members.append(JSONMember(Name.estimates, .array(places)))
    }
    return [JSONMember(Name.seen, .object(members))]
  }

  private var makerMembers: [JSONMember] {
    switch maker {
    case .anyone(let name?):
      [
        JSONMember(Name.client, .string(name.client)),
        JSONMember(Name.number, .number(JSONNumber(name.number))),
      ]
    case .anyone(nil): []
    case .transaction(let session):
      [JSONMember(Name.session, .number(JSONNumber(session)))]
    case .passing(let session):
      // Older versions take it for a write of a transaction, which ends with its session too.
      [
        JSONMember(Name.session, .number(JSONNumber(session))),
        JSONMember(Name.isPassing, .bool(true)),
      ]
    }
  }

  private func partJSON(_ index: Int) -> JSONValue {
    var members = [JSONMember(Name.path, .string(parts[index].path.description))]
    switch parts[index].target {
    case .node(let node): members.append(JSONMember(Name.node, node.exportJSON))
    case .priority(let priority):
      members.append(JSONMember(Name.priority, priority?.json ?? .null))
    }
    if bases.indices.contains(index), let base = bases[index] {
      members.append(JSONMember(Name.base, base.exportJSON))
    }
    if compared.contains(parts[index].path) { members.append(JSONMember(Name.isCompared, true)) }
    return .object(members)
  }

  /// Reads what `json` wrote; nil if the value is anything else.
  package init?(id: Int64, json: JSONValue) {
    guard let write = PendingWrite.write(json), case .array(let elements)? = json[Name.parts],
      case .bool(let isVisible)? = json[Name.isVisible],
      case .bool(let isDurable)? = json[Name.isDurable]
    else { return nil }
    var parts: [Assignment] = []
    var bases: [Node?] = []
    var compared: Set<Path> = []
    for element in elements {
      guard let part = PendingWrite.part(element) else { return nil }
      parts.append(part)
      if element[Name.isCompared] == true { compared.insert(part.path) }
      // Without its base a conflict cannot be found, but the write is as good as with it.
      bases.append(element[Name.base].flatMap { try? Node(json: $0) })
    }
    var seen: SeenNode?
    if let kept = json[Name.seen] {
      // Without what was seen, it would overwrite what others wrote.
      guard let read = PendingWrite.seen(kept) else { return nil }
      seen = read
    }
    self.init(
      id: id, write: write, parts: parts, bases: bases, seen: seen, isVisible: isVisible,
      maker: PendingWrite.maker(json, isDurable: isDurable),
      madeAt: PendingWrite.integer(json[Name.madeAt]))
    doneCount = json[Name.done]?.int ?? 0
    self.compared = compared
    holdsBases = json[Name.holdsBases] == true
  }

  private static func seen(_ json: JSONValue) -> SeenNode? {
    guard case .string(let text)? = json[Name.path], let path = try? Path(text),
      let value = json[Name.node], let node = try? Node(json: value)
    else { return nil }
    let estimates = json[Name.estimates]?.array ?? []
    return SeenNode(
      path, node, estimates: estimates.compactMap { $0.string.flatMap { try? Path($0) } })
  }

  private static func maker(_ json: JSONValue, isDurable: Bool) -> Maker {
    if isDurable { return .anyone(name: name(json)) }
    let session = integer(json[Name.session]) ?? noSession
    let isPassing = json[Name.isPassing] == .bool(true)
    return isPassing ? .passing(session: session) : .transaction(session: session)
  }

  private static func name(_ json: JSONValue) -> WriteID? {
    guard case .string(let client)? = json[Name.client], let number = integer(json[Name.number])
    else { return nil }
    return WriteID(client: client, number: number)
  }

  private static func integer(_ json: JSONValue?) -> Int64? {
    guard case .number(let number)? = json else { return nil }
    return number.integer
  }

  private static func write(_ json: JSONValue) -> Write? {
    guard let value = json[Name.value] else { return nil }
    if case .string(let text)? = json[Name.set], let path = try? Path(text) {
      return .set(path, value)
    }
    guard case .string(let text)? = json[Name.update], let path = try? Path(text),
      case .object(let members) = value
    else { return nil }
    return .update(path, members)
  }

  private static func part(_ json: JSONValue) -> Assignment? {
    guard case .string(let text)? = json[Name.path], let path = try? Path(text) else {
      return nil
    }
    if let value = json[Name.node], let node = try? Node(json: value) {
      return Assignment(path: path, target: .node(node))
    }
    guard let value = json[Name.priority], let priority = try? Node.importedPriority(value) else {
      return json[Name.priority] == .null
        ? Assignment(path: path, target: .priority(nil)) : nil
    }
    return Assignment(path: path, target: .priority(priority))
  }
}
