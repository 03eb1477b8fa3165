extension EngineHost.Closing {
  /// More records were changed at once than are told one by one.
  static let tooManyChanges = EngineHost.Closing(
    text: "Too many records were changed at once to tell each: connect and read anew.")

  /// Too many bytes wait for the client.
  static let slowReader = EngineHost.Closing(code: 1008, text: "The client reads too slowly.")

  /// The server ends, or serves the database no more.
  init(_ reason: StopReason) { self.init(code: 1001, text: reason.text) }
}
