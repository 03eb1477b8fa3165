package import RunnelBase
import RunnelTree

/// A condition on the rows of a list, as it is typed into the filter bar: each of its terms must hold.
///
/// ```
/// filter = { [ "-" ] ( test | words ) }      "-" in front: this must not hold
/// test   = field ":" value { "|" value }     is one of them; upper and lower case are one
///        | field "~" pattern                 a regular expression is found in it
///        | field ( ">" | ">=" | "<" | "<=" ) value
///        | "is:" state | "has:" field
/// words  = word | "\"" text "\""             found in what the row shows
/// ```
///
/// A field is a path below the record, or `$key`, `$value`. A value is a text, a number, a date
/// (`2026-08-24`, `2026-08-24T09:30`, `09:30`, `today`, `yesterday`), or how long ago (`30s`, `5m`,
/// `3h`, `2d`, `1w`). What must be said with blanks, `|` or quotes stands in quotes.
package struct Filter: Hashable, Sendable {
  /// What was typed.
  package let text: String
  /// What must hold.
  let terms: [Term]

  /// One thing that must hold, or must not.
  package struct Term: Hashable, Sendable {
    var isNegated: Bool
    var test: Test
    /// Where in the text it stands, in characters.
    package var range: Range<Int>
  }

  /// What may hold of a row.
  enum Test: Hashable, Sendable {
    /// What the row shows contains a text.
    case shows(String)
    /// A field has one of these values.
    case isOne(FieldPath, of: [FilterValue])
    /// A regular expression is found in a field.
    case matches(FieldPath, String)
    /// A field compares so with a value.
    case compares(FieldPath, Comparison, FilterValue)
    /// Something stands at a field.
    case has(FieldPath)
    /// The row is in a state.
    case state(RowCondition)
  }

  /// How a field compares with a value.
  enum Comparison: String, Hashable, Sendable {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// A state that a row may be in, beyond what is stored.
  enum RowCondition: Hashable, Sendable {
    /// It arrived since the list was opened.
    case new
    /// It is marked.
    case marked
    /// A field of it holds the user's name.
    case mine
    /// A field is true.
    case field(Path)
  }

  /// True if every row is wanted.
  package var isEmpty: Bool { terms.isEmpty }
}

/// What a text of a filter may stand for.
package struct FilterValue: Hashable, Sendable {
  /// As it was typed.
  package var text: String
  /// The number that it is, if it is one.
  package var number: JSONNumber?
  /// The moments that it names, in milliseconds since 1970, if it names any: a day, a minute, or from
  /// a moment to itself.
  package var moments: MomentRange?
}

/// From a moment up to, but not including, another; a moment alone if both are one.
package struct MomentRange: Hashable, Sendable {
  package var start: Int64
  package var end: Int64
}

/// The reason why a text is no filter.
package struct FilterError: Error, Hashable, Sendable {
  /// Where in the text, in characters.
  package var range: Range<Int>
  package var message: String
}
