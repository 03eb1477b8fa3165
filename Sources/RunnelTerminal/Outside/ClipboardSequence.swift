import RunnelBase

/// What a program sends to a terminal to put text into the clipboard of the machine in front of the user.
///
/// Source: xterm's control sequences, OSC 52; for what is around it inside of others, tmux(1) and screen(1).
public enum ClipboardSequence {
  /// What is between the program and the terminal.
  public enum Wrapping: Hashable, Sendable {
    /// Nothing.
    case none
    /// tmux, which passes on what is marked for it, if it is allowed to.
    case tmux
    /// GNU screen, which passes on pieces of limited length.
    case screen
  }

  /// The most bytes of text: what terminals take, in Base64, is 99,992 and the frame.
  public static let bytesMax = 74_994

  /// The most bytes of a piece that screen passes on.
  private static let pieceMax = 252

  /// The sequence for a text; nil for one that is too long.
  ///
  /// O(n) in its bytes.
  public static func bytes(for text: String, wrapping: Wrapping = .none) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count <= bytesMax else { return nil }
    let escape: UInt8 = 0x1B
    let sequence = [escape] + Array("]52;c;\(Base64.text(of: text))".utf8) + [0x07]
    switch wrapping {
    case .none: return sequence
    case .tmux:
      let doubled = sequence.flatMap { $0 == escape ? [escape, escape] : [$0] }
      return [escape] + Array("Ptmux;".utf8) + doubled + [escape, UInt8(ascii: "\\")]
    case .screen:
      return stride(from: 0, to: sequence.count, by: pieceMax).flatMap { start in
        [escape, UInt8(ascii: "P")] + sequence[start..<min(start + pieceMax, sequence.count)]
          + [escape, UInt8(ascii: "\\")]
      }
    }
  }
}
