/// Draws a canvas as a picture: an SVG with one text element for each run of equal cells.
///
/// Every column has the width that the canvas gives it, regardless of the reader's font.
package struct CanvasSVG {
  private static let cellWidth = 8.4
  private static let cellHeight = 18
  private static let padding = 12
  private static let fontSize = 14

  private let canvas: Canvas
  private let theme: Theme
  /// The background, and the color of text without a color of its own.
  private let (paper, ink): (String, String)

  /// Makes a drawing of a canvas, with the colors of a theme on a background.
  package init(
    _ canvas: Canvas, theme: Theme = Theme(.dark, depth: .extended),
    on background: ThemeBackground = .dark
  ) {
    self.canvas = canvas
    self.theme = theme
    (paper, ink) = background == .dark ? ("#1c1c1c", "#d0d0d0") : ("#ffffff", "#1c1c1c")
  }

  /// The text of the SVG file.
  package func text() -> String {
    let width = Int(Double(canvas.size.columns) * CanvasSVG.cellWidth) + 2 * CanvasSVG.padding
    let height = canvas.size.rows * CanvasSVG.cellHeight + 2 * CanvasSVG.padding
    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)">
      <rect width="100%" height="100%" rx="8" fill="\(paper)"/>
      <g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" \
      font-size="\(CanvasSVG.fontSize)" xml:space="preserve">

      """
    for row in 0..<canvas.size.rows {
      for run in runs(ofRow: row) { svg += element(run, row: row) }
    }
    return svg + "</g>\n</svg>\n"
  }

  /// Cells side by side that look the same.
  private struct Run {
    var column: Int
    var width = 0
    var text = ""
    var style: Style
  }

  private func runs(ofRow row: Int) -> [Run] {
    var runs: [Run] = []
    for column in 0..<canvas.size.columns {
      guard let cell = canvas.cell(at: Position(row: row, column: column)), cell.width > 0 else {
        continue
      }
      let style = theme.style(for: cell.role, highlight: cell.highlight)
      if runs.last?.style != style { runs.append(Run(column: column, style: style)) }
      runs[runs.count - 1].text += cell.text
      runs[runs.count - 1].width += Int(cell.width)
    }
    return runs
  }

  private func element(_ run: Run, row: Int) -> String {
    let isReverse = run.style.attributes.contains(.reverse)
    let foreground = run.style.foreground.map { RGB(xterm: $0).hexText } ?? ink
    let background = run.style.background.map { RGB(xterm: $0).hexText } ?? paper
    let (front, behind) = isReverse ? (background, foreground) : (foreground, background)
    let x = tenths(Double(CanvasSVG.padding) + Double(run.column) * CanvasSVG.cellWidth)
    let top = CanvasSVG.padding + row * CanvasSVG.cellHeight
    let width = tenths(Double(run.width) * CanvasSVG.cellWidth)
    var svg = ""
    if behind != paper {
      svg += "<rect x=\"\(x)\" y=\"\(top)\" width=\"\(width)\" height=\"\(CanvasSVG.cellHeight)\" "
      svg += "fill=\"\(behind)\"/>\n"
    }
    if run.text.allSatisfy({ $0 == " " }) { return svg }
    svg += "<text x=\"\(x)\" y=\"\(top + CanvasSVG.fontSize)\" fill=\"\(front)\" "
    svg += "textLength=\"\(width)\" lengthAdjust=\"spacingAndGlyphs\"\(attributes(run.style))>"
    return svg + escaped(run.text) + "</text>\n"
  }

  private func attributes(_ style: Style) -> String {
    var text = ""
    if style.attributes.contains(.bold) { text += " font-weight=\"bold\"" }
    if style.attributes.contains(.italic) { text += " font-style=\"italic\"" }
    if style.attributes.contains(.underline) { text += " text-decoration=\"underline\"" }
    if style.attributes.contains(.dim) { text += " opacity=\"0.7\"" }
    return text
  }

  private func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
  }

  private func tenths(_ value: Double) -> String {
    let whole = Int((value * 10).rounded())
    return "\(whole / 10).\(whole % 10)"
  }
}
