import Testing

@testable import RunnelTerminal

@Suite struct ScalarAssemblerTests {
  private func scalars(_ inputs: [RawInput], with assembler: inout ScalarAssembler) -> [RawInput] {
    var rest = inputs[...]
    var result: [RawInput] = []
    while let raw = assembler.next({ rest.popFirst() }) { result.append(raw) }
    return result
  }

  private func scalars(_ bytes: [UInt8]) -> String {
    var assembler = ScalarAssembler()
    var text = ""
    for case .scalar(let scalar) in scalars(bytes.map { .byte($0) }, with: &assembler) {
      text.unicodeScalars.append(scalar)
    }
    return text
  }

  @Test func everyScalarIsAssembled() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var assembler = ScalarAssembler()
      var bytes = Array(Unicode.UTF8.encode(scalar) ?? .init())[...]
      let raw = assembler.next { bytes.popFirst().map { .byte($0) } }
      if raw != .scalar(scalar) { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  @Test(arguments: 1..<4)
  func scalarMayComeInTwoReads(cut: Int) {
    var assembler = ScalarAssembler()
    let bytes = Array("🚀".utf8).map { RawInput.byte($0) }
    #expect(scalars(Array(bytes[..<cut]), with: &assembler) == [])
    #expect(scalars(Array(bytes[cut...]), with: &assembler) == [.scalar("🚀")])
  }

  @Test func badBytesCostNothingOfWhatFollows() {
    #expect(scalars([0xFF, 0x61]) == "\u{FFFD}a")
    #expect(scalars([0xBC, 0xA2, 0x61]) == "\u{FFFD}\u{FFFD}a")
    #expect(scalars([0xE6, 0x61]) == "\u{FFFD}a")
    #expect(scalars([0xE6, 0xE6, 0xBC, 0xA2]) == "\u{FFFD}漢")
    #expect(scalars([0xED, 0xA0, 0x80]) == "\u{FFFD}")
    #expect(scalars([0xE0, 0x80, 0x80]) == "\u{FFFD}")
    #expect(scalars([0xC0, 0xC1, 0xF5]) == "\u{FFFD}\u{FFFD}\u{FFFD}")
    #expect(scalars([0xF4, 0x90, 0x80, 0x80]) == "\u{FFFD}")
  }

  @Test func keyInsideAScalarStaysAKey() {
    var assembler = ScalarAssembler()
    let key = RawInput.key(KeyStroke(.up))
    #expect(
      scalars([.byte(0xE6), key, .byte(0x61)], with: &assembler)
        == [.scalar("\u{FFFD}"), key, .scalar("a")])
  }
}
