import ArgumentParser
import RunnelBase

/// How a printed document is laid out.
struct LayoutOptions: ParsableArguments {
  @Flag(help: "Lay the JSON out for people, a member a line.")
  var pretty = false

  /// The layout.
  var layout: JSONWriter.Layout { pretty ? .pretty : .compact }
}
