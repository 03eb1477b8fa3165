import RunnelBase
import RunnelTerminal
package import RunnelTree

/// The value of the node under the cursor of the tree, as far as it was read.
///
/// The tree knows of a node no more than the number of its children. What is below them is read when
/// the cursor stands on it: one at a time, so that whoever moves on fast waits for one value at most,
/// and sees the one where they stopped.
package struct TreePreview: Hashable, Sendable {
  /// How many bytes of a value are shown.
  package static let textMax = 64 << 10
  /// How far the size of a value is counted, in bytes.
  package static let countMax = 2 << 20

  /// How many times are written out below a value.
  private static let momentsMax = 3

  /// What was read.
  package struct Value: Hashable, Sendable {
    package let path: Path
    /// The JSON, line by line; empty if it could not be read.
    let lines: [String]
    /// How large it is, in words.
    package let size: String
    /// The first few numbers in it that look like times, each once.
    package let moments: [Int64]
    /// When it was read, in milliseconds since 1970.
    package let time: Int64
  }

  /// The value that was read last; nil if none was.
  package fileprivate(set) var value: Value?
  /// The place that is being read.
  package fileprivate(set) var asked: Path?
  /// True if what was read may have changed since.
  fileprivate var isStale = false
}

extension TreePreview {
  /// Asks for the value under the cursor, if it is to be shown and nothing else is being read.
  static func updatePreview(_ state: inout AppState) {
    guard state.tabs.isTree, state.layers.isEmpty, state.arrangement.detailShare > 0,
      state.tabs.tree.preview.asked == nil,
      case .node(let path, let row, _)? = state.tabs.tree.cursorLine,
      case .children = row.summary.kind,
      state.tabs.tree.preview.value?.path != path || state.tabs.tree.preview.isStale
    else { return }
    state.tabs.tree.preview.asked = path
    state.tabs.tree.preview.isStale = false
    state.ask(.excerpt(path), for: .preview(path))
  }

  /// A value was read, or could not be.
  static func show(_ state: inout AppState, _ excerpt: NodeExcerpt?, asPreviewOf path: Path) {
    Deleting.weigh(&state, path, excerpt)
    guard state.tabs.tree.preview.asked == path else { return }
    state.tabs.tree.preview.asked = nil
    let lines = excerpt?.text.split(separator: "\n", omittingEmptySubsequences: false) ?? []
    state.tabs.tree.preview.value = TreePreview.Value(
      path: path, lines: lines.map(String.init),
      size: excerpt.map(TreePreview.size) ?? "this could not be read",
      moments: TreePreview.moments(in: lines), time: state.now)
    updatePreview(&state)
  }

  /// The children of a node changed: what was read of it, or around it, may be different.
  static func noteChange(_ state: inout AppState, at path: Path) {
    guard let shown = state.tabs.tree.preview.value?.path,
      shown.contains(path) || path.contains(shown)
    else {
      return
    }
    state.tabs.tree.preview.isStale = true
    updatePreview(&state)
  }
}

extension TreePreview {
  /// The first few numbers in lines of JSON that look like times, each once.
  fileprivate static func moments(in lines: [Substring]) -> [Int64] {
    var moments: [Int64] = []
    for line in lines {
      guard let time = JSONLine.moment(in: String(line)), !moments.contains(time) else { continue }
      moments.append(time)
      if moments.count == momentsMax { break }
    }
    return moments
  }

  /// How large a value is, and how much of it is shown.
  package static func size(_ excerpt: NodeExcerpt) -> String {
    let all = ByteCount.text(excerpt.byteCount)
    if excerpt.isWhole { return all }
    let shown = ByteCount.text(textMax)
    return excerpt.isCounted ? "first \(shown) of \(all)" : "first \(shown) of more than \(all)"
  }
}

/// A number of bytes as people read it.
package enum ByteCount {
  /// `147 bytes`, `64 KiB`, `3.1 MiB`.
  package static func text(_ count: Int) -> String {
    if count == 1 { return "1 byte" }
    if count < 1 << 10 { return count == 1 ? "1 byte" : "\(count) bytes" }
    let units = ["KiB", "MiB", "GiB", "TiB"]
    var size = count
    var unit = 0
    while size >= 1 << 20, unit < units.count - 1 {
      size >>= 10
      unit += 1
    }
    let tenths = (size * 10 + 512) / 1024
    let isWhole = tenths % 10 == 0 || tenths >= 1000
    return isWhole
      ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
