// RunnelTerminal.md shows what stands between the marks; a test holds the two equal.

// example begin
import RunnelTerminal

/// Draws a title with a line of hints below, and returns what stands on the screen.
func drawTitle(_ title: String, on screen: MemoryScreen) -> [String] {
  var canvas = Canvas(size: screen.size, glyphs: screen.glyphs)
  canvas.put(title, at: Position(row: 0, column: 2), width: screen.size.columns - 2)
  StatusLine(left: "q quits", right: "1 of 3").draw(
    into: &canvas, rect: canvas.bounds.splitTop(1).rest)
  screen.present(canvas)
  return screen.textLines
}
// example end
