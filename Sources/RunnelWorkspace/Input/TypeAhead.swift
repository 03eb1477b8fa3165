package import RunnelTerminal

/// Input whose meaning depends on an answer that is not there yet: it is kept in order, and handled
/// when the answer is.
///
/// ```
///            a key that depends on an answer
///   empty ------------------------------------> holding --+ any input goes behind it
///     ^                                           |   ^---+
///     |             the answer: one event after   |
///     +-------------------------------------------+
///       another is handled, until one has to wait
/// ```
package struct TypeAhead: Hashable, Sendable {
  /// The most events that are kept.
  static let eventsMax = 4096
  /// The most characters of pastes that are kept, by Unicode's count.
  static let scalarsMax = InputEvent.pasteScalarsMax
  /// How long input waits before that is said, in milliseconds.
  package static let silentMilliseconds: Int64 = 300

  /// The waiting events, oldest first.
  package private(set) var events: [InputEvent] = []
  /// The reason for waiting, as a sentence.
  private(set) var reason = ""
  /// When the first of it came, in milliseconds since 1970.
  private(set) var since: Int64 = 0
  /// True if the first event was tried since the last answer, and has to wait on.
  private(set) var isBlocked = false
  private var scalarCount = 0

  package var isEmpty: Bool { events.isEmpty }

  /// True if the next event is to be tried.
  package var isReady: Bool { !events.isEmpty && !isBlocked }

  /// Keeps an event behind the others; false if there is no room.
  package mutating func append(_ event: InputEvent, at now: Int64) -> Bool {
    let count = event.scalarCount
    guard events.count < TypeAhead.eventsMax, scalarCount + count <= TypeAhead.scalarsMax else {
      return false
    }
    if events.isEmpty { since = now }
    events.append(event)
    scalarCount += count
    return true
  }

  /// Keeps keys before the others, as what has to wait for something.
  package mutating func hold(_ strokes: [KeyStroke], for reason: String, at now: Int64) {
    if events.isEmpty { since = now }
    events.insert(contentsOf: strokes.map { .key($0) }, at: 0)
    block(for: reason)
  }

  /// The first event has to wait for something.
  mutating func block(for reason: String) {
    self.reason = reason
    isBlocked = true
  }

  /// An answer came: the first event is to be tried again.
  mutating func unblock() { isBlocked = false }

  /// Takes the first event off; nil if none waits.
  mutating func takeFirst() -> InputEvent? {
    if events.isEmpty { return nil }
    let event = events.removeFirst()
    scalarCount -= event.scalarCount
    return event
  }
}

extension InputEvent {
  /// How many characters it brings, by Unicode's count.
  fileprivate var scalarCount: Int {
    if case .paste(let text) = self { text.unicodeScalars.count } else { 0 }
  }
}
