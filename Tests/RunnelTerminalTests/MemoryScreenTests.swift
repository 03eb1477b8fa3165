import RunnelTerminal
import Testing

@Suite struct MemoryScreenTests {
  private let size = TerminalSize(columns: 4, rows: 1)

  @Test func canvasIsKept() {
    let screen = MemoryScreen(size: size)
    var canvas = Canvas(size: screen.size, glyphs: screen.glyphs)
    canvas.put("ab", at: Position(row: 0, column: 0), width: 4)
    screen.present(canvas)
    #expect(screen.canvas == canvas)
    #expect(screen.textLines == ["ab"])
  }

  @Test func eventsAreReadOnceInOrder() {
    let screen = MemoryScreen(size: size)
    screen.send(keys: "g g")
    screen.send(.paste("x"))
    let key = InputEvent.key(KeyStroke(.character("g")))
    #expect(screen.readEvents() == [key, key, .paste("x")])
    #expect(screen.readEvents().isEmpty)
  }

  @Test func newSizeComesWithItsEvent() {
    let screen = MemoryScreen(size: size)
    let larger = TerminalSize(columns: 9, rows: 3)
    screen.resize(to: larger)
    #expect(screen.size == size)
    #expect(screen.readEvents() == [.resize(larger)])
    #expect(screen.size == larger)
  }

  @Test func suspendedScreenShowsAndReadsNothing() {
    let screen = MemoryScreen(size: size)
    screen.suspend()
    screen.send(keys: "j")
    screen.present(Canvas(size: size))
    #expect(screen.canvas == nil)
    #expect(screen.readEvents().isEmpty)
    screen.resume()
    #expect(screen.readEvents().count == 1)
  }

  @Test func closedScreenStaysClosed() {
    let screen = MemoryScreen(size: size)
    screen.close()
    screen.resume()
    #expect(screen.state == .closed)
  }
}
