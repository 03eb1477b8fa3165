package import RunnelTerminal

// The contexts of commands. The first group has keys of its own, which stand in the configuration:
// these contexts must keep their names. The second group takes the keys of other contexts.

extension KeymapContext {
  /// Everywhere except while typing.
  package static let global = KeymapContext("global")
  /// Any list that the cursor moves through line by line.
  package static let list = KeymapContext("list")
  /// A collection.
  package static let collection = KeymapContext("collection")
  /// A cell of a collection, while the column cursor is shown.
  package static let cells = KeymapContext("cells")
  /// The raw tree.
  package static let tree = KeymapContext("tree")
  /// An open record.
  package static let record = KeymapContext("record")
  /// A value that is read in full.
  package static let value = KeymapContext("value")
  /// Any place where the keys act on a record of a resource.
  package static let resource = KeymapContext("resource")
  /// A record that has something for the user to toggle, such as a like.
  package static let toggle = KeymapContext("toggle")
  /// An entry of the action log.
  static let activity = KeymapContext("activity")
  /// The pane of the views and bookmarks.
  package static let views = KeymapContext("views")
  /// The history of a place.
  package static let history = KeymapContext("history")
  /// Three versions of one place.
  package static let compare = KeymapContext("compare")
  /// The queue of writes.
  package static let queue = KeymapContext("queue")
  /// The last actions.
  package static let debug = KeymapContext("debug")
  /// The help.
  package static let help = KeymapContext("help")
  /// A question.
  package static let confirm = KeymapContext("confirm")
  /// The command that crashes the program, if it is allowed.
  package static let crash = KeymapContext("crash")
  /// The palette.
  package static let palette = KeymapContext("palette")
  /// A menu.
  package static let menu = KeymapContext("menu")
  /// The bar that filters a list.
  package static let filter = KeymapContext("filter")
  /// The line of the search.
  package static let search = KeymapContext("search")
  /// Any text field; the keys of the field itself are elsewhere.
  package static let input = KeymapContext("input")
  /// A text field among others.
  package static let fields = KeymapContext("fields")

  // MARK: Contexts that take the keys of others

  /// The pane with the record under the cursor, while it has the keys.
  static let detail = KeymapContext("detail")
  /// A field of a record that is edited in its line.
  package static let field = KeymapContext("field")
  /// A form.
  package static let form = KeymapContext("form")
  /// The line that composes a record.
  package static let compose = KeymapContext("compose")
  /// A question that is answered by typing a word.
  package static let word = KeymapContext("word")
}

/// What may hold behind the contexts of tables, innermost first.
extension [KeymapContext] {
  /// Behind a page with a cursor.
  static var belowPage: [KeymapContext] { [.list, .global] }
  /// Behind the row at hand of a page.
  static var belowRow: [KeymapContext] { [.record, .collection, .tree] + belowPage }
  /// Behind a pane or a cell, with or without a row at hand.
  static var belowPane: [KeymapContext] {
    [.activity, .toggle, .resource, .collection, .tree] + belowPage
  }
  /// Behind a text field.
  static var belowText: [KeymapContext] { [.input, .textField] }
}
