import ArgumentParser
import RunnelBase

/// The layout of a printed document.
struct LayoutOptions: ParsableArguments {
  @Flag(help: "Lay the JSON out for people, a member a line.")
  var pretty = false

  /// The layout.
  var layout: JSONWriter.Layout { pretty ? .pretty : .compact }
}
