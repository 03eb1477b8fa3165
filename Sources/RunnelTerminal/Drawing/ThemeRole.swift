/// A role as theme files name it: the role of a cell, or a style drawn over the cursor row.
package enum ThemeRole: Hashable, Sendable, CaseIterable {
  /// The role of a cell.
  case cell(StyleRole)
  /// The row of the cursor, over the roles of its cells.
  case rowCursor
  /// The cursor row of a pane without the focus.
  case rowCursorUnfocused

  /// All roles, in the order in which they are listed.
  package static let allCases =
    StyleRole.allCases.map { cell($0) } + [rowCursor, rowCursorUnfocused]

  /// The role with a name; nil if there is none.
  package init?(name: String) {
    guard let role = ThemeRole.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }

  /// The name, with dots between its words: `section.header`.
  package var name: String {
    switch self {
    case .cell(let role): role.name
    case .rowCursor: "row.cursor"
    case .rowCursorUnfocused: "row.cursor.unfocused"
    }
  }
}

extension StyleRole {
  /// The name in theme files.
  var name: String {  // tidy:table
    switch self {
    case .text: "text"
    case .muted: "text.muted"
    case .strong: "text.strong"
    case .frame: "frame"
    case .frameFocus: "frame.focus"
    case .hintKey: "hint.key"
    case .link: "link"
    case .title: "title"
    case .sectionHeader: "section.header"
    case .sectionSticky: "section.sticky"
    case .rowMarked: "row.marked"
    case .rowNew: "row.new"
    case .rowChanged: "row.changed"
    case .rowPending: "row.pending"
    case .conflict: "row.conflict"
    case .error: "error"
    case .transient: "row.transient"
    case .placeholder: "row.placeholder"
    case .unreadLine: "unread.line"
    case .warn: "warn"
    case .live: "state.live"
    case .ok: "ok"
    case .connecting: "state.connecting"
    case .searchMatch: "search.match"
    case .searchCurrent: "search.current"
    case .input: "input"
    case .inputInvalid: "input.invalid"
    case .dialog: "dialog"
    case .dialogDanger: "dialog.danger"
    case .jsonKey: "json.key"
    case .jsonString: "json.string"
    case .jsonNumber: "json.number"
    case .jsonBool: "json.bool"
    case .jsonNull: "json.null"
    case .toastInfo: "toast.info"
    case .toastWarn: "toast.warn"
    case .toastError: "toast.error"
    case .scrollbar: "scrollbar"
    case .production: "profile.production"
    case .profileYellow: "profile.yellow"
    case .profileGreen: "profile.green"
    case .profileBlue: "profile.blue"
    case .profileMagenta: "profile.magenta"
    case .profileCyan: "profile.cyan"
    case .value1: "value.1"
    case .value2: "value.2"
    case .value3: "value.3"
    case .value4: "value.4"
    case .value5: "value.5"
    case .value6: "value.6"
    }
  }
}
