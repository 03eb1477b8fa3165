import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import RunnelWorkspace

/// Formats rows of a view as lines for use without a screen.
struct PlainText {
  /// A change of a row.
  enum Change: String {
    case added, changed, removed
  }

  /// The name of the member for the change, in JSON lines.
  static let changeName = "$change"
  private static let changeWidth = 8
  /// What stands for a value that is not there.
  private static let nothing = "-"

  private let definition: ViewDefinition
  private let layout: PlainRequest.Layout
  private let local: LocalTime
  private let glyphs: Glyphs

  init(_ definition: ViewDefinition, _ request: PlainRequest, local: LocalTime) {
    self.definition = definition
    layout = request.layout
    self.local = local
    glyphs = request.isASCII ? .ascii : .unicode
  }

  /// Returns the line before the rows of a section; none in JSON, and for a view without sections.
  ///
  /// `isWhole` tells whether all rows of the view are listed: then the count is that of the section.
  func heading(_ id: String, _ count: Int, isWhole: Bool, now: Int64) -> [String] {
    guard layout == .text, !definition.sections.isEmpty, id != ListScreen.fetchMoreRow else {
      return []
    }
    return ["== \(title(of: id, now: now)) (\(count)\(isWhole ? "" : " listed")) ==\n"]
  }

  /// The line for rows that are not listed; none in JSON.
  var pagingLine: [String] {
    layout == .text ? ["\(glyphs.placeholder) more rows are not listed\n"] : []
  }

  /// Returns the line of a record, with its change if there is one.
  func line(_ record: Record, change: Change?, in section: String, now: Int64) -> String {
    let node = record.row.node ?? .empty
    if layout == .jsonLines {
      let first = change.map { [JSONMember(PlainText.changeName, .string($0.rawValue))] } ?? []
      return String(
        decoding: ExportWriter.jsonLine(record.row.key, node, first: first), as: UTF8.self)
    }
    // Ages would soon be wrong.
    let row = RowText(
      definition: definition, now: now, local: local, glyphs: glyphs, screenWidth: .max,
      listWidth: .max, timeStyle: .full)
    let texts = definition.columns.map { column in
      row.text(of: column.field.node(key: record.row.key, node), in: column)
    }
    let count = (texts.lastIndex { !$0.isEmpty } ?? 0) + 1
    // What has no value keeps its place, so that the values behind it stay in theirs.
    let words = texts.prefix(count).map { $0.isEmpty ? PlainText.nothing : sanitized($0) }
      .joined(separator: "  ")
    guard let change else { return words + "\n" }
    let word = change.rawValue
    let blanks = String(repeating: " ", count: max(PlainText.changeWidth - word.count, 1))
    let place = definition.sections.isEmpty ? "" : "\(title(of: section, now: now)): "
    return word + blanks + place + words + "\n"
  }

  private func title(of id: String, now: Int64) -> String {
    sanitized(SectionID(id).title(in: definition, now: now, local: local))
  }

  /// Returns a text in one line without control characters.
  private func sanitized(_ text: String) -> String {
    CellText.sanitize(text, glyphs: glyphs).map(\.text).joined()
  }
}
