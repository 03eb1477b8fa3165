import RunnelBase

/// What a tree cannot hold of a document as it is: whoever writes one says so.
enum UnkeptParts {
  /// Sentences, each with a blank before it, about such parts; empty if there are none.
  static func sentences(of document: UnsafeBufferPointer<UInt8>) -> String {
    [
      EmptyContainers(in: document).sentence, RoundedNumbers(in: document).sentence,
      RepeatedMembers(in: document).sentence,
    ]
    .compactMap(\.self).map { " " + $0 }.joined()
  }
}
