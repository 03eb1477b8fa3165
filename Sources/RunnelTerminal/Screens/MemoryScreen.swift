/// A screen without a terminal: it keeps what is presented, and returns the events it is sent.
public final class MemoryScreen: Screen {
  /// The state of the screen.
  public enum State: Hashable, Sendable {
    /// Showing canvases and delivering events.
    case active
    /// Suspended.
    case suspended
    /// Closed.
    case closed
  }

  /// The size that canvases should have.
  public private(set) var size: TerminalSize
  /// The signs that the screen can draw.
  public private(set) var glyphs: Glyphs
  /// The options applied last; nil before the first.
  public private(set) var options: TerminalOptions?
  /// The canvas presented last; nil before the first.
  public private(set) var canvas: Canvas?
  /// The number of canvases that were presented.
  public private(set) var presentCount = 0
  /// The number of times that the last canvas was shown from scratch.
  public private(set) var redrawCount = 0
  /// The control sequences that were sent, in order.
  public private(set) var sent: [[UInt8]] = []
  /// The number of times that the bell rang.
  public private(set) var bellCount = 0
  /// The state of the screen.
  public private(set) var state = State.active

  private var events: [InputEvent] = []
  private var nextSize: TerminalSize

  /// Makes a screen that shows nothing yet.
  public init(
    size: TerminalSize = TerminalSize(columns: 80, rows: 24), glyphs: Glyphs = .unicode
  ) {
    self.size = size
    self.glyphs = glyphs
    nextSize = size
  }

  /// Keeps a control sequence in `sent`.
  public func send(_ bytes: [UInt8]) {
    if state == .active { sent.append(bytes) }
  }

  /// Applies other options; its signs stay if the locale chooses them.
  public func apply(_ options: TerminalOptions) {
    self.options = options
    switch options.signs {
    case .automatic: break
    case .unicode: glyphs = .unicode
    case .ascii: glyphs = .ascii
    }
  }

  /// Always nil: there is nothing to poll.
  public var inputDescriptor: Int32? { nil }

  /// The text of each row of the last canvas, without trailing blanks; empty before the first.
  public var textLines: [String] { canvas?.textLines() ?? [] }

  /// Queues events for the next `readEvents`.
  public func send(_ newEvents: InputEvent...) {
    events += newEvents
  }

  /// Queues the keys of a notation such as `g g` or `C-x C-e`; see `KeyStroke.sequence`.
  public func send(keys notation: String) {
    guard let strokes = KeyStroke.sequence(notation) else {
      preconditionFailure("not a notation of keys: \(notation)")
    }
    events += strokes.map { .key($0) }
  }

  /// Gives the screen another size: `updateSize` finds it, and the event is queued.
  public func resize(to newSize: TerminalSize) {
    nextSize = newSize
    events.append(.resize(newSize))
  }

  /// Keeps a canvas.
  public func present(_ canvas: Canvas) {
    guard state == .active else { return }
    self.canvas = canvas
    presentCount += 1
  }

  /// The events sent since the last call.
  public func readEvents() -> [InputEvent] {
    guard state == .active else { return [] }
    defer { events = [] }
    if events.contains(where: { if case .resize = $0 { true } else { false } }) { size = nextSize }
    return events
  }

  /// Ignores canvases and keeps events until `resume`.
  public func suspend() {
    if state == .active { state = .suspended }
  }

  /// Takes canvases again, and counts as a redraw.
  public func resume() {
    guard state != .closed else { return }
    state = .active
    size = nextSize
    redrawCount += 1
  }

  /// Counts a redraw.
  public func redraw() {
    if state == .active { redrawCount += 1 }
  }

  /// Ignores everything from now on.
  public func close() { state = .closed }

  /// Counts a ring of the bell.
  public func bell() {
    if state == .active { bellCount += 1 }
  }

  /// The size set by the last `resize(to:)`.
  public func updateSize() -> TerminalSize {
    size = nextSize
    return size
  }
}
