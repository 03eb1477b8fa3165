import Testing

@testable import RunnelTerminal

private let list = KeymapContext("list")
private let view = KeymapContext("view")

private func bind(_ context: KeymapContext, _ keys: String, _ action: String) -> KeyBinding {
  KeyBinding.bindings(context, [keys], ActionID(action), "what \(action) does")[0]
}

private let table = [
  bind(list, "j", "row.down"), bind(list, "C-n", "row.down"), bind(list, "gg", "row.first"),
  bind(list, "g1", "view.goto"), bind(list, "gm", "section.more"), bind(list, "m a", "mark.set"),
  bind(list, "d", "record.delete"), bind(list, "C-x C-e", "edit.external"),
  bind(view, "m", "conflict.mine"), bind(view, "g m", "view.more"),
]

@Suite struct KeymapTests {
  private let keymap = Keymap(table, countingContexts: [list])

  // MARK: - The table

  @Test func validTableHasNoProblems() {
    #expect(keymap.validate().isEmpty)
  }

  @Test func duplicateInAContextIsReported() throws {
    let twice = bind(list, "j", "row.jump")
    let problems = Keymap(table + [twice]).validate()
    #expect(problems == [.duplicate(table[0], twice)])
    #expect(
      problems.map(\.description) == ["j is bound twice in list: to row.down and to row.jump"])
  }

  @Test func commandThatIsAPrefixTooIsReportedInEitherOrder() {
    let command = bind(list, "g", "go")
    let problems = Keymap([command] + table).validate()
    #expect(problems == Keymap(table + [command]).validate())
    #expect(problems.count == 3)
    #expect(problems.first == .commandAndPrefix(command: command, longer: table[2]))
  }

  @Test func bindingWithoutKeysIsReported() {
    let none = KeyBinding(context: list, sequence: [], action: ActionID("x"), description: "")
    #expect(Keymap([none]).validate() == [.noKeys(none)])
  }

  @Test func theSameKeysInTwoContextsAreNoProblem() {
    #expect(Keymap([bind(list, "j", "a"), bind(view, "j", "b")]).validate().isEmpty)
  }

  /// Every list of one to three contexts, and tables of short sequences of three keys: the keys that
  /// are told of an action are those that a user who types them reaches it by.
  @Test func keysOfAnActionAreThoseThatReachIt() {
    let third = KeymapContext("third")
    let orders = [[list], [view, list], [list, view], [third, list, view], [view, third, list]]
    let sequences = ["a", "b", "a a", "a b", "b a", "a a b"]
    for seed in 0..<200 {
      // Bits of the seed choose where each sequence is bound, by a multiplicative hash.
      var bits = UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15
      var bindings: [KeyBinding] = []
      for context in [list, view, third] {
        for (index, keys) in sequences.enumerated() {
          bits = bits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          if bits >> 62 == 0 { bindings.append(bind(context, keys, "action\(index % 3)")) }
        }
      }
      let keymap = Keymap(bindings)
      for contexts in orders {
        for action in keymap.actions {
          let reached = keymap.bindings(for: contexts).filter { $0.action == action }.map(\.keys)
          #expect(keymap.keys(for: action, in: contexts) == reached, "seed \(seed), \(contexts)")
          #expect(keymap.firstKeys(for: action, in: contexts) == reached.first, "seed \(seed)")
        }
      }
    }
  }

  @Test func innerContextHidesTheKeysOfTheOuterOne() {
    let reached = keymap.bindings(for: [view, list]).map(\.action.rawValue)
    #expect(
      reached == [
        "conflict.mine", "view.more", "row.down", "row.down", "row.first", "view.goto",
        "record.delete", "edit.external",
      ])
    #expect(keymap.keys(for: ActionID("mark.set"), in: [list]) == ["ma"])
    #expect(keymap.keys(for: ActionID("mark.set"), in: [view, list]).isEmpty)
  }

  @Test func keysOfAnActionAreInTheOrderOfTheTable() {
    #expect(keymap.keys(for: ActionID("row.down"), in: [list]) == ["j", "C-n"])
  }

  @Test(arguments: ["gg", "]]", "C-x C-e", "g1", "m a", "F2", "M-<", "S-Tab", "Space", "F 1"])
  func notationIsReadBack(keys: String) throws {
    let sequence = try #require(KeyStroke.sequence(keys))
    #expect(KeyStroke.sequence(KeyBinding.notation(of: sequence)) == sequence)
  }

  private func change(
    _ action: String, _ keys: String..., in context: KeymapContext? = nil
  ) -> KeymapChange {
    KeymapChange(
      context: context, action: ActionID(action),
      sequences: keys.compactMap { KeyStroke.sequence($0) })
  }

  @Test func reboundActionKeepsItsContextAndLosesItsOldKeys() {
    let changed = keymap.applying([change("row.down", "C-j"), change("record.delete")])
    #expect(changed.keys(for: ActionID("row.down"), in: [list]) == ["C-j"])
    #expect(changed.firstKeys(for: ActionID("row.down"), in: [list]) == "C-j")
    #expect(changed.firstKeys(for: ActionID("record.delete"), in: [list]) == nil)
    #expect(changed.bindings.first?.description == "what row.down does")
    #expect(changed.countingContexts == keymap.countingContexts)
  }

  @Test func changeTakesItsKeysFromWhoHadThemInTheContext() {
    let changed = keymap.applying([change("row.down", "d", "m")])
    #expect(changed.keys(for: ActionID("record.delete"), in: [list]) == [])
    #expect(changed.keys(for: ActionID("conflict.mine"), in: [view]) == ["m"])
    #expect(
      changed.validate().map(\.description) == [
        "ma (mark.set) cannot be typed in list, for m is row.down"
      ])
  }

  @Test func twoChangesWithTheSameKeysCollide() {
    let changed = keymap.applying([change("row.down", "x"), change("row.first", "x")])
    #expect(changed.validate().count == 1)
    #expect(changed.keys(for: ActionID("row.down"), in: [list]) == ["x"])
  }

  @Test func changeInOneContextLeavesTheOthersAndTheLastOneCounts() {
    let both = Keymap(table + [bind(view, "j", "row.down")])
    let changed = both.applying([
      change("row.down", "x"), change("row.down", "y", in: view), change("none", "z"),
    ])
    #expect(changed.keys(for: ActionID("row.down"), in: [list]) == ["x"])
    #expect(changed.keys(for: ActionID("row.down"), in: [view]) == ["y"])
    #expect(changed.bindings.count == both.bindings.count - 1)
  }

  @Test func textFieldTableIsValidAndPerformed() {
    let fields = Keymap(TextFieldBindings.all)
    #expect(fields.validate().isEmpty)
    for action in fields.actions {
      var editor = LineEditor("one\ntwo\nthree", isMultiline: true, isSecret: true)
      _ = editor.perform(.inputPrevious)
      let isPerformed = editor.perform(action)
      #expect(isPerformed, "\(action)")
    }
  }
}

@Suite struct KeySequenceMatcherTests {
  private let keymap = Keymap(table, countingContexts: [list])

  /// Feeds keys and returns the last match.
  private func feed(
    _ keys: String, _ matcher: inout KeySequenceMatcher, in contexts: [KeymapContext] = [list]
  ) throws -> KeySequenceMatcher.Match {
    let strokes = try keys.split(separator: " ").map {
      try #require(KeyStroke(notation: String($0)))
    }
    let matches = strokes.map { matcher.feed($0, keymap: keymap, contexts: contexts) }
    return try #require(matches.last)
  }

  @Test func singleKeyIsAnAction() throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("j", &matcher) == .action(ActionID("row.down"), count: nil))
    #expect(!matcher.isPending)
  }

  @Test func prefixListsWhatMayFollow() throws {
    var matcher = KeySequenceMatcher()
    guard case .pending(let next) = try feed("g", &matcher) else {
      Issue.record("g does not wait")
      return
    }
    #expect(next.map(\.keys) == ["gg", "g1", "gm"])
    #expect(matcher.pendingText == "g")
    #expect(try feed("g", &matcher) == .action(ActionID("row.first"), count: nil))
  }

  @Test func digitsBeforeTheKeysAreACount() throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("1 0 g", &matcher) != .unmatched(KeyStroke(.character("g"))))
    #expect(matcher.pendingText == "10g")
    #expect(try feed("g", &matcher) == .action(ActionID("row.first"), count: 10))
    #expect(try feed("j", &matcher) == .action(ActionID("row.down"), count: nil))
  }

  @Test func countDoesNotBeginWithZero() throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("0", &matcher) == .unmatched(KeyStroke(.character("0"))))
  }

  @Test func countIsLimited() throws {
    var matcher = KeySequenceMatcher()
    let digits = Array(repeating: "9", count: 40).joined(separator: " ")
    #expect(
      try feed(digits + " j", &matcher)
        == .action(ActionID("row.down"), count: KeySequenceMatcher.countMax))
  }

  @Test func digitAfterAPrefixIsAKey() throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("3 g 1", &matcher) == .action(ActionID("view.goto"), count: 3))
  }

  @Test func digitsAreKeysWhereTheInnermostContextDoesNotCount() throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("3", &matcher, in: [view, list]) == .unmatched(KeyStroke(.character("3"))))
    #expect(try feed("M-3", &matcher) == .unmatched(KeyStroke(.character("3"), meta: true)))
  }

  @Test func boundDigitIsNoCount() throws {
    var matcher = KeySequenceMatcher()
    let keymap = Keymap([bind(list, "2", "two")], countingContexts: [list])
    let two = KeyStroke(.character("2"))
    let one = KeyStroke(.character("1"))
    #expect(
      matcher.feed(two, keymap: keymap, contexts: [list]) == .action(ActionID("two"), count: nil))
    #expect(matcher.feed(one, keymap: keymap, contexts: [list]) == .pending([]))
    #expect(matcher.feed(two, keymap: keymap, contexts: [list]) == .pending([]))
    #expect(matcher.count == 12)
  }

  @Test(arguments: ["Esc", "C-g"])
  func cancelTakesBackWhatWaits(key: String) throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("4 g \(key)", &matcher) == .pending([]))
    #expect(!matcher.isPending)
    let stroke = try #require(KeyStroke(notation: key))
    #expect(try feed(key, &matcher) == .unmatched(stroke))
  }

  @Test func keyThatDoesNotContinueDiscardsAllAndRunsNothing() throws {
    var matcher = KeySequenceMatcher()
    #expect(try feed("5 g d", &matcher) == .unmatched(KeyStroke(.character("d"))))
    #expect(!matcher.isPending)
  }

  @Test func innerCommandWinsOverOuterPrefix() throws {
    var matcher = KeySequenceMatcher()
    #expect(
      try feed("m", &matcher, in: [view, list]) == .action(ActionID("conflict.mine"), count: nil))
  }

  @Test func innerPrefixLeavesTheOuterSequencesReachable() throws {
    var matcher = KeySequenceMatcher()
    #expect(
      try feed("g m", &matcher, in: [view, list]) == .action(ActionID("view.more"), count: nil))
    #expect(
      try feed("g g", &matcher, in: [view, list]) == .action(ActionID("row.first"), count: nil))
  }
}

extension KeymapTests {
  @Test func characterOfAUserIsTextWhereTextIsTyped() {
    let (typing, list) = (KeymapContext("typing"), KeymapContext("list"))
    func bind(_ context: KeymapContext, _ keys: [String], _ action: String) -> [KeyBinding] {
      KeyBinding.bindings(context, keys, ActionID(action), "")
    }
    let keymap = Keymap(
      bind(typing, ["Down"], "down") + bind(list, ["j"], "down"), typingContexts: [typing])
    func keys(_ change: KeymapChange) -> [String] {
      keymap.applying([change]).bindings.map { "\($0.context) \($0.keys)" }
    }
    let sequences = ["x", "C-n"].map { KeyStroke.sequence($0) ?? [] }
    let everywhere = KeymapChange(action: ActionID("down"), sequences: sequences)
    #expect(keys(everywhere) == ["typing C-n", "list x", "list C-n"])
    let character = KeymapChange(action: ActionID("down"), sequences: [sequences[0]])
    #expect(keys(character) == ["typing Down", "list x"])
    let here = KeymapChange(context: typing, action: ActionID("down"), sequences: [sequences[0]])
    #expect(keys(here) == ["typing x", "list j"])
    #expect(keys(KeymapChange(action: ActionID("down"), sequences: [])).isEmpty)
  }

  @Test func keyOfAUserIsNotHiddenByAnInnerContext() {
    let (inner, outer) = (KeymapContext("inner"), KeymapContext("outer"))
    func bind(_ context: KeymapContext, _ keys: String, _ action: String) -> [KeyBinding] {
      KeyBinding.bindings(context, [keys], ActionID(action), "")
    }
    let keymap = Keymap(
      bind(inner, "x", "menu") + bind(inner, "y", "copy") + bind(outer, "k", "up"),
      innerContexts: [outer: [inner]])
    let change = KeymapChange(
      action: ActionID("up"), sequences: [KeyStroke.sequence("x") ?? []])
    let changed = keymap.applying([change])
    #expect(
      changed.bindings.map { "\($0.context) \($0.keys) \($0.action)" } == [
        "inner y copy", "outer x up",
      ])
  }
}
