package import RunnelTerminal

/// The bar that filters a list while the user types.
package struct FilterScreen: Hashable, Sendable {
  package let view: Int
  package var editor: LineEditor
  /// The error in the typed text, or nil; while there is one, the list shows the last valid filter.
  package var error: FilterError?
  /// The filter before the bar was opened, which is restored if the bar is canceled.
  package let before: Filter?
  /// The filters used before, with the position in that history.
  var past: LineHistory
  /// The completions of the word before the cursor.
  var candidates: [String] = []
  /// Whether the text is the filter in force, not edited yet; typing replaces it, and a blank goes on
  /// with it.
  var isKept = false
}

/// The line that searches for a text.
package struct SearchScreen: Hashable, Sendable {
  package var editor: LineEditor
  /// The list before the search, which is restored if the search is canceled.
  package let before: SearchOrigin
  /// The texts searched for before, with the position in that history.
  var past: LineHistory
}
