import RunnelBase

/// The control sequence with which a terminal puts text into the clipboard of the machine that it
/// runs on.
///
/// Source: xterm's control sequences, OSC 52; for the form inside of other programs, tmux(1) and
/// screen(1).
package enum ClipboardSequence {
  /// The program between this one and the terminal.
  package enum Wrapping: Hashable, Sendable {
    /// Nothing.
    case none
    /// tmux, which passes on marked sequences if its options allow it.
    case tmux
    /// GNU screen, which passes on pieces of limited length.
    case screen
  }

  /// The greatest size of a text in bytes: in Base64 it makes the 99,992 bytes that terminals
  /// accept.
  package static let bytesMax = 74_994

  /// The greatest size of a piece that screen passes on, in bytes.
  private static let pieceMax = 252

  /// The sequence for a text; nil if the text is too long.
  ///
  /// O(n) in its bytes.
  package static func bytes(for text: String, wrapping: Wrapping = .none) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count <= bytesMax else { return nil }
    let escape: UInt8 = 0x1B
    return wrapped([escape] + Array("]52;c;\(Base64.text(of: text))".utf8) + [0x07], wrapping)
  }

  /// A sequence in the form in which the program before the terminal passes it on.
  ///
  /// O(n).
  static func wrapped(_ sequence: [UInt8], _ wrapping: Wrapping) -> [UInt8] {
    let escape: UInt8 = 0x1B
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
