import RunnelBase
import RunnelDatabase
import RunnelSync
import RunnelTree

// Operations of requests over HTTP. Source: wire protocol, section C.

extension ServedTree {
  /// The most bytes of text that are written on the tree's thread; longer texts are written
  /// elsewhere.
  private static let textBytesMax = 262_144

  /// Carries out an operation of a request; `ServedDatabase` handles rules and spooled values.
  ///
  /// - Returns: the messages to connections, in order.
  /// - Throws: errors that make the batch fail.
  mutating func perform(
    _ operation: RESTOperation, for caller: Caller, of connection: Int64, now: Int64,
    _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    let reply: RESTReply
    do throws(Refused) {
      reply = try self.reply(operation, caller, connection, now, transaction, &told)
    } catch {
      reply = .answer(.refused(try error.refusal()))
    }
    told.append((connection, .answered(reply)))
    return told
  }

  private mutating func reply(
    _ operation: RESTOperation, _ caller: Caller, _ connection: Int64, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws(Refused) -> RESTReply {
    switch operation {
    case .read(let query, let form, let isPretty, let hashes):
      return try refusing { () throws(TreeError) in
        try checkRead(query, caller, now: now, transaction)
        try checkIndex(query, transaction)
        let reply = try read(query, form, isPretty, hashes, transaction)
        if case .content(_, let text) = reply { try checkSize(text, query, caller) }
        return reply
      }
    case .readPriority(let path):
      return try refusing { () throws(TreeError) in
        try checkRead(Query(path), caller, now: now, transaction)
        return .answer(.priority(try transaction.summary(at: path).priority))
      }
    case .write(let write, let condition, let name, let hashes):
      return .answer(
        try self.write(write, condition, name, hashes, caller, now, transaction, &told))
    case .push(let path, let json, let name, let hashes):
      let key = try push(json, to: path, name, caller, now, transaction, &told)
      let hash = try hash(of: path, caller, now, isWanted: hashes, transaction)
      return .answer(.pushed(key, hash: hash))
    case .stream(let query, _):
      return .answer(
        try refusing { () throws(TreeError) in
          try stream(query, caller, connection, now, transaction)
        })
    case .putSpooled, .readRules, .writeRules:
      preconditionFailure("The served database carries these out.")
    }
  }

  private mutating func read(
    _ query: Query, _ form: TreeExport.Form, _ isPretty: Bool, _ hashes: Bool,
    _ transaction: some ServedTransaction
  ) throws(TreeError) -> RESTReply {
    var export = TreeExport(query, form: form, layout: isPretty ? .pretty : .compact)
    if try isLargeWindow(query, transaction) { return .large }
    let limit = ServedTree.textBytesMax
    let text = try export.next(from: transaction, bytesMax: limit) ?? []
    if text.count >= limit, try export.next(from: transaction, bytesMax: 1) != nil {
      return .large
    }
    let hash = hashes ? try hash(of: query, transaction) : nil
    return .content(hash: hash, text: text)
  }

  private mutating func write(
    _ write: Write, _ condition: String?, _ name: WriteID?, _ hashes: Bool, _ caller: Caller,
    _ now: Int64, _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws(Refused) -> RESTAnswer {
    let place: Path
    switch write {
    case .set(let path, _), .update(let path, _): place = path
    case .copy(_, let path), .move(_, let path): place = path
    }
    var prints = try name.map { name throws(Refused) in
      try WritePrints(of: name.kept(of: caller), transaction)
    }
    let isRepeated = try isDone(name, caller, transaction)
    if let name, isRepeated { try prints?.check(WritePrints.fingerprint(of: write), name) }
    if let condition, !isRepeated {
      let stale =
        if case .update(_, let members) = write {
          try self.stale(members, below: place, condition, caller, now, transaction)
        } else {
          try self.stale(place, condition, caller, now, transaction)
        }
      if let stale { return stale }
    }
    var parts = try performOnce(write, name, caller, now, transaction, &told)
    if !isRepeated { try prints?.note(WritePrints.fingerprint(of: write), transaction) }
    // Others may have written since a repeated write was done.
    if write.holdsIncrement || isRepeated {
      parts = try failing {
        try parts.filter { try canRead(Query($0.path), caller, now: now, transaction) }
      }
    }
    return .written(
      parts, hash: try hash(of: place, caller, now, isWanted: hashes, transaction))
  }

  /// The answer to a write whose condition does not hold; nil if it does.
  mutating func stale(
    _ place: Path, _ condition: String, _ caller: Caller, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws(Refused) -> RESTAnswer? {
    try refusing { () throws(TreeError) in
      // Whether a condition holds tells what is there, so that only those who may read it may ask.
      try checkRead(Query(place), caller, now: now, transaction)
      if try hash(of: Query(place), transaction) == condition { return nil }
      return .stale(try transaction.node(at: place))
    }
  }

  /// The answer to an update whose condition does not hold; nil if it does.
  private mutating func stale(
    _ members: [JSONMember], below place: Path, _ condition: String, _ caller: Caller,
    _ now: Int64, _ transaction: some ServedTransaction
  ) throws(Refused) -> RESTAnswer? {
    try refusing { () throws(TreeError) in
      var hashes: [String] = []
      for member in members {
        let found = try transaction.updateHash(of: member, below: place)
        // As for a place that is set.
        try checkRead(Query(found.place), caller, now: now, transaction)
        hashes.append(found.hash)
      }
      return UpdateHashes.tag(of: hashes) == condition ? nil : .staleUpdate(hashes)
    }
  }

  /// The hash of a place if the caller may read it, because it reveals the contents of the place.
  mutating func hash(
    of path: Path, _ caller: Caller, _ now: Int64, isWanted: Bool,
    _ transaction: some ServedTransaction
  ) throws(Refused) -> String? {
    try failing {
      guard isWanted, try canRead(Query(path), caller, now: now, transaction) else { return nil }
      return try hash(of: Query(path), transaction)
    }
  }

  private mutating func stream(
    _ query: Query, _ caller: Caller, _ connection: Int64, _ now: Int64,
    _ transaction: some ServedTransaction
  ) throws(TreeError) -> RESTAnswer {
    try checkRead(query, caller, now: now, transaction)
    try checkIndex(query, transaction)
    try checkSize(query, caller, transaction)
    let window = try transaction.window(of: query)
    try joinStream(query, caller, connection, transaction)
    return .streaming(window)
  }

  /// Joins the audience of a stream that is allowed.
  mutating func joinStream(
    _ query: Query, _ caller: Caller, _ connection: Int64, _ transaction: some ServedTransaction
  ) throws(TreeError) {
    let member = Audiences.Member(connection: connection, listen: ServedTree.streamListen)
    try join(member, query, transaction)
    streamCallers[connection] = caller
  }

  /// Ends the streams that the rules do not allow any more.
  mutating func reviewStreams(
    now: Int64, _ transaction: some ServedTransaction
  ) throws -> TreeTold {
    var told: TreeTold = []
    for (connection, caller) in streamCallers.sorted(by: { $0.key < $1.key }) {
      for asked in (asked[connection] ?? [:]).values
      where try !canRead(asked.query, caller, now: now, transaction) {
        leaveAll(connection)
        told.append((connection, .revoked))
      }
    }
    return told
  }

  // MARK: Pushing

  /// Puts a value under a new key; a repeated request gets the same key.
  private mutating func push(
    _ json: JSONValue, to path: Path, _ name: WriteID?, _ caller: Caller, _ now: Int64,
    _ transaction: some ServedTransaction, _ told: inout TreeTold
  ) throws(Refused) -> Key {
    // The keys are those of this caller's names only.
    let kept = name?.kept(of: caller)
    var prints = try kept.map { name throws(Refused) in try WritePrints(of: name, transaction) }
    if let name, let kept, try isDone(name, caller, transaction) {
      try prints?.check(WritePrints.fingerprint(ofPushing: json, to: path), name)
      return try PushedKeys(of: kept.client, transaction).key(kept)
    }
    let (wanted, place) = (nextPushID(now: now), path)
    let key = try refusing { () throws(TreeError) in try transaction.pushID(wanted, in: place) }
    let child = try refusing { () throws(TreeError) in try path.child(key) }
    _ = try performOnce(.set(child, json), name, caller, now, transaction, &told)
    if let kept {
      var keys = try PushedKeys(of: kept.client, transaction)
      try keys.note(key, kept, transaction)
      try prints?.note(WritePrints.fingerprint(ofPushing: json, to: path), transaction)
    }
    return key
  }
}

/// The keys of a client's named pushes: the last ones, so that a repeated request gets the same
/// answer.
private struct PushedKeys {
  private static let countMax = 100
  private static let prefix = "pushed."

  private var keys: [(number: String, key: String)] = []

  init(of client: String, _ transaction: some ServedTransaction) throws(Refused) {
    let name = PushedKeys.prefix + client
    let found = try failing { try transaction.keptValue(name) }
    // Unreadable data is treated like a key that is not known any more.
    guard let found, case .object(let members)? = try? JSONValue(parsing: found) else {
      return
    }
    keys = members.compactMap { member in
      if case .string(let key) = member.value { (member.name, key) } else { nil }
    }
  }

  func key(_ name: WriteID) throws(Refused) -> Key {
    let found = keys.first { $0.number == String(name.number) }
    guard let found, let key = try? Key(found.key) else {
      throw .refusal(
        TreeError(
          .unavailable,
          "This was pushed before, and its key is not known any more: look at the data."))
    }
    return key
  }

  mutating func note(
    _ key: Key, _ name: WriteID, _ transaction: some ServedTransaction
  ) throws(Refused) {
    keys.append((String(name.number), key.text))
    let members = keys.suffix(PushedKeys.countMax).map { JSONMember($0.number, .string($0.key)) }
    try failing {
      try transaction.keep(
        JSONValue.object(members).jsonText(), PushedKeys.prefix + name.client)
    }
  }
}
