import Foundation
import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

/// What a database knows of the data file that it was made of.
@Suite struct DataFileNoteTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func mark(_ text: String) -> FileMark {
    Array(text.utf8).withUnsafeBytes { FileMark($0) }
  }

  @Test(arguments: ["", "a", "Ann,4\n", String(repeating: "long,", count: 100)])
  func markTellsTheContentOfAFile(text: String) throws {
    let file = NSTemporaryDirectory() + "runnel-mark-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let mark = try #require(FileMark(of: file))
    #expect(mark == Self.mark(text))
    #expect(mark != Self.mark(text + "x"))
    #expect(FileMark(text: mark.text) == mark)
    #expect(mark.byteCount == text.utf8.count)
  }

  @Test func fileThatIsNotThereHasNoMark() {
    #expect(FileMark(of: NSTemporaryDirectory() + UUID().uuidString) == nil)
    #expect(FileMark(of: NSTemporaryDirectory()) == nil, "a folder is no file")
  }

  @Test(arguments: ["", "5", "x 1", "-1 a", "5 q", "5 a 1"])
  func otherTextIsNoMark(text: String) { #expect(FileMark(text: text) == nil) }

  @Test func noteOutlivesTheSessionAndIsNoWrite() throws {
    let session = try folder.session()
    _ = try session.write(.set(.root, ["a": 1]))
    #expect(try session.dataFileNote() == nil)
    var note = DataFileNote(known: Self.mark("one"))
    try session.keep(note)
    #expect(try session.dataFileNote() == note)
    note.declined = Self.mark("two")
    note.rows = "numbers"
    try session.keep(note)
    #expect(try session.history(count: 9).count == 1)
    try session.close()
    let again = try folder.session()
    #expect(try again.dataFileNote() == note)
    try again.keep(DataFileNote(known: Self.mark("two")))
    #expect(try again.dataFileNote() == DataFileNote(known: Self.mark("two")))
    try again.close()
  }

  @Test func newsIsWhatWasNeitherReadNorDeclined() {
    let (one, two, three) = (Self.mark("one"), Self.mark("two"), Self.mark("three"))
    let note = DataFileNote(known: one, declined: two)
    #expect([one, two, three].map(note.isNews) == [false, false, true])
    #expect([one, two, three].map(note.isOfOthers) == [false, true, true])
    #expect(!DataFileNote(known: nil).isOfOthers(one), "nothing is known")
    #expect(DataFileNote(known: nil, declined: two).isOfOthers(two))
  }
}
