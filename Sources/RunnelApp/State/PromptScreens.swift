import RunnelTerminal

/// The bar in which a list is filtered while one types.
struct FilterScreen: Hashable, Sendable {
  let view: Int
  var editor: LineEditor
  /// What is wrong with what was typed; the list shows what was right last.
  var error: FilterError?
  /// The filter before, which comes back if the bar is left.
  let before: Filter?
  /// What lists were filtered by before, and where in it the user is.
  var past: LineHistory
  /// What the word before the cursor may become.
  var candidates: [String] = []
}

/// The line in which a text is looked for.
struct SearchScreen: Hashable, Sendable {
  var editor: LineEditor
  /// The list as it was, which comes back if nothing is chosen.
  let before: SearchOrigin
  /// What was looked for before, and where in it the user is.
  var past: LineHistory
}
