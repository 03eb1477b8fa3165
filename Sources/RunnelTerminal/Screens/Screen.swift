/// Shows canvases and reads events.
///
/// There are two: `CursesScreen` draws on a terminal, `MemoryScreen` keeps the canvas for tests. A
/// screen belongs to one thread.
public protocol Screen: AnyObject {
  /// The size that canvases should have.
  var size: TerminalSize { get }

  /// The signs that the screen can draw.
  var glyphs: Glyphs { get }

  /// The descriptor to poll for reading before `readEvents`; nil when there is none.
  var inputDescriptor: Int32? { get }

  /// Shows a canvas; only the cells that differ from the last one are sent.
  ///
  /// A canvas of another size than the screen is cut or shown with blanks around it. Ignored while
  /// suspended.
  func present(_ canvas: Canvas)

  /// Returns all pending events, in order; never blocks.
  ///
  /// Empty while suspended.
  func readEvents() -> [InputEvent]

  /// Releases the terminal, as it was before the screen opened, until `resume`.
  ///
  /// For stopping the process, or for running an editor. Does nothing while suspended or closed.
  func suspend()

  /// Takes the terminal again, asks for its size, and shows the last canvas.
  ///
  /// Also repairs the terminal after a stop that came without `suspend`.
  func resume()

  /// Shows the last canvas again from scratch, after another program wrote on the terminal.
  func redraw()

  /// Releases the terminal for good; every later call does nothing.
  func close()

  /// Rings the terminal's bell.
  func bell()

  /// Sends a control sequence to the terminal between two frames, for effects beyond a canvas.
  ///
  /// Ignored while suspended.
  func send(_ bytes: [UInt8])

  /// Applies other options while open: theme, signs and mouse.
  func apply(_ options: TerminalOptions)

  /// Asks the terminal for its size; call it after `TerminalSignal.windowChanged`.
  ///
  /// - Returns: The new `size`.
  func updateSize() -> TerminalSize
}
