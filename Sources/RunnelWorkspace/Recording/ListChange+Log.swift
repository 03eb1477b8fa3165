package import RunnelBase
import RunnelStore
import RunnelStreams
package import RunnelTree

// Changes of lists and of the tree, as recorded sessions have them.

extension ListChange {
  /// The change without the rows that stayed: the new rows with their ids and places.
  package var log: JSONValue {
    let edit = edit ?? ListEdit(update)
    var json: JSONValue = [
      "update": update.log,
      "rows": .strings(edit.insertedRows),
      "sections": .array(
        edit.insertedSections.map { ["id": .string($0.id), "rows": .strings(Array($0.rows))] }),
      "new": .strings(newRows.sorted()),
      "records": .array(records.values.sorted { $0.path < $1.path }.map(\.log)),
      "removed": .strings(removed),
      "phase": phase.log,
      "paging": paging.log, "newer": newer.log, "loaded": .int(loadedCount),
      "lettingGo": .bool(isLettingGo), "searched": .int(searchedCount),
    ]
    if let filterPlace, case .object(let members) = json {
      json = .object(members + [JSONMember("filterPlace", .string(filterPlace.rawValue))])
    }
    return json
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    update = try BatchUpdate(log: fields.value("update"))
    content = .edit(
      ListEdit(
        update, insertedRows: try fields.strings("rows"),
        insertedSections: try fields.array("sections").map { section in
          let fields = LogFields(section)
          return ListSection(id: try fields.string("id"), rows: try fields.strings("rows"))
        }))
    newRows = Set(try fields.strings("new"))
    for json in try fields.array("records") {
      let record = try Record(log: json)
      records[record.id] = record
    }
    removed = try fields.strings("removed")
    phase = try LoadState(log: fields.value("phase"))
    paging = try FetchState(log: fields.value("paging"))
    newer = try FetchState(log: fields.value("newer"))
    loadedCount = try fields.int("loaded")
    isLettingGo = try fields.bool("lettingGo")
    // Older recordings do not have it.
    searchedCount = json["searched"].flatMap(LogFields.integer).map { Int(clamping: $0) } ?? 0
    filterPlace = json["filterPlace"]?.string.flatMap { FilterPlace(rawValue: $0) }
  }
}

extension NodeExcerpt {
  package var log: JSONValue {
    [
      "text": .string(text), "bytes": .int(byteCount), "counted": .bool(isCounted),
      "undoable": .bool(isUndoable), "grandchildren": grandchildCount.map { .int($0) } ?? .null,
      "whole": .bool(isWhole),
    ]
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(
      text: try fields.string("text"), byteCount: try fields.int("bytes"),
      isCounted: try fields.bool("counted"), isWhole: try fields.bool("whole"),
      isUndoable: json["undoable"] == true,
      grandchildCount: json["grandchildren"].flatMap(LogFields.integer).map { Int(clamping: $0) })
  }
}

extension TreeChange {
  /// The change without the children that stayed.
  package var log: JSONValue {
    let came = came.sorted { $0.key < $1.key }
    var members = [
      JSONMember("update", update.log), JSONMember("at", .array(came.map { .int($0.key) })),
      JSONMember("rows", .array(came.map { $0.value.log })), JSONMember("phase", phase.log),
      JSONMember("paging", paging.log),
    ]
    if let listing { members.append(JSONMember("listing", listing.json)) }
    return .object(members)
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    update = try BatchUpdate(log: fields.value("update"))
    let places = try fields.integers("at")
    let rows = try fields.array("rows").map { try Record(log: $0) }
    content = .edit(
      Dictionary(zip(places, rows), uniquingKeysWith: { first, _ in first }))
    phase = try LoadState(log: fields.value("phase"))
    paging = try FetchState(log: fields.value("paging"))
    listing = json["listing"].flatMap { TreeListing($0) }
  }
}

extension BatchUpdate {
  fileprivate var log: JSONValue {
    if isReload { return "reload" }
    let parts: [(String, [[Int]])] = [
      ("deletedSections", deletedSections.map { [$0] }),
      ("reloadedSections", reloadedSections.map { [$0] }),
      ("insertedSections", insertedSections.map { [$0] }),
      ("movedSections", movedSections.map { [$0.from, $0.to] }),
      ("deletedRows", deletedRows.map(\.numbers)),
      ("reloadedRows", reloadedRows.map(\.numbers)),
      ("insertedRows", insertedRows.map(\.numbers)),
      ("movedRows", movedRows.map { $0.from.numbers + $0.to.numbers }),
    ]
    return .object(
      parts.filter { !$0.1.isEmpty }.map { name, lists in
        JSONMember(name, .array(lists.map { .array($0.map { .int($0) }) }))
      })
  }

  fileprivate init(log json: JSONValue) throws(ActionLogError) {
    self.init()
    if json == "reload" {
      self = .reload
      return
    }
    let fields = LogFields(json)
    deletedSections = try fields.integers("deletedSections", by: 1).map { $0[0] }
    reloadedSections = try fields.integers("reloadedSections", by: 1).map { $0[0] }
    insertedSections = try fields.integers("insertedSections", by: 1).map { $0[0] }
    movedSections = try fields.integers("movedSections", by: 2).map {
      Move(from: $0[0], to: $0[1])
    }
    deletedRows = try fields.integers("deletedRows", by: 2).map { ListIndexPath($0) }
    reloadedRows = try fields.integers("reloadedRows", by: 2).map { ListIndexPath($0) }
    insertedRows = try fields.integers("insertedRows", by: 2).map { ListIndexPath($0) }
    movedRows = try fields.integers("movedRows", by: 4).map {
      Move(from: ListIndexPath($0), to: ListIndexPath(Array($0[2...])))
    }
  }
}

extension ListIndexPath {
  fileprivate var numbers: [Int] { [section, row] }

  fileprivate init(_ numbers: [Int]) { self.init(section: numbers[0], row: numbers[1]) }
}

extension Record {
  fileprivate var log: JSONValue { ["path": .string(path.description), "row": row.log] }

  fileprivate init(log json: JSONValue) throws {
    let fields = LogFields(json)
    self.init(path: try fields.path("path"), row: try TreeRow(log: fields.value("row")))
  }
}

extension TreeRow {
  /// The row without the value that a query compares, because screens do not hold it.
  package var log: JSONValue {
    switch content {
    case .node(let node): ["key": .string(key.text), "node": node.exportJSON]
    case .summary(let summary): ["key": .string(key.text), "summary": summary.log]
    }
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    let text = try fields.string("key")
    // The key of a row being composed is not a valid key of the tree.
    let key = (try? RunnelTree.Key(text)) ?? Key(unchecked: text)
    if let summary = json["summary"] {
      self.init(key: key, value: .null, content: .summary(try NodeSummary(log: summary)))
    } else {
      let node = try RunnelTree.Node(json: fields.value("node"))
      self.init(key: key, value: .null, content: .node(node))
    }
  }
}

extension NodeSummary {
  fileprivate var log: JSONValue {
    var members: [JSONMember] = []
    switch kind {
    case .empty: break
    case .leaf(let leaf): members.append(JSONMember("leaf", leaf.json))
    case .children(let count): members.append(JSONMember("children", .int(count)))
    }
    if let priority { members.append(JSONMember("priority", priority.json)) }
    return .object(members)
  }

  fileprivate init(log json: JSONValue) throws {
    let priority = json["priority"].flatMap { Leaf($0) }
    if json["children"] != nil {
      self.init(kind: .children(count: try LogFields(json).int("children")), priority: priority)
    } else if let leaf = json["leaf"].flatMap({ Leaf($0) }) {
      self.init(kind: .leaf(leaf), priority: priority)
    } else {
      self.init(kind: .empty, priority: priority)
    }
  }
}

extension LoadState {
  fileprivate var log: JSONValue {
    switch self {
    case .idle: "idle"
    case .loading: "loading"
    case .cached: "cached"
    case .loaded: "loaded"
    case .failed(let failure): failure.log
    }
  }

  fileprivate init(log json: JSONValue) throws(ActionLogError) {
    switch json {
    case "idle": self = .idle
    case "loading": self = .loading
    case "cached": self = .cached
    case "loaded": self = .loaded
    default: self = .failed(try StreamFailure(log: json))
    }
  }
}

extension FetchState {
  fileprivate var log: JSONValue {
    switch self {
    case .unknown: "unknown"
    case .more: "more"
    case .fetching: "fetching"
    case .failed(let failure): failure.log
    case .exhausted: "exhausted"
    }
  }

  fileprivate init(log json: JSONValue) throws(ActionLogError) {
    switch json {
    case "unknown": self = .unknown
    case "more": self = .more
    case "fetching": self = .fetching
    case "exhausted": self = .exhausted
    default: self = .failed(try StreamFailure(log: json))
    }
  }
}

extension StreamFailure {
  fileprivate var log: JSONValue { ["failed": .string(message), "code": .string(code)] }

  /// Sessions that were recorded before failures had a code have none.
  fileprivate init(log json: JSONValue) throws(ActionLogError) {
    self.init(try LogFields(json).string("failed"), code: json["code"]?.string ?? "")
  }
}
