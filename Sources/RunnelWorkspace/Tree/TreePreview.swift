import RunnelBase
import RunnelTerminal
package import RunnelTree

/// The value of the node under the cursor of the tree, as far as it was read.
///
/// Of a node, the tree knows only the number of its children. The value is read when the cursor is
/// on the node, one value at a time. After fast moves, the user waits for at most one other value
/// before seeing the one at the cursor.
package struct TreePreview: Hashable, Sendable {
  /// The number of bytes shown of a value.
  package static let textMax = 64 << 10
  /// The number of bytes up to which the size of a value is counted.
  package static let countMax = 2 << 20

  /// The number of times written as dates below a value.
  private static let momentsMax = 3

  /// A value that was read.
  package struct Value: Hashable, Sendable {
    package let path: Path
    /// The lines of the JSON; empty if it could not be read.
    let lines: [String]
    /// The size of the value, in words.
    package let size: String
    /// The first numbers in the value that look like times, without repetition.
    package let moments: [Int64]
    /// The time of the read, in milliseconds since 1970.
    package let time: Int64
  }

  /// The last value read, or nil if there is none.
  package fileprivate(set) var value: Value?
  /// The place that is being read, or nil.
  package fileprivate(set) var asked: Path?
  /// Whether the value may have changed since it was read.
  fileprivate var isStale = false
}

extension TreePreview {
  /// Reads the value under the cursor, if it is to be shown and no other read is under way.
  static func updatePreview(_ state: inout AppState) {
    guard state.tabs.front == .tree, state.layers.isEmpty, state.arrangement.detailShare > 0,
      state.tabs.tree.preview.asked == nil,
      case .node(let path, let row, _)? = state.tabs.tree.cursorLine,
      case .children = row.summary.kind, !state.tabs.tree.isListed(path),
      state.tabs.tree.preview.value?.path != path || state.tabs.tree.preview.isStale
    else { return }
    state.tabs.tree.preview.asked = path
    state.tabs.tree.preview.isStale = false
    state.ask(.excerpt(path), for: .preview(path))
  }

  /// Takes a value that was read; nil if it could not be read.
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

  /// Notes a change of the children of a node: a shown value at it, above or below it may be out of
  /// date.
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
  /// Returns the first numbers in lines of JSON that look like times, without repetition.
  fileprivate static func moments(in lines: [Substring]) -> [Int64] {
    var moments: [Int64] = []
    for line in lines {
      guard let time = JSONLine.moment(in: String(line)), !moments.contains(time) else { continue }
      moments.append(time)
      if moments.count == momentsMax { break }
    }
    return moments
  }

  /// Returns the size of a value, and how much of it is shown, in words.
  package static func size(_ excerpt: NodeExcerpt) -> String {
    let all = ByteCount.text(excerpt.byteCount)
    if excerpt.isWhole { return all }
    let shown = ByteCount.text(textMax)
    return excerpt.isCounted ? "first \(shown) of \(all)" : "first \(shown) of more than \(all)"
  }
}

/// Formats numbers of bytes.
package enum ByteCount {
  /// Returns a text such as `147 bytes`, `64 KiB` or `3.1 MiB`.
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
