package import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// What is known of the children of a node that a server listed without what stands below them.
///
/// The tree of a server is browsed in this way: only the keys of a level are asked for, a page at a time,
/// and what a key stands for once its line is in sight. So nothing is known of a child at first, and of a
/// node never more than the number of its keys.
package struct TreeListing: Hashable, Sendable {
  /// What is known of a child that is no value.
  package enum Fact: Hashable, Sendable {
    /// It is there.
    case unknown
    /// It is a node with so many keys, or at least with these if they are not all.
    case node(keyCount: Int, isAll: Bool)
    /// It could not be read, for this reason.
    case failed(String)
  }

  /// What is known of the children but the values, which stand in the rows.
  package var facts: [RunnelTree.Key: Fact]
  /// The time when the server told the keys, in milliseconds since 1970; nil if the rows are those that
  /// the replica knows.
  package var time: Int64?

  /// Makes a listing.
  package init(facts: [RunnelTree.Key: Fact], time: Int64?) {
    (self.facts, self.time) = (facts, time)
  }
}

extension TreeScreen {
  /// Returns what is known of a node that a server listed; nil for a value, and for a node that the tree
  /// tells whole.
  package func fact(of path: Path) -> TreeListing.Fact? {
    guard let parent = path.parent, let key = path.lastKey else { return nil }
    return expanded[parent]?.listing?.facts[key]
  }

  /// Whether the content of a place is not in the replica, or only in part: a server listed the keys
  /// there or above.
  package func isListed(_ path: Path) -> Bool {
    fact(of: path) != nil || expanded[path]?.listing != nil
  }

  /// The words for a node that a server listed; empty if its keys are not known.
  func factText(_ fact: TreeListing.Fact, of path: Path, _ glyphs: Glyphs) -> StyledLine {
    if let children = expanded[path], children.phase.showsRows {
      let (loaded, isAll) = (children.rows.count, children.paging == .exhausted)
      // More keys may have been counted than are loaded.
      if !isAll, case .node(let count, let isCounted) = fact, count >= loaded {
        return StyledLine(TreeListing.keys(count, isAll: isCounted), .muted)
      }
      return StyledLine(TreeListing.keys(loaded, isAll: isAll), .muted)
    }
    switch fact {
    case .unknown: return StyledLine(glyphs.ellipsis, .muted)
    case .node(let count, let isAll):
      return StyledLine(TreeListing.keys(count, isAll: isAll), .muted)
    case .failed(let reason): return StyledLine("\(glyphs.failed) \(reason)", .error)
    }
  }
}

extension TreeScreen {
  /// The header, with the time when the server told the keys of the root: others may have written since.
  func headings(_ local: LocalTime) -> [String: ListHeading] {
    guard !isUnreadable(.root), let root = expanded[.root], !root.rows.isEmpty,
      let time = root.listing?.time
    else {
      return headings
    }
    var headings = headings
    headings[TreeScreen.section]?.detail.append(" · read \(local.timeText(time))", .muted)
    return headings
  }
}

extension TreeListing {
  static func keys(_ count: Int, isAll: Bool) -> String {
    if !isAll { return "\(count)+ keys" }
    return count == 1 ? "1 key" : "\(count) keys"
  }

  /// The words for the state of an expanded node: whose keys they are, and of when.
  func stateLine(_ local: LocalTime) -> StyledLine {
    guard let time else { return StyledLine("cached", .connecting) }
    return StyledLine("read \(local.timeText(time))", .muted)
  }

  /// The reason why a command that needs all of a place cannot be used, or nil if it can.
  static func reasonNotWhole(_ state: AppState, _ paths: some Sequence<Path>) -> String? {
    guard state.tabs.front == .tree, let path = paths.first(where: state.tabs.tree.isListed)
    else { return nil }
    return "only the keys of \(path) are loaded, not what stands below them"
  }
}

// MARK: What is in sight

extension TreeScreen {
  /// Has the lines in sight looked up, if others are in sight than before.
  static func look(_ state: inout AppState) {
    let tree = state.tabs.tree
    guard tree.isOpen, tree.expanded.values.contains(where: { $0.listing != nil }) else {
      if !tree.inSight.isEmpty { state.tabs.tree.inSight = [] }
      return
    }
    var paths: [Path] = []
    if state.tabs.front == .tree {
      for line in tree.list.lines(in: tree.content, height: state.height) {
        guard case .row(let id) = line.kind, case .node(let path, _, _)? = tree.lines[id],
          let parent = path.parent, tree.expanded[parent]?.listing != nil
        else { continue }
        paths.append(path)
      }
    }
    guard paths != tree.inSight else { return }
    state.tabs.tree.inSight = paths
    state.effects.append(.look(paths))
  }

  /// The command that counts the keys of a node.
  static let count = Command(
    .treeCount, "count", "count the keys of this node", keys: ["gK"], needs: .nothing,
    disabled: { TreeScreen.reasonNotCounted($0) }
  ) { state, _ in
    guard case .node(let path, _, _)? = state.tabs.tree.cursorLine else { return }
    state.effects.append(.countKeys(path))
    state.say(.info, "counting the keys of \(path)")
  }

  private static func reasonNotCounted(_ state: AppState) -> String? {
    guard case .node(let path, let row, _)? = state.tabs.tree.cursorLine else {
      return "move to a node to count its keys"
    }
    if case .leaf = row.summary.kind { return "this is a value: it has no keys" }
    switch state.tabs.tree.fact(of: path) {
    case nil, .node(keyCount: _, isAll: true)?: return "all keys are counted"
    case .unknown?, .node?, .failed?:
      return state.database.origin?.isDisconnected == true ? "there is no connection" : nil
    }
  }
}

extension ActionID {
  static let treeCount = ActionID("tree.count")
}

// MARK: Recording

extension TreeListing {
  /// The listing as JSON, for recorded sessions.
  package var json: JSONValue {
    var members = facts.sorted { $0.key < $1.key }.map { key, fact in
      JSONMember(key.text, TreeListing.json(fact))
    }
    members = [JSONMember("facts", .object(members))]
    if let time { members.append(JSONMember("time", .number(JSONNumber(time)))) }
    return .object(members)
  }

  private static func json(_ fact: Fact) -> JSONValue {
    switch fact {
    case .unknown: .null
    case .node(let count, let isAll): .array([.number(JSONNumber(Int64(count))), .bool(isAll)])
    case .failed(let reason): .string(reason)
    }
  }

  /// Reads a listing that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    guard let members = json["facts"]?.object else { return nil }
    facts = [:]
    for member in members {
      switch member.value {
      case .null: facts[Key(unchecked: member.name)] = .unknown
      case .string(let reason): facts[Key(unchecked: member.name)] = .failed(reason)
      case .array(let parts):
        guard parts.count == 2, let count = parts[0].int, let isAll = parts[1].bool else {
          return nil
        }
        facts[Key(unchecked: member.name)] = .node(keyCount: count, isAll: isAll)
      default: return nil
      }
    }
    time = json["time"]?.int.map(Int64.init)
  }
}
