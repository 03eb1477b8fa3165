import Foundation
import Testing

/// Files that are read and saved while the workspace is open.
extension TerminalTests {
  @Suite struct FilesTests {
    @Test func importIsReadBesideTheLoop() throws {
      let database = try TestDatabase(#"{"user": {"ana": {"name": "Ana"}, "bo": {"name": "Bo"}}}"#)
      let rows = (0..<20_000).map { #"{"$key":"u\#($0)","name":"User number \#($0)"}"# + "\n" }
      let file = try database.folder.write(rows.joined(), to: "users.jsonl")
      let terminal = try TmuxTerminal()
      try terminal.runnel(["-d", database.file])
      try terminal.wait(for: "row 1 of 2")
      try terminal.keys("yi")
      try terminal.wait(for: "16 MB at most")
      try terminal.type(file)
      try terminal.keys("Enter")
      try terminal.wait(for: "Import 20000 records")
      try terminal.keys("n")
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }

    @Test func savedViewsFileIsTakenOver() throws {
      let database = try TestDatabase(#"{"user": {"ana": {"name": "Ana"}, "bo": {"name": "Bo"}}}"#)
      let terminal = try TmuxTerminal()
      try terminal.runnel(["-d", database.file])
      try terminal.wait(for: "row 1 of 2")
      _ = try database.folder.write("views: [{ nme: A }]\n", to: "test.views.yaml")
      try terminal.wait(for: "test.views.yaml:1")
      _ = try database.folder.write(
        "views: [{ name: user, path: /user, columns: [{ field: name }] }]\n", to: "test.views.yaml")
      try terminal.wait(for: "test.views.yaml was read again")
      // The view that was found shows the key, too.
      try terminal.wait("the columns of the file") { screen in
        screen.lines.contains { $0.split(separator: " ") == ["Bo"] }
      }
      try terminal.keys("q")
      try terminal.wait(for: TmuxTerminal.prompt)
    }
  }
}
