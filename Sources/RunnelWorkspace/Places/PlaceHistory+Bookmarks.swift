import RunnelBase
import RunnelTerminal
import RunnelTree

// Bookmarks, and going back to earlier places.

/// A command that waits for a letter.
package struct AwaitedLetter: Hashable, Sendable {
  /// The purpose of the letter.
  enum Purpose: Hashable, Sendable {
    /// Set a bookmark with this letter at the place.
    case set
    /// Go to the bookmark with this letter.
    case goTo
  }

  let purpose: Purpose
  /// The keys of the command, for the status line.
  package let keys: String
  /// The time of the keys, in milliseconds since 1970.
  package let time: Int64
}

extension Trail {
  /// The bookmarks as texts, as sessions store them.
  var bookmarkTexts: [String: String] {
    get {
      Dictionary(uniqueKeysWithValues: bookmarks.map { (String($0.key), $0.value.text) })
    }
    set {
      bookmarks = [:]
      for (name, text) in newValue {
        guard let letter = name.first, name.count == 1, letter.isLetter,
          let place = Place(text: text)
        else { continue }
        bookmarks[letter] = place
      }
    }
  }
}

extension PlaceHistory {
  /// Runs an action, and notes the place before it if the action moved far.
  static func performNotingJumps(
    _ state: inout AppState, _ action: ActionID, count: Int?, in contexts: [KeymapContext]
  ) {
    let traits = Commands.command(action, in: contexts)?.traits ?? []
    guard !traits.isDisjoint(with: [.movesFar, .opens]) else {
      return Commands.perform(&state, action, count: count, in: contexts)
    }
    let before = state.place
    Commands.perform(&state, action, count: count, in: contexts)
    noteJump(&state, from: before, isOpening: traits.contains(.opens))
  }

  /// Notes the earlier place if the user is elsewhere in the view now.
  private static func noteJump(_ state: inout AppState, from before: Place, isOpening: Bool) {
    let now = state.place
    if now == before || now.view != before.view || now.list != before.list { return }
    if isOpening, !now.isOpen || before.isOpen { return }
    state.trail.places.note(before)
  }

  /// Goes a number of places forward, or back if negative.
  static func travel(_ state: inout AppState, by count: Int) {
    for step in 0..<min(abs(count), PlaceHistory.placesMax) {
      let here = state.place
      let next =
        count < 0 ? state.trail.places.goBack(from: here) : state.trail.places.goForward(from: here)
      guard let next else {
        if step == 0, let reason = reasonNotTravelled(state, isBack: count < 0) {
          state.say(.info, reason)
        }
        return
      }
      if !go(&state, to: next) { return }
    }
  }

  /// The reason why there is no place to go back or forward to, or nil if there is one.
  static func reasonNotTravelled(_ state: AppState, isBack: Bool) -> String? {
    if state.trail.places.hasOther(than: state.place, isBack: isBack) { return nil }
    return isBack ? "this is where you came from" : "there is nothing ahead"
  }

  // MARK: Bookmarks

  /// Waits for the letter of a bookmark.
  static func awaitLetter(
    _ state: inout AppState, _ purpose: AwaitedLetter.Purpose, _ action: ActionID
  ) {
    let keys = state.settings.keymap.firstKeys(for: action, in: state.contexts) ?? ""
    state.input.awaited = AwaitedLetter(purpose: purpose, keys: keys, time: state.now)
  }

  /// Takes the letter that a command waited for.
  static func take(_ state: inout AppState, _ stroke: KeyStroke, for awaited: AwaitedLetter) {
    state.input.awaited = nil
    guard case .character(let letter) = stroke.key, !stroke.control, !stroke.meta else {
      if stroke != KeyStroke(.escape) { state.say(.info, "a bookmark is a letter") }
      return
    }
    switch awaited.purpose {
    case .set where letter.isLetter: setBookmark(&state, letter)
    case .goTo where letter.isLetter: goToBookmark(&state, letter)
    case .goTo where String(letter) == awaited.keys: travel(&state, by: -1)
    case .set, .goTo: state.say(.info, "a bookmark is a letter")
    }
  }

  private static func setBookmark(_ state: inout AppState, _ letter: Character) {
    state.trail.bookmarks[letter] = state.place
    state.say(.info, "bookmark \(letter) is \(state.place.title)")
  }

  private static func goToBookmark(_ state: inout AppState, _ letter: Character) {
    guard let target = state.trail.bookmarks[letter] else {
      return state.say(
        .info, state.phrase("there is no bookmark \(letter)", .bookmarkSet, "\(letter) sets it"))
    }
    goAndNote(&state, target)
  }

  /// Goes to a place, and notes the present one to go back to.
  static func goAndNote(_ state: inout AppState, _ target: Place) {
    let before = state.place
    if go(&state, to: target), before != target { state.trail.places.note(before) }
  }

  /// The bookmarks with their letters, ordered by letter.
  static func bookmarkList(_ state: AppState) -> [(letter: Character, place: Place)] {
    state.trail.bookmarks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
