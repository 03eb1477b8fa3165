package import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// The help: the commands of a place with their keys, to read, to filter by typing, and to run.
package struct HelpScreen: Hashable, Sendable {
  /// A command of the place.
  package struct Entry: Hashable, Sendable {
    var binding: KeyBinding
    /// All keys of the command here.
    package var keys: String
    /// The reason why the command is disabled, or nil if it can run.
    package var refusal: String?

    package init(binding: KeyBinding, keys: String, refusal: String? = nil) {
      self.binding = binding
      self.keys = keys
      self.refusal = refusal
    }

    package var id: String { "\(binding.context).\(binding.action)" }

    /// Whether each word is contained in the description, the name or the keys.
    func fits(_ words: [String]) -> Bool {
      let text = "\(keys) \(binding.description) \(binding.action)".lowercased()
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
        HelpScreen.title(of: entry.binding.context), entry.keys, entry.binding.description,
        "\(entry.binding.action)", entry.refusal ?? "",
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
      let context = entry.binding.context
      if sections.last?.id == context.rawValue {
        let rows = sections.removeLast().rows
        sections.append(ListSection(id: context.rawValue, rows: Array(rows) + [entry.id]))
      } else {
        sections.append(ListSection(id: context.rawValue, rows: [entry.id]))
        headings[context.rawValue] = ListHeading(
          title: StyledLine(HelpScreen.title(of: context), .sectionHeader))
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

  /// The heading of a context in the help.
  private static func title(of context: KeymapContext) -> String {
    Commands.table(context)?.title ?? context.rawValue
  }
}
