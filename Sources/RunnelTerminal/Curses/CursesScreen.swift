import CTerminal
import Glibc

/// A screen on the process's terminal.
///
/// It draws on `/dev/tty`, so that stdin and stdout stay free for data. Text written to stderr
/// meanwhile is kept, and shown when the terminal is released. A crash releases the terminal, too.
/// All calls must come from the thread that opened it. A process has at most one.
public final class CursesScreen: Screen {
  /// The look of a role on this terminal.
  private struct Look {
    var attributes: UInt32
    var colorPair: Int32
  }

  /// The greatest number of changed rows for which the terminal is not asked to show the frame at
  /// once.
  ///
  /// So little data is not split on its way, and the request would be as long as a change of some
  /// cells.
  private static let smallFrameRows = 4
  /// The bytes of a paste that are read at once.
  private static let pasteChunkBytes = 1 << 16

  /// The size that canvases should have.
  public private(set) var size = TerminalSize(columns: 0, rows: 0)
  /// The signs that the terminal and its locale can draw.
  public private(set) var glyphs: Glyphs
  /// The background that the theme assumes: the terminal's answer, or the value of COLORFGBG.
  public private(set) var background: ThemeBackground
  /// The styles of the roles.
  private(set) var theme: Theme

  private let descriptor: Int32
  private let colorCount: Int
  private let isUTF8: Bool
  private var options: TerminalOptions
  /// Whether the terminal was asked for its background and has not answered yet.
  private var isAnswerDue = false
  private var looks: [Look]
  /// The colors that are drawn exactly, by their numbers in the theme.
  private var directColors: [UInt8: RGB]
  /// Makes links clickable; nil if the terminal may not know them.
  private var links: Hyperlinks?
  private var decoder = InputDecoder()
  /// The last canvas, in the size of the screen.
  private var canvas: Canvas?
  /// The canvas that the terminal shows; nil if everything must be sent.
  private var shown: Canvas?
  private var isSuspended = false
  private var isClosed = false

  /// Takes the terminal.
  ///
  /// Block the signals first (`SignalSource.blockSignals`): curses handles those that are open.
  ///
  /// - Throws: `TerminalError` with a message for the user; the terminal is then as it was.
  public static func open(
    options: TerminalOptions = TerminalOptions()
  ) throws(TerminalError) -> CursesScreen {
    let depth = options.depth(colorCount: 256, noColor: environment("NO_COLOR"))
    var request = runnel_terminal_options(
      uses_color: depth != .none, uses_mouse: options.usesMouse)
    var info = runnel_terminal_info()
    let result = runnel_terminal_open(&request, &info)
    if let error = openError(Int(result)) { throw error }
    return CursesScreen(options: options, info: info)
  }

  private init(options: TerminalOptions, info: runnel_terminal_info) {
    descriptor = info.descriptor
    colorCount = Int(info.color_count)
    isUTF8 = info.is_utf8
    self.options = options
    glyphs = options.glyphs(isUTF8: isUTF8, term: Self.environment("TERM") ?? "")
    background = ThemeBackground(colorFGBG: Self.environment("COLORFGBG"))
    theme = Self.theme(options, background, colorCount: colorCount)
    directColors = Self.directColors(options)
    looks = Self.looks(of: theme, directColors)
    links = Hyperlinks(theme: theme, term: Self.environment("TERM") ?? "")
    _ = updateSize()
    askForBackground()
  }

  deinit { if !isClosed { runnel_terminal_close() } }

  private var isActive: Bool { !isSuspended && !isClosed }

  /// The terminal, to poll for reading.
  public var inputDescriptor: Int32? { isClosed ? nil : descriptor }

  // MARK: - Look

  /// Applies other options: theme, signs and mouse.
  ///
  /// Signs change with the next canvas.
  public func apply(_ options: TerminalOptions) {
    guard !isClosed else { return }
    self.options = options
    glyphs = options.glyphs(isUTF8: isUTF8, term: Self.environment("TERM") ?? "")
    runnel_terminal_use_mouse(options.usesMouse)
    updateTheme()
    askForBackground()
  }

  private func updateTheme() {
    let next = Self.theme(options, background, colorCount: colorCount)
    let colors = Self.directColors(options)
    guard next != theme || colors != directColors else { return }
    (theme, directColors) = (next, colors)
    looks = Self.looks(of: theme, directColors)
    links = Hyperlinks(theme: theme, term: Self.environment("TERM") ?? "")
    shown = nil
    if let canvas { present(canvas) }
  }

  private static func theme(
    _ options: TerminalOptions, _ background: ThemeBackground, colorCount: Int
  ) -> Theme {
    options.theme(
      on: background,
      depth: options.depth(colorCount: colorCount, noColor: environment("NO_COLOR")))
  }

  private static func directColors(_ options: TerminalOptions) -> [UInt8: RGB] {
    options.directColors(colorTerm: environment("COLORTERM"))
  }

  /// Asks the terminal for its background color, if the theme depends on it.
  ///
  /// The answer is not waited for: until it comes, COLORFGBG is used. The second question is one
  /// that every terminal answers.
  private func askForBackground() {
    guard options.baseTheme == nil, !isAnswerDue, theme.depth == .extended else { return }
    isAnswerDue = true
    send(Array("\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8))
  }

  /// Sends a control sequence to the terminal, between two frames.
  public func send(_ bytes: [UInt8]) {
    guard isActive else { return }
    runnel_terminal_send(bytes, Int32(bytes.count))
  }

  private func take(_ reply: TerminalReply) {
    switch reply {
    case .background(let color):
      background = ThemeBackground(of: color)
      updateTheme()
    case .attributes: isAnswerDue = false
    }
  }

  // MARK: - Drawing

  /// Shows a canvas; only cells that differ from the last one are sent.
  public func present(_ canvas: Canvas) {
    guard isActive else { return }
    let fitted = canvas.fitted(to: size)
    self.canvas = fitted
    let changed: [Int]
    if let shown {
      changed = fitted.changedRows(from: shown)
      if changed.isEmpty, shown.cursor == fitted.cursor { return }
      update(changed, from: shown, to: fitted)
    } else {
      changed = Array(0..<size.rows)
      for row in changed { draw(fitted.line(row), 0..<size.columns, row: row) }
    }
    shown = fitted
    let cursor = fitted.cursor ?? Position(row: -1, column: -1)
    runnel_terminal_flush(
      Int32(cursor.row), Int32(cursor.column), changed.count > CursesScreen.smallFrameRows)
    sendLinks(of: fitted, rows: changed)
  }

  /// Makes the links on some lines clickable.
  private func sendLinks(of canvas: Canvas, rows: [Int]) {
    guard let links else { return }
    var sequence = ""
    for row in rows { sequence += links.sequence(for: canvas.line(row), row: row) }
    if !sequence.isEmpty { send(Array(sequence.utf8)) }
  }

  /// Shows the last canvas again from scratch.
  public func redraw() {
    guard isActive else { return }
    runnel_terminal_invalidate()
    shown = nil
    present(canvas ?? Canvas(size: size, glyphs: glyphs))
  }

  /// Rings the terminal's bell.
  public func bell() { runnel_terminal_bell() }

  /// Draws the differences on rows that changed.
  private func update(_ changed: [Int], from old: Canvas, to new: Canvas) {
    guard let scroll = new.scroll(from: old, changed: changed),
      runnel_terminal_scroll(
        Int32(scroll.rows.lowerBound), Int32(scroll.rows.upperBound - 1), Int32(scroll.lines))
    else {
      for row in changed {
        draw(new.line(row), new.line(row).changes(from: old.line(row)), row: row)
      }
      return
    }
    for row in 0..<size.rows {
      let line = new.line(row)
      switch scroll.source(of: row) {
      case .row(let source): draw(line, line.changes(from: old.line(source)), row: row)
      case .blank: draw(line, 0..<size.columns, row: row)
      }
    }
  }

  /// Puts cells of a row into the frame.
  private func draw(_ line: CanvasLine, _ columns: Range<Int>, row: Int) {
    if columns.isEmpty { return }
    withUnsafeTemporaryAllocation(of: runnel_cell.self, capacity: columns.count) { cells in
      for (index, cell) in line.cells[columns].enumerated() {
        let look = looks[Self.lookIndex(cell.role, cell.highlight)]
        cells[index] = runnel_cell(
          scalars: cell.scalars.five, attributes: look.attributes, color_pair: look.colorPair,
          width: Int32(cell.width))
      }
      runnel_terminal_put(
        Int32(row), Int32(columns.lowerBound), cells.baseAddress, Int32(columns.count))
    }
  }

  private static func lookIndex(_ role: StyleRole, _ highlight: RowHighlight) -> Int {
    Int(role.rawValue) * RowHighlight.allCases.count + Int(highlight.rawValue)
  }

  private static func looks(of theme: Theme, _ directColors: [UInt8: RGB]) -> [Look] {
    func number(_ color: UInt8?) -> Int32 {
      guard let color else { return -1 }
      guard theme.depth == .extended, let parts = directColors[color] else { return Int32(color) }
      let rest = Int32(parts.red) << 16 | Int32(parts.green) << 8 | Int32(parts.blue)
      return Int32(RUNNEL_COLOR_DIRECT) | rest
    }
    return StyleRole.allCases.flatMap { role in
      RowHighlight.allCases.map { highlight in
        let style = theme.style(for: role, highlight: highlight)
        return Look(
          attributes: attributeBits(style.attributes),
          colorPair: runnel_terminal_color_pair(
            number(style.foreground), number(style.background)))
      }
    }
  }

  private static func attributeBits(_ attributes: Style.Attributes) -> UInt32 {
    let bits: [(Style.Attributes, Int)] = [
      (.bold, RUNNEL_ATTRIBUTE_BOLD), (.dim, RUNNEL_ATTRIBUTE_DIM),
      (.italic, RUNNEL_ATTRIBUTE_ITALIC), (.underline, RUNNEL_ATTRIBUTE_UNDERLINE),
      (.reverse, RUNNEL_ATTRIBUTE_REVERSE),
    ]
    return bits.reduce(0) { attributes.contains($1.0) ? $0 | UInt32($1.1) : $0 }
  }

  // MARK: - Events

  /// Returns all pending events, in order; never blocks.
  public func readEvents() -> [InputEvent] {
    guard isActive else { return [] }
    let events = decoder.decode({ self.readRaw() }, bytes: { self.readBytes() })
    return events.filter { event in
      guard case .reply(let reply) = event else { return true }
      take(reply)
      return false
    }
  }

  private func readRaw() -> RawInput? {
    var input = runnel_terminal_input()
    runnel_terminal_read(&input)
    if Int(input.kind) == RUNNEL_INPUT_RESIZE { return .resize(updateSize()) }
    return RawInput(input)
  }

  /// The pending bytes, up to a limit; curses has read none of them.
  private func readBytes() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: CursesScreen.pasteChunkBytes) { buffer, count in
      count = Int(runnel_terminal_read_bytes(buffer.baseAddress, Int32(buffer.count)))
    }
  }

  /// Asks the terminal for its size and returns it.
  public func updateSize() -> TerminalSize {
    guard !isClosed else { return size }
    var rows: Int32 = 0
    var columns: Int32 = 0
    runnel_terminal_update_size(&rows, &columns)
    let newSize = TerminalSize(columns: Int(columns), rows: Int(rows))
    if newSize != size { shown = nil }
    size = newSize
    return size
  }

  // MARK: - Giving the terminal back

  /// Releases the terminal until `resume`.
  public func suspend() {
    guard isActive else { return }
    isSuspended = true
    discardAnswer()
    runnel_terminal_suspend()
  }

  /// Takes the terminal again, asks for its size, and shows the last canvas.
  public func resume() {
    guard !isClosed else { return }
    isSuspended = false
    decoder = InputDecoder()
    runnel_terminal_resume()
    _ = updateSize()
    redraw()
  }

  /// Releases the terminal for good.
  public func close() {
    guard !isClosed else { return }
    discardAnswer()
    isClosed = true
    runnel_terminal_close()
  }

  /// Discards an answer that has not arrived yet, so that the shell does not read it.
  private func discardAnswer() {
    if isAnswerDue { runnel_terminal_discard_input() }
    isAnswerDue = false
  }

  // MARK: - Opening

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  private static func openError(_ result: Int) -> TerminalError? {
    let term = environment("TERM") ?? ""
    switch result {
    case RUNNEL_TERMINAL_OPENED: return nil
    case RUNNEL_TERMINAL_NO_TTY:
      return TerminalError(
        code: .noTerminal, message: "there is no terminal: /dev/tty cannot be opened")
    case RUNNEL_TERMINAL_NO_TERM, RUNNEL_TERMINAL_NO_CURSOR:
      return TerminalError(
        code: .unsupportedTerminal,
        message: term.isEmpty
          ? "TERM is not set: set it to the name of your terminal, such as xterm-256color"
          : "a terminal of type '\(term)' cannot place its cursor: set TERM to another type")
    case RUNNEL_TERMINAL_ALREADY_OPEN:
      return TerminalError(code: .alreadyOpen, message: "the process has a screen already")
    default:
      return TerminalError(
        code: .unknownTerminal,
        message: "the terminal type '\(term)' is not known here: set TERM to another type")
    }
  }
}
