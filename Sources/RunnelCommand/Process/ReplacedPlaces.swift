import RunnelBase
import RunnelTree

/// The places where writes that waited replace what others wrote meanwhile, in words; a bounded number.
struct ReplacedPlaces {
  /// The most places that are named.
  static let placesMax = 100
  /// The most characters of what stood there.
  static let textMax = 200

  private var count = 0

  /// Returns what to say of some more places.
  mutating func lines(for conflicts: [Conflict]) -> [String] {
    var lines: [String] = []
    for conflict in conflicts {
      count += 1
      if count > ReplacedPlaces.placesMax + 1 { break }
      if count > ReplacedPlaces.placesMax {
        lines.append("Replaced: more places, which are not listed.")
        break
      }
      let text = conflict.theirs.exportJSON.jsonText()
      let max = ReplacedPlaces.textMax
      let value = text.count > max ? "\(text.prefix(max))…" : text
      lines.append("Replaced at \(conflict.path) what others wrote meanwhile: \(value)")
    }
    return lines
  }
}
