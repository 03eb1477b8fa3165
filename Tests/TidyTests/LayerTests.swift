import Testing

/// Imports point down only, and what is fenced in stays there (Sources/README.md, "Layers").
@Suite struct LayerTests {
  /// What each target may import; what is missing here may be imported by nobody.
  private static let allowed: [String: Set<String>] = [
    "RunnelBase": ["Synchronization"],
    "RunnelTree": ["RunnelBase", "Crypto", "OrderedCollections"],
    "RunnelStreams": ["RunnelBase", "RunnelTree", "OrderedCollections"],
    "RunnelStore": ["RunnelBase", "RunnelTree"],
    "RunnelStorage": ["RunnelBase", "RunnelTree"],
    "RunnelDemo": ["RunnelBase"],
    "RunnelSync": ["RunnelBase", "RunnelTree"],
    "RunnelServices": ["RunnelBase", "Synchronization"],
    "RunnelServicesTree": ["RunnelBase", "RunnelDatabase", "RunnelServices", "RunnelTree"],
    "RunnelServicesNetwork": [
      "Glibc", "RunnelBase", "RunnelNetwork", "RunnelServices", "Synchronization",
    ],
    "RunnelIdentity": ["RunnelBase", "Crypto"],
    "RunnelDatabase": [
      "CPlatform", "CStorage", "Foundation", "GRDB", "GRDBSQLite", "Glibc", "Logging",
      "RunnelBase", "RunnelStorage", "RunnelStore", "RunnelStreams", "RunnelTree",
      "Synchronization",
    ],
    "RunnelPostgres": [
      "CPostgres", "Glibc", "RunnelBase", "RunnelStorage", "RunnelTree", "Synchronization",
    ],
    "Runnel": ["RunnelBase", "RunnelDatabase", "RunnelStore", "RunnelStreams", "RunnelTree"],
    "RunnelTerminal": ["CPlatform", "CTerminal", "Glibc", "RunnelBase", "Synchronization"],
    "RunnelNetwork": [
      "CPlatform", "Glibc", "HTTPTypes", "NIOCore", "NIOExtras", "NIOHTTP1", "NIOHTTPCompression",
      "NIOHTTPTypesHTTP1",
      "NIOPosix", "NIOSSL", "NIOTLS", "NIOWebSocket", "RunnelBase", "Synchronization",
    ],
    "RunnelClient": [
      "CryptoExtras", "Foundation", "Glibc", "Runnel", "RunnelBase", "RunnelDatabase",
      "RunnelNetwork",
      "RunnelSync", "RunnelTree", "Synchronization",
    ],
    "RunnelAccounts": [
      "Glibc", "RunnelBase", "RunnelClient", "RunnelDatabase", "RunnelNetwork", "RunnelServices",
      "RunnelServicesNetwork", "RunnelStore", "RunnelSync", "RunnelTree", "Synchronization",
    ],
    "RunnelDevices": [
      "Glibc", "RunnelAccounts", "RunnelBase", "RunnelClient", "RunnelDatabase", "RunnelNetwork",
      "RunnelStore", "RunnelTree", "Synchronization",
    ],
    "RunnelServer": [
      "CPlatform", "CoreMetrics", "Crypto", "CryptoExtras", "Glibc", "HTTPTypes", "Logging",
      "RunnelBase", "RunnelDatabase", "RunnelIdentity", "RunnelNetwork", "RunnelPostgres",
      "RunnelServices",
      "RunnelSync", "RunnelTree", "ServiceLifecycle", "Synchronization", "UnixSignals",
    ],
    "RunnelWorkspace": [
      "RunnelBase", "RunnelServices", "RunnelStore", "RunnelStreams", "RunnelTerminal",
      "RunnelTree",
    ],
    "RunnelApp": [
      "CYaml", "Foundation", "Glibc", "Logging", "RunnelAccounts", "RunnelBase", "RunnelClient",
      "RunnelDatabase", "RunnelDevices", "RunnelNetwork", "RunnelServices",
      "RunnelServicesNetwork", "RunnelServicesTree", "RunnelStore", "RunnelStreams", "RunnelSync",
      "RunnelTerminal", "RunnelTree", "RunnelWorkspace", "Synchronization", "Yams",
    ],
    "RunnelCommand": [
      "ArgumentParser", "CPlatform", "Foundation", "Glibc", "Logging", "RunnelAccounts",
      "RunnelApp", "RunnelBase",
      "RunnelClient", "RunnelDatabase", "RunnelDemo", "RunnelDevices", "RunnelNetwork",
      "RunnelPostgres", "RunnelServer", "RunnelServices", "RunnelServicesNetwork",
      "RunnelServicesTree",
      "RunnelStorage", "RunnelStore",
      "RunnelStreams",
      "RunnelSync",
      "RunnelTerminal", "RunnelTree", "RunnelWorkspace", "Synchronization",
    ],
  ]

  @Test func everyImportIsAllowed() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"]) {
      let allowed = try #require(LayerTests.allowed[file.target], "unknown target of \(file.path)")
      for module in file.imports {
        #expect(allowed.contains(module), "\(file.path) imports \(module)")
      }
    }
  }

  @Test func onlyTheSQLiteFolderKnowsGRDB() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"])
    where file.imports.contains(where: { $0.hasPrefix("GRDB") || $0 == "CStorage" }) {
      let isFenced =
        file.path.hasPrefix("Sources/RunnelDatabase/SQLite/")
        || file.path == "Sources/RunnelDatabase/DatabaseError.swift"
      #expect(isFenced, "\(file.path) knows GRDB")
    }
  }

  /// Its pool of threads wakes up once a second for as long as the program runs.
  @Test func nothingUsesDispatch() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"]) {
      #expect(!file.imports.contains("Dispatch"), "\(file.path)")
      // Foundation brings it along where nobody asks for it by name.
      for (number, line) in file.lines.enumerated() {
        let isUse = line.contains("DispatchQueue") || line.contains("DispatchSource")
        #expect(!isUse, "\(file.path):\(number + 1)")
      }
    }
  }

  @Test func onlyOneFileUsesPrivateNamesOfTheStandardLibrary() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"])
    where file.lines.contains(where: { $0.hasPrefix("@_spi") }) {
      #expect(file.path == "Sources/RunnelBase/CanonicalSpelling.swift")
    }
  }

  @Test func onlyTheShimIncludesCurses() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["c", "h"])
    where file.lines.contains(where: { $0.contains("<curses.h>") }) {
      #expect(file.path.hasPrefix("Sources/CTerminal/"))
      #expect(!file.path.contains("/include/"), "a public header would hand curses on to Swift")
    }
  }

  @Test func onlyTheCursesFolderCallsTheTerminal() throws {
    for file in try SourceTree.files(below: "Sources", extensions: ["swift"])
    where file.imports.contains("CTerminal") {
      #expect(file.path.hasPrefix("Sources/RunnelTerminal/Curses/"))
    }
  }
}
