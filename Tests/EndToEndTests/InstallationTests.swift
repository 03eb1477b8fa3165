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
    let words = [
      "\\-\\-order\\-by", "runnel config check", "row.down", "NO_COLOR", "Commands after :",
      ":save\\-view [NAME]",
    ]
    for word in words {
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
      "share/runnel/pictures/tree.svg", "share/runnel/systemd/serve.yaml",
      "lib/systemd/system/runnel.service", "lib/systemd/system/runnel-backup.timer",
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

  // MARK: The Debian package

  private func run(
    _ command: String, _ arguments: String...
  ) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [command] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: Self.checkout)
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test func thePackageIsInstalledIntoAFolderAndRemovedAgain() throws {
    let folder = try TemporaryFolder()
    let made = try run("DEB_COMPRESSION=none", ".make/deb", Program.path(), folder.path)
    try #require(made.status == 0, "\(made.text)")
    let package = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
    let fields = try run("dpkg-deb", "--field", package, "Package", "Version", "Depends").text
    #expect(fields.contains("Package: runnel"))
    let version = try Program.run(["--version"]).output.dropLast()
    #expect(fields.contains("Version: \(version)"))
    for library in ["libc6", "libsqlite3-0", "libncursesw6"] {
      #expect(fields.contains(library), "\(fields)")
    }
    let root = folder.file("root")
    let state = root + "/var/lib/dpkg"
    for name in ["info", "updates"] {
      try FileManager.default.createDirectory(
        atPath: state + "/" + name, withIntermediateDirectories: true)
    }
    #expect(FileManager.default.createFile(atPath: state + "/status", contents: nil))
    let options = ["--root=\(root)", "--force-depends", "--force-not-root", "--force-bad-path"]
    func dpkg(_ words: String...) throws -> (status: Int32, text: String) {
      try run("dpkg", options[0], options[1], options[2], options[3], words[0], words[1])
    }
    let installed = try dpkg("--install", package)
    #expect(installed.status == 0, "\(installed.text)")
    #expect(try run(root + "/usr/bin/runnel", "--version").text == version + "\n")
    for file in [
      "share/man/man1/runnel.1.gz", "share/runnel/docs/serve.md", "share/runnel/systemd/serve.yaml",
      "lib/systemd/system/runnel.service", "share/fish/vendor_completions.d/runnel.fish",
    ] {
      #expect(FileManager.default.fileExists(atPath: root + "/usr/" + file), "\(file)")
    }
    let unit = try String(
      contentsOfFile: root + "/usr/lib/systemd/system/runnel.service", encoding: .utf8)
    #expect(unit.contains("ExecStart=/usr/bin/runnel serve --config"))
    #expect(try dpkg("--verify", "runnel").text == "")
    #expect(try dpkg("--purge", "runnel").status == 0)
    #expect(!FileManager.default.fileExists(atPath: root + "/usr/bin/runnel"))
  }

  /// The settings that the package shows are ones that a server takes.
  @Test func theExampleOfSettingsIsUnderstood() throws {
    let example = try String(
      contentsOfFile: Self.checkout + "/Resources/systemd/serve.yaml", encoding: .utf8)
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("data"), withIntermediateDirectories: true)
    let database = folder.file("data/chat.db")
    #expect(try Program.run(["set", "/a", "1", "--database", database, "--create"]).status == 0)
    let settings = try folder.write(
      example.replacing("/var/lib/runnel", with: "data"), to: "serve.yaml")
    let served = try Served(["--config", settings])
    #expect(served.lines.contains { $0.hasPrefix("  for up to ") })
    try served.program.send(SIGTERM)
    #expect(try served.program.wait() == 0)
  }
}
