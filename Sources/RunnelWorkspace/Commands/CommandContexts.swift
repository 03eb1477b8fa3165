package import RunnelTerminal

// The contexts of commands. Those with keys of their own stand in the configuration and must not change
// their names; the others are at the end.

extension KeymapContext {
  /// Everywhere except while typing.
  static let global = KeymapContext("global")
  /// Whatever is moved through line by line.
  package static let list = KeymapContext("list")
  /// A collection.
  package static let collection = KeymapContext("collection")
  /// The raw tree.
  package static let tree = KeymapContext("tree")
  /// An open record.
  package static let record = KeymapContext("record")
  /// A value that is read in full.
  package static let value = KeymapContext("value")
  /// Wherever the keys are about a record of a resource.
  package static let resource = KeymapContext("resource")
  /// Wherever the user has something to toggle at that record, as a like.
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
  /// Where a crash may be asked for.
  package static let crash = KeymapContext("crash")
  /// The palette.
  package static let palette = KeymapContext("palette")
  /// A menu.
  package static let menu = KeymapContext("menu")
  /// The bar in which a list is filtered.
  package static let filter = KeymapContext("filter")
  /// The line in which a text is looked for.
  package static let search = KeymapContext("search")
  /// Any text field, besides what the field itself does.
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
  /// The line in which a record is composed.
  package static let compose = KeymapContext("compose")
  /// A question that is answered by a word.
  package static let word = KeymapContext("word")
}
