/// Where the filter of a list on a server's services runs.
package enum FilterPlace: String, Hashable, Sendable {
  /// The server finds what fits.
  case server
  /// The server finds what fits one part of the filter, and the other part is looked at here.
  case both
  /// The loaded rows are looked at here.
  case here
}
