import RunnelBase
import RunnelTerminal
import RunnelTree

// Bookmarks, and the way back to where the user was.

/// What the next key names by a letter.
struct AwaitedLetter: Hashable, Sendable {
  /// What is done with the letter.
  enum Purpose: Hashable, Sendable {
    /// The place gets it as a bookmark.
    case set
    /// Its bookmark is gone to.
    case goTo
  }

  let purpose: Purpose
  /// The keys that asked for it, for the line below.
  let keys: String
  /// When they were struck.
  let time: Int64
}

extension AppState {
  /// The jumps that are made by moving far: the place before is one to come back to.
  private static let farMoves: Set<ActionID> = [
    .rowFirst, .rowLast, .rowNewest, .searchNext, .searchPrevious, .rowOpen, .rowIn,
  ]

  /// Runs an action, and notes where the user was if it took them far.
  mutating func performNotingJumps(_ action: ActionID, count: Int?) {
    let before = place
    perform(action, count: count)
    guard AppState.farMoves.contains(action) else { return }
    noteJump(from: before, isOpening: action == .rowOpen || action == .rowIn)
  }

  /// Notes where the user was, if they are elsewhere now.
  private mutating func noteJump(from before: Place, isOpening: Bool) {
    let now = place
    if now == before || now.view != before.view { return }
    if isOpening, !now.isOpen || before.isOpen { return }
    places.note(before)
  }

  /// Goes so many places forward, or back if negative.
  mutating func travel(by count: Int) {
    for step in 0..<min(abs(count), PlaceHistory.placesMax) {
      let here = place
      let next = count < 0 ? places.goBack(from: here) : places.goForward(from: here)
      guard let next else {
        if step == 0, let reason = reasonNotTravelled(isBack: count < 0) { say(.info, reason) }
        return
      }
      if !go(to: next) { return }
    }
  }

  /// Why one cannot go back, or forward; nil if one can.
  func reasonNotTravelled(isBack: Bool) -> String? {
    if places.hasOther(than: place, isBack: isBack) { return nil }
    return isBack ? "this is where you came from" : "there is nothing ahead"
  }

  // MARK: Bookmarks

  /// Waits for the letter of a bookmark.
  mutating func awaitLetter(_ purpose: AwaitedLetter.Purpose, _ action: ActionID) {
    let keys = keymap.firstKeys(for: action, in: contexts) ?? ""
    awaited = AwaitedLetter(purpose: purpose, keys: keys, time: now)
  }

  /// Takes the letter that was waited for.
  mutating func take(_ stroke: KeyStroke, for awaited: AwaitedLetter) {
    self.awaited = nil
    guard case .character(let letter) = stroke.key, !stroke.control, !stroke.meta else {
      if stroke != KeyStroke(.escape) { say(.info, "a bookmark is a letter") }
      return
    }
    switch awaited.purpose {
    case .set where letter.isLetter: setBookmark(letter)
    case .goTo where letter.isLetter: goToBookmark(letter)
    case .goTo where String(letter) == awaited.keys: travel(by: -1)
    case .set, .goTo: say(.info, "a bookmark is a letter")
    }
  }

  private mutating func setBookmark(_ letter: Character) {
    bookmarks[letter] = place
    say(.info, "bookmark \(letter) is \(place.title)")
  }

  private mutating func goToBookmark(_ letter: Character) {
    guard let target = bookmarks[letter] else {
      return say(.info, phrase("there is no bookmark \(letter)", .bookmarkSet, "\(letter) sets it"))
    }
    goAndNote(target)
  }

  /// Goes to a place, and can come back.
  mutating func goAndNote(_ target: Place) {
    let before = place
    if go(to: target), before != target { places.note(before) }
  }

  /// The bookmarks by their letters, in the order of the letters.
  var bookmarkList: [(letter: Character, place: Place)] {
    bookmarks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The bookmarks as they are kept between sessions.
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
