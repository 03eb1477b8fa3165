package import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// The help: the commands of a place with their keys, to read, to filter by typing, and to run.
package struct HelpScreen: Hashable, Sendable {
  /// A command of the place.
  package struct Entry: Hashable, Sendable {
    /// The name of the command for keys; nil for a command after `:`.
    let action: ActionID?
    /// The id and the heading of the section that it stands in.
    let section: String
    let heading: String
    package let description: String
    /// All keys of the command here; name and arguments of a command after `:`.
    package var keys: String
    /// The reason why the command is disabled, or nil if it can run.
    package var refusal: String?
    package let id: String
    /// The line that is typed for a command after `:`, without its argument; nil for a command with keys.
    let line: String?

    package init(binding: KeyBinding, keys: String, refusal: String? = nil) {
      (action, line) = (binding.action, nil)
      section = binding.context.rawValue
      heading = Commands.table(binding.context)?.title ?? section
      description = binding.description
      id = "\(binding.context).\(binding.action)"
      (self.keys, self.refusal) = (keys, refusal)
    }

    init(_ command: PaletteCommand, refusal: String?) {
      (action, line) = (nil, command.name + " ")
      (section, heading) = (":", PaletteCommand.sectionTitle)
      description = command.help
      id = ":\(command.name)"
      (keys, self.refusal) = (command.usage, refusal)
    }

    /// Whether each word is contained in the description, the name or the keys.
    func fits(_ words: [String]) -> Bool {
      let text = "\(keys) \(description) \(action?.rawValue ?? "")".lowercased()
      return words.allSatisfy { text.contains($0) }
    }
  }

  /// The name of the place.
  package let place: String
  /// All commands of the place, by context.
  package let all: [Entry]
  /// The text field that filters the commands.
  package var editor = LineEditor()
  /// The commands shown, by row id.
  package private(set) var entries: [String: Entry] = [:]
  package private(set) var content = ListContent()
  /// The headings of the sections, by section.
  private(set) var headings: [String: ListHeading] = [:]
  package var list = ListState()

  init(_ entries: [Entry], of place: String, height: Int) {
    self.place = place
    all = entries
    narrow(height: height)
  }

  /// Returns the commands shown as records, one per command, for an export.
  ///
  /// - Throws: `TreeError` if a text cannot be a value of a record.
  func exportedRecords() throws -> (records: [Record], columns: [FieldPath]) {
    let names = ["group", "keys", "what", "action", "off"]
    let records = try all.filter { entries[$0.id] != nil }.map { entry in
      let texts = [
        entry.heading, entry.keys, entry.description, entry.action?.rawValue ?? "",
        entry.refusal ?? "",
      ]
      let members = zip(names, texts).filter { !$0.1.isEmpty }
        .map { JSONMember($0.0, .string($0.1)) }
      let child = Child(
        key: RunnelTree.Key(unchecked: entry.id), node: try RunnelTree.Node(json: .object(members)))
      return Record(TreeRow(child, index: .key, detail: .full), in: .root)
    }
    return (records, names.map { .path(Path(unchecked: [RunnelTree.Key(unchecked: $0)])) })
  }

  /// The command under the cursor, or nil on a header.
  var cursorEntry: Entry? {
    guard case .row(let id)? = list.cursor else { return nil }
    return entries[id]
  }

  /// Shows the commands that match the typed words, and goes to the first of them.
  mutating func narrow(height: Int) {
    let words = editor.text.lowercased().split(separator: " ").map(String.init)
    let fitting = all.filter { $0.fits(words) }
    entries = Dictionary(uniqueKeysWithValues: fitting.map { ($0.id, $0) })
    var sections: [ListSection] = []
    for entry in fitting {
      if sections.last?.id == entry.section {
        let rows = sections.removeLast().rows
        sections.append(ListSection(id: entry.section, rows: Array(rows) + [entry.id]))
      } else {
        sections.append(ListSection(id: entry.section, rows: [entry.id]))
        headings[entry.section] = ListHeading(title: StyledLine(entry.heading, .sectionHeader))
      }
    }
    let old = content
    content = ListContent(sections: sections)
    list = ListState()
    list.apply(.reload, from: old, to: content, height: height)
    if !words.isEmpty, let first = fitting.first {
      list.moveTo(.row(first.id), in: content, height: height)
    }
  }
}
