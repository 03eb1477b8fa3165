import RunnelTerminal

/// The bar in which a list is filtered while one types.
struct FilterScreen: Hashable, Sendable {
  let view: Int
  var editor: LineEditor
  /// What is wrong with what was typed; the list shows what was right last.
  var error: FilterError?
  /// The filter before, which comes back if the bar is left.
  let before: Filter?
  /// Where in the history the user is; nil in what they typed themselves.
  var past: PromptPast
  /// What the word before the cursor may become.
  var candidates: [String] = []
}

/// The line in which a text is looked for.
struct SearchScreen: Hashable, Sendable {
  var editor: LineEditor
  /// The list as it was, which comes back if nothing is chosen.
  let before: SearchOrigin
  var past: PromptPast
}

/// Earlier texts of a prompt, and where in them the user is.
struct PromptPast: Hashable, Sendable {
  /// The newest first.
  let texts: [String]
  /// How many steps back; 0 is what the user typed.
  private var steps = 0
  private var typed = ""

  init(_ texts: [String]) { self.texts = texts }

  /// The text so many steps further back, or forward if negative; nil at an end.
  mutating func step(by count: Int, from text: String) -> String? {
    let target = steps + count
    guard (0...texts.count).contains(target), target != steps else { return nil }
    if steps == 0 { typed = text }
    steps = target
    return target == 0 ? typed : texts[target - 1]
  }

  /// The most texts that are kept.
  static let countMax = 100

  /// A history with a text that was used now.
  static func adding(_ text: String, to texts: [String]) -> [String] {
    if text.isEmpty { return texts }
    return Array(([text] + texts.filter { $0 != text }).prefix(countMax))
  }
}
