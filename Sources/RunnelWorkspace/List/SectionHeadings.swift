package import RunnelTerminal

/// The headings of the sections of a list, with what they were made from.
package struct SectionHeadings: Hashable, Sendable {
  /// The headings, by section.
  package var all: [String: ListHeading] = [:]
  /// The day of the last headings, counted from 1970; the headings say "Today".
  var day: Int?
  /// The values that the details of the headings were made from.
  package var counts: [String: ListScreen.SectionCount] = [:]
}
