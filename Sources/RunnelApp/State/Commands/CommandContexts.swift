import RunnelTerminal

// The contexts of commands. Those with keys of their own stand in the configuration and must not change
// their names; the others are at the end.

extension KeymapContext {
  /// Everywhere except while typing.
  static let global = KeymapContext("global")
  /// Whatever is moved through line by line.
  static let list = KeymapContext("list")
  /// A collection.
  static let collection = KeymapContext("collection")
  /// The raw tree.
  static let tree = KeymapContext("tree")
  /// An open record.
  static let record = KeymapContext("record")
  /// A value that is read in full.
  static let value = KeymapContext("value")
  /// Wherever the keys are about a record of a resource.
  static let resource = KeymapContext("resource")
  /// Wherever the user has something to toggle at that record, as a like.
  static let toggle = KeymapContext("toggle")
  /// An entry of the action log.
  static let activity = KeymapContext("activity")
  /// The pane of the views and bookmarks.
  static let views = KeymapContext("views")
  /// The history of a place.
  static let history = KeymapContext("history")
  /// Three versions of one place.
  static let compare = KeymapContext("compare")
  /// The queue of writes.
  static let queue = KeymapContext("queue")
  /// The last actions.
  static let debug = KeymapContext("debug")
  /// The help.
  static let help = KeymapContext("help")
  /// A question.
  static let confirm = KeymapContext("confirm")
  /// Where a crash may be asked for.
  static let crash = KeymapContext("crash")
  /// The palette.
  static let palette = KeymapContext("palette")
  /// A menu.
  static let menu = KeymapContext("menu")
  /// The bar in which a list is filtered.
  static let filter = KeymapContext("filter")
  /// The line in which a text is looked for.
  static let search = KeymapContext("search")
  /// Any text field, besides what the field itself does.
  static let input = KeymapContext("input")
  /// A text field among others.
  static let fields = KeymapContext("fields")

  // MARK: Contexts that take the keys of others

  /// The pane with the record under the cursor, while it has the keys.
  static let detail = KeymapContext("detail")
  /// A field of a record that is edited in its line.
  static let field = KeymapContext("field")
  /// A form.
  static let form = KeymapContext("form")
  /// The line in which a record is composed.
  static let compose = KeymapContext("compose")
  /// A question that is answered by a word.
  static let word = KeymapContext("word")
}
