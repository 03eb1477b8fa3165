import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct EditOutsideTests {
  private func people(isReadOnly: Bool = false) throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, isReadOnly: isReadOnly)
    app.press("g2 gg j")
    return app
  }

  private func replacing(
    _ old: String, _ new: String
  ) -> (String) -> (text: String, status: Int32) {
    { ($0.replacingOccurrences(of: old, with: new), 0) }
  }

  @Test func onlyWhatIsDifferentIsWritten() throws {
    let app = try people()
    app.editor = { text in
      // Another process writes while the editor is open.
      try? app.elsewhere { _ = try $0.write(.set(try Path("/user/ana/name"), "Anna")) }
      return (text.replacingOccurrences(of: "\"plot\": 3", with: "\"plot\": 4"), 0)
    }
    app.press("E")
    #expect(app.toast == "saved")
    #expect(try app.stored("/user/ana/plot") == 4)
    #expect(try app.stored("/user/ana/name") == "Anna")
  }

  @Test func editedTextAddsAndRemovesFields() throws {
    let app = try people()
    app.editor = replacing("\"plot\": 3", "\"tags\": {\"a\": true}")
    app.press("E")
    #expect(try app.stored("/user/ana/plot") == .null)
    #expect(try app.stored("/user/ana/tags/a") == true)
    #expect(try app.stored("/user/ana/name") == "Ana")
  }

  @Test func untouchedTextWritesNothing() throws {
    let app = try people()
    app.press("E")
    #expect(app.toast == "nothing was changed")
    app.editor = { ($0 + "\n\n", 0) }
    app.press("E")
    #expect(app.toast == "nothing was changed")
    #expect(app.backend.writeCount == 0)
  }

  @Test func textThatIsNoJSONIsShownAgainWithTheReason() throws {
    let app = try people()
    var round = 0
    app.editor = { text in
      round += 1
      return (round == 1 ? "{\"plot\": }" : "{\"plot\": 5}", 0)
    }
    app.press("E")
    #expect(app.editorContents.count == 2)
    #expect(app.editorContents[1].hasPrefix("#! "))
    #expect(app.editorContents[1].hasSuffix("{\"plot\": }"))
    #expect(try app.stored("/user/ana") == ["plot": 5])
  }

  @Test func refusedWriteOpensTheEditorOnTheText() throws {
    let app = try people()
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    app.editor = replacing("\"plot\": 3", "\"plot\": 4")
    app.press("E")
    #expect(app.editorContents.count == 2)
    #expect(app.editorContents[1].hasPrefix("#! "))
    #expect(app.editorContents[1].contains("the file is locked"))
    #expect(app.editorContents[1].contains("\"plot\": 4"))
    #expect(app.toast.contains("your text is in /tmp/edit.json"))
    #expect(try app.stored("/user/ana/plot") == 3)
  }

  @Test func emptiedRecordIsNotDeleted() throws {
    let app = try people()
    app.editor = { _ in ("{}", 0) }
    app.press("E")
    #expect(app.toast.contains("nothing would be left of /user/ana: delete it instead"))
    #expect(try app.stored("/user/ana/name") == "Ana")
  }

  @Test func readOnlyDatabaseIsNotEdited() throws {
    let app = try people(isReadOnly: true)
    app.press("E")
    #expect(app.editorContents == [])
    #expect(app.toast.contains("read-only"))
  }

  @Test func recordOfAResourceIsWrittenByItsOperation() throws {
    let app = try Fixture.gardenApp(isRecording: true)
    app.go(to: "Rain")
    app.editor = replacing("\"Rain\"", "\"Snow\"")
    app.press("E")
    #expect(try app.stored("/group_message/g/-M1/text") == "Snow")
    #expect(try app.log().last?.kind == .update)
    #expect(try app.report().isInStep)
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.state == app.state)
  }

  @Test func countedFieldIsNotEdited() throws {
    let app = try Fixture.gardenApp()
    app.go(to: "Rain")
    app.editor = replacing("\"like_count\": 1", "\"like_count\": 9")
    app.press("E")
    #expect(app.toast.contains("counted from other records"))
    #expect(try app.stored("/group_message/g/-M1/like_count") == 1)
  }

  @Test func fieldThatTheSchemaRefusesIsGivenBack() throws {
    let app = try Fixture.gardenApp()
    app.go(to: "Rain")
    app.editor = replacing("\"Rain\"", "7")
    app.press("E")
    #expect(app.editorContents.count == 2)
    #expect(app.editorContents[1].contains("text"))
    #expect(try app.stored("/group_message/g/-M1/text") == "Rain")
  }

  @Test func nodeOfTheTreeIsEditedAsItIs() throws {
    let app = try people()
    app.press("g3 gg j l j")
    app.editor = replacing("\"ana\"", "\"eve\"")
    app.press("E")
    #expect(try app.stored("/room/-M1/from") == "eve")
    app.press("gg E")
    #expect(app.toast == "move to a record to edit it")
  }
}
