package import RunnelTerminal

/// The bar in which a list is filtered while one types.
package struct FilterScreen: Hashable, Sendable {
  package let view: Int
  package var editor: LineEditor
  /// What is wrong with what was typed; the list shows what was right last.
  package var error: FilterError?
  /// The filter before, which comes back if the bar is left.
  package let before: Filter?
  /// The filters used before, with the position in that history.
  var past: LineHistory
  /// What the word before the cursor may become.
  var candidates: [String] = []
}

/// The line in which a text is looked for.
package struct SearchScreen: Hashable, Sendable {
  package var editor: LineEditor
  /// The list as it was, which comes back if nothing is chosen.
  package let before: SearchOrigin
  /// The texts searched for before, with the position in that history.
  var past: LineHistory
}
