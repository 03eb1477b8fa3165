/// Damage: stored content that the program never writes.
package struct Damage: Error {
  /// The damage, as a clause: `a stored key is none`.
  package var what: String
  /// The place; nil if it is not known, or not known yet.
  package var place: Place?

  /// The place of damage.
  package enum Place {
    case row(RowID)
    case split(Int64)
    /// A place in the tree, or a table, in words.
    case words(String)
  }

  package init(_ what: String, at place: Place? = nil) {
    self.what = what
    self.place = place
  }

  /// Runs `body`; damage without a place gets this one.
  package static func locating<Result>(
    _ place: @autoclosure () -> Place, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch var damage as Damage where damage.place == nil {
      damage.place = place()
      throw damage
    }
  }

  package static var checksum: Damage {
    Damage("its checksum does not match what is stored")
  }

  package static func count(_ told: Int, _ found: Int, of split: Int64) -> Damage {
    Damage("it says that it has \(told) children, and \(found) are stored", at: .split(split))
  }
}
