/// The clusters of a line that fit into a width, with an ellipsis if not all fit.
///
/// It reads no more of the line than it needs: a value of a megabyte costs no more than its first
/// columns.
///
/// A run with right-to-left letters ends in an invisible mark: otherwise terminals that reorder
/// such text would draw the text beside it, such as the age of a row, among its letters.
struct LineFitting {
  /// The clusters to draw, from left to right.
  private(set) var clusters: [(cluster: CellCluster, role: StyleRole)] = []
  private var used = 0

  init(_ line: StyledLine, width: Int, glyphs: Glyphs) {
    guard width > 0 else { return }
    clusters.reserveCapacity(width + 2)
    for run in line.runs {
      let start = clusters.count
      defer { markDirection(from: start, glyphs: glyphs) }
      CellText.forEachCell(of: run.text, glyphs: glyphs) { cluster, _ in
        clusters.append((cluster, run.role))
        used += cluster.width
        return used <= width
      }
      guard used <= width else {
        shorten(to: width, role: run.role, glyphs: glyphs)
        return
      }
    }
  }

  /// Ends the fitted part of a run with a left-to-right mark, if it needs one.
  private mutating func markDirection(from start: Int, glyphs: Glyphs) {
    guard !glyphs.isASCII, start < clusters.count,
      clusters[start...].contains(where: \.cluster.isRightToLeft)
    else { return }
    let last = clusters[clusters.count - 1].cluster
    clusters[clusters.count - 1].cluster = last.withDirectionMark
  }

  /// Makes room for the ellipsis and adds as much of it as fits.
  private mutating func shorten(to width: Int, role: StyleRole, glyphs: Glyphs) {
    let signs = glyphs.ellipsis.prefix(width)
    while used + signs.count > width, let last = clusters.popLast() {
      used -= last.cluster.width
    }
    for sign in signs {
      clusters.append((CellCluster(text: String(sign), width: 1), clusters.last?.role ?? role))
      used += 1
    }
  }
}
