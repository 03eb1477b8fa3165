import Foundation
import Testing

/// The manual, the completions, and what `make install` copies.
@Suite struct InstallationTests {
  /// The folder of the sources, above this file.
  private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  private func make(_ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/make")
    process.arguments = ["-C", Self.checkout, "-o", "stripped"] + arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test func manualIsWhatTheProgramSaysOfItself() throws {
    let outcome = try Program.run(["generate-manual"])
    try #require(outcome.status == 0, "\(outcome.errors)")
    let manual = try String(
      contentsOfFile: Self.checkout + "/Resources/man/runnel.1", encoding: .utf8)
    #expect(outcome.output == manual, "run `make manual`")
    for word in ["\\-\\-order\\-by", "runnel config check", "row.down", "NO_COLOR"] {
      #expect(manual.contains(word), "\(word)")
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionsKnowTheCommandsAndTheirOptions(shell: String) throws {
    let outcome = try Program.run(["--generate-completion-script", shell])
    #expect(outcome.status == 0)
    for word in ["import", "doctor", "config", "theme", "order-by", "roles"] {
      #expect(outcome.output.contains(word), "\(word)")
    }
    #expect(!outcome.output.contains("generate-demo"))
  }

  @Test func installedFilesAreRemovedAgain() throws {
    let folder = try TemporaryFolder()
    let prefix = folder.file("usr")
    let program = "PROGRAM=\(try Program.path())"
    #expect(try make("install", program, "PREFIX=\(prefix)") == 0)
    let installed = try #require(FileManager.default.subpaths(atPath: prefix))
    for file in [
      "bin/runnel", "share/man/man1/runnel.1", "share/runnel/demo/demo.json",
      "share/runnel/demo/demo.texts.json", "share/runnel/docs/tour.md",
      "share/runnel/pictures/tree.svg",
      "share/bash-completion/completions/runnel", "share/zsh/site-functions/_runnel",
      "share/fish/vendor_completions.d/runnel.fish",
    ] {
      #expect(installed.contains(file), "\(file)")
      let size = try FileManager.default.attributesOfItem(atPath: prefix + "/" + file)[.size]
      #expect((size as? Int ?? 0) > 0, "\(file)")
    }
    #expect(try make("uninstall", "PREFIX=\(prefix)") == 0)
    let left = (FileManager.default.subpaths(atPath: prefix) ?? []).filter { $0.contains("runnel") }
    #expect(left == [])
  }
}
