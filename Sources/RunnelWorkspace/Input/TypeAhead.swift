package import RunnelTerminal

/// Input that waits for an answer because its meaning depends on the answer.
///
/// It is kept in order, and handled after the answer.
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
  /// The greatest number of waiting events.
  static let eventsMax = 4096
  /// The greatest number of characters in waiting pastes, in Unicode scalars.
  static let scalarsMax = InputEvent.pasteScalarsMax
  /// The time in milliseconds that input waits before this is mentioned.
  package static let silentMilliseconds: Int64 = 300

  /// The waiting events, oldest first.
  package private(set) var events: [InputEvent] = []
  /// The times at which the waiting events happened, in milliseconds since 1970.
  private var times: [Int64] = []
  /// The reason for waiting, as a sentence.
  private(set) var reason = ""
  /// The time of the first waiting event, in milliseconds since 1970.
  private(set) var since: Int64 = 0
  /// Whether the first event was tried since the last answer, and still has to wait.
  private(set) var isBlocked = false
  private var scalarCount = 0

  package var isEmpty: Bool { events.isEmpty }

  /// Whether the next event is to be tried.
  package var isReady: Bool { !events.isEmpty && !isBlocked }

  /// Adds an event behind the others; returns false if there is no room.
  package mutating func append(_ event: InputEvent, at now: Int64) -> Bool {
    let count = event.scalarCount
    guard events.count < TypeAhead.eventsMax, scalarCount + count <= TypeAhead.scalarsMax else {
      return false
    }
    if events.isEmpty { since = now }
    events.append(event)
    times.append(now)
    scalarCount += count
    return true
  }

  /// Puts keys that were struck at a time before the waiting events, and blocks for a reason.
  package mutating func hold(
    _ strokes: [KeyStroke], struckAt time: Int64, for reason: String, at now: Int64
  ) {
    if events.isEmpty { since = now }
    events.insert(contentsOf: strokes.map { .key($0) }, at: 0)
    times.insert(contentsOf: strokes.map { _ in time }, at: 0)
    block(for: reason)
  }

  /// Notes the reason why the first event has to wait.
  mutating func block(for reason: String) {
    self.reason = reason
    isBlocked = true
  }

  /// Lets the first event be tried again, after an answer.
  mutating func unblock() { isBlocked = false }

  /// Removes and returns the first event and its time, or nil if none waits.
  mutating func takeFirst() -> (event: InputEvent, time: Int64)? {
    if events.isEmpty { return nil }
    let event = events.removeFirst()
    scalarCount -= event.scalarCount
    return (event, times.removeFirst())
  }
}

extension InputEvent {
  /// The number of characters in a paste, in Unicode scalars; 0 for other events.
  fileprivate var scalarCount: Int {
    if case .paste(let text) = self { text.unicodeScalars.count } else { 0 }
  }
}
