package import RunnelBase
import RunnelTree

/// A condition on the rows of a list, typed into the filter bar; each of its terms must hold.
///
/// ```
/// filter = { [ "-" ] ( test | words ) }      "-" in front: this must not hold
/// test   = field ":" value { "|" value }     is one of them; upper and lower case are one
///        | field "~" pattern                 a regular expression is found in it
///        | field ( ">" | ">=" | "<" | "<=" ) value
///        | "is:" state | "has:" field
/// words  = word | "\"" text "\""             found in a column or in another text of the record
/// ```
///
/// A field is a path below the record, or `$key`, `$value`. A value is a text, a number, a date
/// (`2026-08-24`, `24.8.2026`, `2026-08-24T09:30`, `09:30`, `today`, `yesterday`), or an age (`30s`,
/// `5m`, `3h`, `2d`, `1w`). A text with blanks, `|` or quotes is written in quotes.
package struct Filter: Hashable, Sendable {
  /// The text as typed.
  package let text: String
  /// The terms, all of which must hold.
  let terms: [Term]

  /// A term: a test that must hold, or must not.
  package struct Term: Hashable, Sendable {
    var isNegated: Bool
    var test: Test
    /// The range of the term in the text, in characters.
    package var range: Range<Int>
  }

  /// A test of a row.
  enum Test: Hashable, Sendable {
    /// A column of the row, or another text of the record, contains a text.
    case shows(String)
    /// A field has one of some values.
    case isOne(FieldPath, of: [FilterValue])
    /// A field contains a match of a regular expression.
    case matches(FieldPath, String)
    /// A field is less or greater than a value.
    case compares(FieldPath, Comparison, FilterValue)
    /// A field exists.
    case has(FieldPath)
    /// The row is in a state.
    case state(RowCondition)
  }

  /// A comparison of a field with a value.
  enum Comparison: String, Hashable, Sendable {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// A state of a row that is not stored.
  enum RowCondition: Hashable, Sendable {
    /// The row arrived since the list was opened.
    case new
    /// The row is marked.
    case marked
    /// A field of the row holds the user's name.
    case mine
    /// A field of the row is true.
    case field(Path)
  }

  /// Whether the filter matches every row.
  package var isEmpty: Bool { terms.isEmpty }
}

/// A value in a filter, with all that its text may stand for.
package struct FilterValue: Hashable, Sendable {
  /// The text as typed.
  package var text: String
  /// The number that the text stands for, or nil if it is none.
  package var number: JSONNumber?
  /// The moments that the text names, in milliseconds since 1970, or nil: a day, a minute, or a
  /// single moment.
  package var moments: MomentRange?
  /// The local time in which the moments are meant, and dates in texts are read.
  package var local = LocalTime.utc
}

/// A range of moments, in milliseconds since 1970, without its end; a single moment if start and
/// end are equal.
package struct MomentRange: Hashable, Sendable {
  package var start: Int64
  package var end: Int64
}

/// The reason why a text is not a valid filter.
package struct FilterError: Error, Hashable, Sendable {
  /// The range of the error in the text, in characters.
  package var range: Range<Int>
  package var message: String
}
