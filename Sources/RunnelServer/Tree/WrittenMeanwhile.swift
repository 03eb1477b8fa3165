import RunnelTree

/// The places that were written while a window was read elsewhere.
///
/// Isolation: a value of the tree's thread.
struct WrittenMeanwhile {
  /// The most places that are remembered; if there are more, everything counts as written.
  static let countMax = 10_000

  /// The place of the window.
  let place: Path
  private var written: Set<Path> = []

  init(_ place: Path) { self.place = place }

  /// The written places that concern the window.
  var places: [Path] { Array(written) }

  /// Notes that a place was written.
  mutating func note(_ path: Path) {
    guard !written.contains(place), path.contains(place) || place.contains(path) else { return }
    if path.contains(place) || written.count >= WrittenMeanwhile.countMax {
      written = [place]
    } else {
      written.insert(path)
    }
  }
}
