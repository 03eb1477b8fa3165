import RunnelBase
import RunnelStore
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

// The workspace's actions as recorded sessions have them: all that the reducer uses of each.

extension AppAction: LoggableAction {
  static var kind: String { "app" }

  func json() -> JSONValue {  // tidy:table
    switch self {
    case .tick(let time): ["tick": .number(JSONNumber(time))]
    case .input(let event): ["input": event.log]
    case .list(let view, let change): ["list": .int(view), "change": change.log]
    case .tree(let path, let change):
      ["tree": .string(path.description), "change": change.log]
    case .record(let path, let node):
      ["record": .string(path.description), "node": node.exportJSON]
    case .answered(let id, let answer): ["answered": .int(id.number), "answer": answer.log]
    case .keptAll(let view): ["keptAll": .int(view)]
    case .counted(let view, let count):
      ["counted": .int(view), "count": count.map { .int($0) } ?? .null]
    case .waiting(let view, let count): ["waiting": .int(view), "count": .int(count)]
    case .pendingWrites(let writes): ["pendingWrites": .array(writes.map(\.log))]
    case .refusedWrites(let kept): ["refusedWrites": .array(kept.map(\.json))]
    case .rejected(let write, let reason):
      ["rejected": .number(JSONNumber(write)), "reason": .string(reason)]
    case .origin(let facts): ["origin": facts.json]
    case .accounts(let facts): ["accounts": facts.json]
    case .devices(let facts): ["devices": facts.json]
    case .present(let people): ["present": .array(people.map(\.json))]
    case .trouble(let message): ["trouble": .string(message)]
    case .interrupted(let message): ["interrupted": .string(message)]
    case .said(let message): ["said": .string(message)]
    case .configured(let settings, let problem):
      [
        "configured": .string(settings.source), "themes": .strings(settings.themes),
        "problem": problem.map { .string($0) } ?? .null,
      ]
    case .redefined(let file, let problem, let views):
      [
        "redefined": .string(file), "problem": problem.map { .string($0) } ?? .null,
        "views": .strings([views?.text].compactMap(\.self)),
      ]
    case .sessionKept(let problem): ["sessionKept": problem.map { .string($0) } ?? .null]
    case .fileGone(let message, let part):
      ["fileGone": .string(message), "part": .string(part.rawValue)]
    case .fileBack: ["fileBack": true]
    case .exported(let report): ["exported": report.log]
    case .fileReading(let count, let size): ["fileReading": .int(count), "of": .int(size)]
    case .fileRead(let file, let content): ["fileRead": .string(file), "content": content.log]
    case .refusedListed(let file, let problem):
      ["refusedListed": .string(file), "problem": problem.map { .string($0) } ?? .null]
    case .indexing(let report): ["indexing": report.json]
    case .savingCopy(let report): ["savingCopy": report.json]
    case .greeted(let greeting):
      switch greeting.home {
      case .file(let file): ["greeted": .string(file), "server": false]
      case .server(let server): ["greeted": .string(server), "server": true]
      }
    case .restored(let session): ["restored": session.json]
    case .copied(let what, let outcome): ["copied": .string(what), "outcome": outcome.log]
    case .opened(let link, let program):
      ["opened": .string(link), "by": program.map { .string($0) } ?? .null]
    case .edited(let edit, let outcome): ["edited": edit.log, "outcome": outcome.log]
    case .typedAhead: ["typedAhead": true]
    case .effectsTaken: ["effectsTaken": true]
    }
  }

  init(json: JSONValue) throws {
    let fields = LogFields(json)
    guard case .object(let members) = json, let name = members.first?.name else {
      throw ActionLogError(.malformed, "An action is an object with a name.")
    }
    switch name {
    case "tick": self = .tick(try fields.int64(name))
    case "input": self = .input(try InputEvent(log: fields.value(name)))
    case "list":
      self = .list(view: try fields.int(name), try ListChange(log: fields.value("change")))
    case "tree":
      self = .tree(try fields.path(name), try TreeChange(log: fields.value("change")))
    case "record":
      self = .record(try fields.path(name), try RunnelTree.Node(json: fields.value("node")))
    case "answered":
      // In older recordings a copy was the answer of a request.
      let answer = try fields.value("answer")
      if answer["copied"] != nil, let report = CopySaving.Report(answer) {
        self = .savingCopy(report)
        return
      }
      self = .answered(
        AppRequestID(try fields.int(name)), try Answer(log: answer))
    case "pendingWrites":
      self = .pendingWrites(try fields.array(name).map { try PendingWrite(log: $0) })
    // Older recordings name those of before the start.
    case "refusedWrites", "refusedBefore":
      self = .refusedWrites(try fields.array(name).compactMap { KeptRefusal($0) })
    case "rejected":
      self = .rejected(write: try fields.int64(name), try fields.string("reason"))
    case "origin":
      guard let facts = OriginFacts(try fields.value(name)) else {
        throw fields.misfit(name, "what is known of a server")
      }
      self = .origin(facts)
    case "accounts":
      guard let facts = AccountFacts(try fields.value(name)) else {
        throw fields.misfit(name, "what is known of accounts")
      }
      self = .accounts(facts)
    case "devices":
      guard let facts = DeviceFacts(try fields.value(name)) else {
        throw fields.misfit(name, "what is known of devices")
      }
      self = .devices(facts)
    case "present":
      let people = try fields.value(name).array ?? []
      self = .present(people.compactMap { Present($0) })
    case "trouble": self = .trouble(try fields.string(name))
    case "interrupted": self = .interrupted(try fields.string(name))
    case "said": self = .said(try fields.string(name))
    case "waiting": self = .waiting(view: try fields.int(name), try fields.int("count"))
    case "keptAll": self = .keptAll(view: try fields.int(name))
    case "counted":
      let count = try fields.value("count")
      self = .counted(
        view: try fields.int(name), count == .null ? nil : try fields.int("count"))
    case "configured":
      let problem = try fields.value("problem")
      self = .configured(
        Settings(source: try fields.string(name), themes: try fields.stringsIfAny("themes")),
        problem: problem == .null ? nil : try fields.string("problem"))
    case "redefined":
      let problem = try fields.value("problem")
      self = .redefined(
        file: try fields.string(name),
        problem: problem == .null ? nil : try fields.string("problem"),
        views: try fields.stringsIfAny("views").first.flatMap { SavedViews(text: $0) })
    case "sessionKept": self = .sessionKept(problem: try fields.value(name).string)
    case "fileGone":
      // Recordings of earlier versions know the loss of the file only.
      let part = try fields.stringIfAny("part") ?? FileGone.Part.file.rawValue
      guard let part = FileGone.Part(rawValue: part) else {
        throw fields.misfit("part", "a part of a file")
      }
      self = .fileGone(try fields.string(name), part)
    case "fileBack": self = .fileBack
    case "exported": self = .exported(try ExportReport(log: fields.value(name)))
    case "fileReading": self = .fileReading(try fields.int(name), of: try fields.int("of"))
    case "fileRead":
      self = .fileRead(try fields.string(name), try FileContent(log: fields.value("content")))
    case "refusedListed":
      self = .refusedListed(
        file: try fields.string(name), problem: try fields.value("problem").string)
    case "indexing":
      guard let report = IndexMaking.Report(try fields.value(name)) else {
        throw fields.misfit(name, "a report of an index")
      }
      self = .indexing(report)
    case "savingCopy":
      guard let report = CopySaving.Report(try fields.value(name)) else {
        throw fields.misfit(name, "a report of a copy")
      }
      self = .savingCopy(report)
    case "greeted":
      let home = try fields.string(name)
      let isServer = try fields.value("server") == true
      self = .greeted(Greeting(isServer ? .server(home) : .file(home)))
    case "restored":
      guard let session = SessionState(try fields.value(name)) else {
        throw fields.misfit(name, "a session")
      }
      self = .restored(session)
    case "copied":
      self = .copied(
        what: try fields.string(name), try Clipboard.Outcome(log: fields.value("outcome")))
    case "opened":
      let by = try fields.value("by")
      self = .opened(
        link: try fields.string(name), by: by == .null ? nil : try fields.string("by"))
    case "edited":
      self = .edited(
        try OutsideEdit(log: fields.value(name)),
        try ExternalEditor.Outcome(log: fields.value("outcome")))
    case "typedAhead": self = .typedAhead
    case "effectsTaken": self = .effectsTaken
    default: throw ActionLogError(.malformed, "There is no action `\(name)`.")
    }
  }
}

extension PendingWrite {
  fileprivate var log: JSONValue { ["id": .number(JSONNumber(id)), "write": json] }

  fileprivate init(log json: JSONValue) throws {
    let fields = LogFields(json)
    guard
      let write = PendingWrite(id: try fields.int64("id"), json: try fields.value("write"))
    else { throw fields.misfit("write", "a pending write") }
    self = write
  }
}

extension SavedViews {
  /// Parses the text of a views file; nil if it has a mistake.
  init?(text: String) {
    // The user who saved the file was told of its mistakes.
    guard let content = try? ViewFile(yaml: text, name: "views") else { return nil }
    self.init(text: text, content: content)
  }
}
