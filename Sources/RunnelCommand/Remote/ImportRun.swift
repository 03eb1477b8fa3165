import RunnelBase
import RunnelTree

/// The writing of a document to a server, batch by batch, that replaces nothing that others write meanwhile.
///
/// Servers of this program compare all places of a batch at once. With other servers, each place is written by
/// a request of its own, which compares that place.
struct ImportRun {
  /// What stood at the place of the document when it was read.
  enum Start: Hashable {
    /// It does not matter: nothing is compared.
    case forced
    /// Nothing.
    case empty
    /// What has this tag; the document takes its place.
    case standing(tag: String)
    /// Not read: the document takes the place of whatever stands there at first.
    case replaced
    /// Not read yet: what the document names is read before the first batch.
    case merged
  }

  /// The command that writes, which says how to go on.
  enum Purpose: Hashable {
    case importing
    case copying

    func wayOn(_ next: Int) -> String {
      switch self {
      case .importing:
        next == 1 ? "import it again." : "continue with --from-batch \(next)."
      case .copying: "copy again to write them all."
      }
    }

    /// The way on where others wrote.
    func wayOnBesideOthers(_ next: Int) -> String {
      switch self {
      case .importing:
        "With --force, \(next == 1 ? "import it again" : "continue with --from-batch \(next)") to replace "
          + "it. Or leave out of the document what shall stay as it is, and import that with --merge, from "
          + "its first batch."
      case .copying: "With --force, copy again to replace it."
      }
    }
  }

  /// Places that others wrote.
  private struct Others: Error {
    /// The first one.
    var place: Path
    var count = 1
  }

  private static let triesMax = 5
  /// A tag that no places have.
  private static let wrongTag = "?"

  private let remote: RemoteDatabase
  private let document: RemoteImport
  private let start: Start
  private let first: Int
  private let purpose: Purpose
  private let progress: (_ batchCount: Int, _ valueCount: Int) -> Void
  /// Whether the server compares all places of an update at once.
  private var comparesUpdates = false
  /// The hashes that were read at the places of each batch; empty if nothing may stand there.
  private var hashes: [[String]] = []
  private var writtenCount = 0

  /// Prepares to write the batches from one on, the first being 1.
  ///
  /// `progress` is called with the number of batches that were written, and that of the values.
  init(
    _ document: RemoteImport, to remote: RemoteDatabase, from first: Int = 1, _ start: Start,
    _ purpose: Purpose, progress: @escaping (_ batchCount: Int, _ valueCount: Int) -> Void
  ) {
    (self.document, self.remote, self.first) = (document, remote, first)
    (self.start, self.purpose, self.progress) = (start, purpose, progress)
    writtenCount = (0..<first - 1).map(document.valueCount).reduce(0, +)
  }

  /// Writes the batches.
  ///
  /// - Throws: `Failure` that says how to go on.
  mutating func run() throws {
    if start != .forced, document.batches.count > 1 {
      comparesUpdates = try remote.comparesUpdates(at: document.place, wrongTag: ImportRun.wrongTag)
      if start == .merged, first == 1 { hashes = try read() }
    }
    for index in (first - 1)..<document.batches.count {
      do {
        try write(index)
      } catch let others as Others {
        throw failure(others, index)
      } catch let unknown as RemoteDatabase.UnknownOutcome {
        throw failure(unknown.failure, index)
      } catch let failure as Failure {
        throw self.failure(failure, index)
      }
      progress(index + 1, writtenCount)
    }
  }

  // MARK: Reading

  /// The hashes of what stands at the places of each batch, before the first one is written.
  private func read() throws -> [[String]] {
    let batches = document.batches.map { batch -> [JSONMember] in
      if case .update(_, let members) = batch { members } else { [] }
    }
    if comparesUpdates { return try batches.map(read) }
    let tree: MemoryTree
    do {
      tree = MemoryTree(try remote.node(at: document.place))
    } catch let failure as Failure {
      throw Failure(
        "\(failure.message) Without it, nothing tells what others write meanwhile. Nothing was written; "
          + "--force writes without comparing.", status: failure.status)
    }
    return try batches.map { try $0.map { try tree.updateHash(of: $0, below: .root).hash } }
  }

  private func read(_ members: [JSONMember]) throws -> [String] {
    do {
      // A server that passed over the tag would write what is to be written anyway.
      try remote.write(.update(document.place, members), ifTag: ImportRun.wrongTag)
    } catch let changed as RemoteDatabase.PlaceChanged {
      if let hashes = changed.hashes, hashes.count == members.count { return hashes }
    }
    throw ImportRun.uncompared
  }

  private static let uncompared = Failure(
    "The server compares some writes and not others, as if several versions of it answered: nothing tells "
      + "what others write meanwhile. --force writes without comparing.")

  // MARK: Writing

  private mutating func write(_ index: Int) throws {
    switch document.batches[index] {
    case .set(let path, let json): try set(path, json, index)
    case .update(_, let members):
      let isSingle = document.batches.count == 1
      if start == .forced || isSingle {
        try remote.write(document.batches[index])
      } else {
        let read = hashes.isEmpty ? members.map { _ in "" } : hashes[index]
        if !comparesUpdates { return try writeEach(members, read, index) }
        try writeAll(members, read)
      }
    case .copy, .move: preconditionFailure("Copies and moves are not sent to a server.")
    }
    writtenCount += document.valueCount(ofBatch: index)
  }

  /// Sets the place of the document: with all of it, or with nothing before the batches that fill it.
  private func set(_ path: Path, _ json: JSONValue, _ index: Int) throws {
    let tag: String? =
      switch start {
      case .forced: nil
      case .standing(let tag) where index == 0: tag
      case .replaced where index == 0, .merged where index == 0: nil
      case .empty, .standing, .replaced, .merged: RemoteDatabase.emptyTag
      }
    do {
      try remote.write(.set(path, json), ifTag: tag)
    } catch is RemoteDatabase.PlaceChanged {
      let own = UpdateHashes.hash(after: JSONMember("own", json))
      // It was written before, and the answer was lost.
      if let own, try remote.tag(of: path) == (own.isEmpty ? RemoteDatabase.emptyTag : own) {
        return
      }
      if index > 0 { throw Others(place: path) }
      throw Failure(
        start == .empty
          ? "The place was empty, but something has been written there meanwhile. Nothing was replaced."
          : "What stands at the place was changed after it was read. Nothing was replaced.")
    }
  }

  /// Writes a batch with a server that compares all of its places at once.
  private func writeAll(_ members: [JSONMember], _ read: [String]) throws {
    var expected = read
    let own = members.map(UpdateHashes.hash)
    for _ in 1...ImportRun.triesMax {
      let tag = UpdateHashes.tag(of: expected)
      do {
        return try remote.write(
          .update(document.place, members), ifTag: tag.isEmpty ? RemoteDatabase.emptyTag : tag)
      } catch let changed as RemoteDatabase.PlaceChanged {
        guard let current = changed.hashes, current.count == members.count else {
          throw ImportRun.uncompared
        }
        // It was written before, by a command that was stopped.
        if zip(current, own).allSatisfy({ $0 == $1 }) { return }
        let others = members.indices.filter {
          UpdateHashes.isOthers(current[$0], read: expected[$0], own: own[$0])
        }
        if let index = others.first {
          throw Others(place: try place(of: members[index]).path, count: others.count)
        }
        expected = current
      }
    }
    throw ImportRun.restless
  }

  private static let restless = Failure(
    "Others write there all the time: try it again later.", status: .retryable)

  /// Writes the places of a batch one after the other.
  private mutating func writeEach(
    _ members: [JSONMember], _ read: [String], _ index: Int
  ) throws {
    for (member, read) in zip(members, read) {
      try write(member, read)
      writtenCount += 1
      progress(index, writtenCount)
    }
  }

  private func place(of member: JSONMember) throws -> (path: Path, isPriority: Bool) {
    let pieces = Path.pieces(of: member.name)
    let isPriority = pieces.last == ".priority"
    let below = isPriority ? pieces.dropLast().joined(separator: "/") : member.name
    return (try document.place.appending(Path(below)), isPriority)
  }

  /// Writes the place of a member if it holds what was read there.
  ///
  /// Limit: a value that others put above the place meanwhile is not noticed.
  private func write(_ member: JSONMember, _ read: String) throws {
    let (path, isPriority) = try place(of: member)
    if read.isEmpty, !isPriority {
      do {
        return try remote.write(.set(path, member.value), ifTag: RemoteDatabase.emptyTag)
      } catch is RemoteDatabase.PlaceChanged {}  // What stands there is read below.
    }
    let own = UpdateHashes.hash(after: member)
    let inPlace = JSONMember(isPriority ? ".priority" : "own", member.value)
    for _ in 1...ImportRun.triesMax {
      let (node, tag) = try remote.taggedNode(at: path)
      let current =
        isPriority
        ? try MemoryTree(node).updateHash(of: inPlace, below: .root).hash : node.contentHash
      // An empty place has no priority.
      if current == own || isPriority && node.isEmpty { return }
      if UpdateHashes.isOthers(current, read: read, own: own) { throw Others(place: path) }
      guard let tag else {
        throw Failure(
          "The server tells no ETag of \(remote.placeWords(path)), so that it cannot compare: "
            + "--force writes without comparing.")
      }
      let json =
        isPriority
        ? node.with(priority: try Node.importedPriority(member.value)).exportJSON : member.value
      do {
        return try remote.write(.set(path, json), ifTag: tag)
      } catch is RemoteDatabase.PlaceChanged {}  // It is read again.
    }
    throw ImportRun.restless
  }

  // MARK: Failures

  private func failure(_ failure: Failure, _ index: Int) -> Failure {
    // Nothing was written: the whole can be done again.
    if writtenCount == 0, index == 0 { return failure }
    return Failure(
      "\(failure.message) \(written(index)); \(purpose.wayOn(index + 1))", status: failure.status)
  }

  private func failure(_ others: Others, _ index: Int) -> Failure {
    let place = remote.placeWords(others.place)
    let more =
      others.count == 1
      ? "" : " So does what stands at \(others.count - 1) more of the places that come next."
    // What stood there at first is not known any more.
    let isUnknown = document.merges && first > 1
    let what =
      isUnknown
      ? "What stands at \(place) differs from the document, and nothing tells whether others wrote it after "
        + "the import began.\(more) Nothing of that was replaced. Without --from-batch, the document is "
        + "compared anew from its start."
      : "What stands at \(place) comes from others, who wrote it meanwhile.\(more) Nothing of that was "
        + "replaced."
    return Failure("\(what) \(written(index)). \(purpose.wayOnBesideOthers(index + 1))")
  }

  /// What was written before a batch failed.
  private func written(_ index: Int) -> String {
    let all = document.batches.indices.map(document.valueCount).reduce(0, +)
    let values = "\(writtenCount) of \(all) values"
    if index == 0 { return writtenCount == 0 ? "Nothing was written" : "\(values) were written" }
    let batches = index == 1 ? "Batch 1" : "Batches 1 to \(index)"
    return "\(batches) of \(document.batches.count) "
      + "\(index == 1 ? "was" : "were") written: \(values)"
  }
}

extension RemoteDatabase {
  /// Whether the server compares all places of an update at once.
  ///
  /// It is sent an update of nothing, with a tag that no places have: other servers pass over the tag.
  fileprivate func comparesUpdates(at place: Path, wrongTag: String) throws -> Bool {
    do {
      try write(.update(place, []), ifTag: wrongTag)
      return false
    } catch is PlaceChanged {
      return true
    } catch let failure as Failure where failure.status != .retryable {
      return false
    }
  }
}
