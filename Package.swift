// swift-tools-version: 6.2
import PackageDescription

/// Applied to every Swift target: the language mode is 6, a warning is an error, and an import is
/// internal unless a public signature needs it.
let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Applied to targets whose size counts for more than their speed.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

let cSettings: [CSetting] = [
  .define("_GNU_SOURCE"),
  .treatAllWarnings(as: .error),
]

// Imports point down only: see Sources/README.md. A test reads this file and the sources, and
// fails on an import that the layers forbid.
let package = Package(
  name: "runnel",
  products: [
    .library(name: "Runnel", targets: ["Runnel"]),
    .library(name: "RunnelBase", targets: ["RunnelBase"]),
    .library(name: "RunnelTree", targets: ["RunnelTree"]),
    .library(name: "RunnelStreams", targets: ["RunnelStreams"]),
    .library(name: "RunnelStore", targets: ["RunnelStore"]),
    .library(name: "RunnelSync", targets: ["RunnelSync"]),
    .library(name: "RunnelClient", targets: ["RunnelClient"]),
    .library(name: "RunnelAccounts", targets: ["RunnelAccounts"]),
    .library(name: "RunnelDevices", targets: ["RunnelDevices"]),
    .library(name: "RunnelDatabase", targets: ["RunnelDatabase"]),
    .library(
      name: "RunnelServices",
      targets: ["RunnelServices", "RunnelServicesNetwork", "RunnelServicesTree"]),
    .library(name: "RunnelTerminal", targets: ["RunnelTerminal"]),
    .executable(name: "runnel", targets: ["RunnelCommand"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // 0: C shims. CPlatform holds what Swift's Glibc module omits; CTerminal alone links curses;
    // CStorage calls of SQLite what Swift cannot; CPostgres loads PostgreSQL's client library.
    .target(name: "CPlatform", cSettings: cSettings),
    .target(name: "CPostgres", cSettings: cSettings),
    .target(
      name: "CTerminal",
      cSettings: cSettings,
      linkerSettings: [.linkedLibrary("ncursesw"), .linkedLibrary("tinfo")]),
    .target(
      name: "CStorage", cSettings: cSettings, linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "RunnelBase", swiftSettings: swiftSettings),
    // 1: pure.
    .target(
      name: "RunnelTree",
      dependencies: [
        "RunnelBase",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "RunnelStreams",
      dependencies: [
        "RunnelBase", "RunnelTree",
        .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "RunnelStore", dependencies: ["RunnelBase", "RunnelTree"],
      swiftSettings: swiftSettings + small),
    .target(
      name: "RunnelStorage", dependencies: ["RunnelBase", "RunnelTree"],
      swiftSettings: swiftSettings),
    .target(
      name: "RunnelDemo", dependencies: ["RunnelBase"], swiftSettings: swiftSettings + small),
    .target(
      name: "RunnelSync", dependencies: ["RunnelBase", "RunnelTree"],
      swiftSettings: swiftSettings + small),
    // 1: services and their wire, without sockets.
    .target(
      name: "RunnelServices", dependencies: ["RunnelBase"], swiftSettings: swiftSettings + small),
    .target(
      name: "RunnelIdentity",
      dependencies: ["RunnelBase", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: swiftSettings + small),
    // 2: the open database.
    .target(
      name: "RunnelDatabase",
      dependencies: [
        "CPlatform", "CStorage", "RunnelBase", "RunnelStorage", "RunnelStore", "RunnelStreams",
        "RunnelTree",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["FORMAT.md"], swiftSettings: swiftSettings + small),
    // 2: the same rows in PostgreSQL, for several servers.
    .target(
      name: "RunnelPostgres",
      dependencies: ["CPostgres", "RunnelBase", "RunnelStorage", "RunnelTree"],
      swiftSettings: swiftSettings + small),
    // 3: services whose records are in a tree.
    .target(
      name: "RunnelServicesTree",
      dependencies: ["RunnelBase", "RunnelDatabase", "RunnelServices", "RunnelTree"],
      swiftSettings: swiftSettings + small),
    // 3: what `import Runnel` gives: all that a program on a database of its own needs.
    .target(
      name: "Runnel",
      dependencies: ["RunnelBase", "RunnelDatabase", "RunnelStore", "RunnelStreams", "RunnelTree"],
      swiftSettings: swiftSettings),
    // 4: the terminal.
    .target(
      name: "RunnelTerminal", dependencies: ["CPlatform", "CTerminal", "RunnelBase"],
      swiftSettings: swiftSettings),
    // 4: the only place for sockets.
    .target(
      name: "RunnelNetwork",
      dependencies: [
        "CPlatform", "RunnelBase",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOExtras", package: "swift-nio-extras"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      swiftSettings: swiftSettings + small),
    // 5: replicas of servers' databases, for programs.
    .target(
      name: "RunnelClient",
      dependencies: [
        "Runnel", "RunnelBase", "RunnelDatabase", "RunnelNetwork", "RunnelSync", "RunnelTree",
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      swiftSettings: swiftSettings + small),
    // 5: services of other hosts, over REST and Socket.IO.
    .target(
      name: "RunnelServicesNetwork",
      dependencies: ["RunnelBase", "RunnelNetwork", "RunnelServices"],
      swiftSettings: swiftSettings + small),
    // 5: who is signed in, and on which devices.
    .target(
      name: "RunnelAccounts",
      dependencies: [
        "RunnelBase", "RunnelClient", "RunnelDatabase", "RunnelNetwork", "RunnelServices",
        "RunnelServicesNetwork", "RunnelStore", "RunnelSync", "RunnelTree",
      ],
      swiftSettings: swiftSettings + small),
    .target(
      name: "RunnelDevices",
      dependencies: [
        "RunnelAccounts", "RunnelBase", "RunnelClient", "RunnelDatabase", "RunnelNetwork",
        "RunnelStore", "RunnelTree",
      ],
      swiftSettings: swiftSettings + small),
    // 5: what `runnel serve` runs.
    .target(
      name: "RunnelServer",
      dependencies: [
        "CPlatform", "RunnelBase", "RunnelDatabase", "RunnelIdentity", "RunnelNetwork",
        "RunnelPostgres", "RunnelServices",
        "RunnelSync", "RunnelTree",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: swiftSettings + small),
    // 5: the workspace, pure: its components, their commands and how they are drawn.
    .target(
      name: "RunnelWorkspace",
      dependencies: [
        "RunnelBase", "RunnelServices", "RunnelTree", "RunnelStreams", "RunnelStore",
        "RunnelTerminal",
      ],
      swiftSettings: swiftSettings + small),
    // 6: the application: what the workspace asks of the world.
    .target(
      name: "RunnelApp",
      dependencies: [
        "RunnelAccounts", "RunnelBase", "RunnelClient", "RunnelDevices", "RunnelTree",
        "RunnelStreams", "RunnelServices", "RunnelServicesNetwork", "RunnelServicesTree",
        "RunnelStore", "RunnelDatabase", "RunnelNetwork", "RunnelSync", "RunnelTerminal",
        "RunnelWorkspace",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Yams", package: "Yams"),
      ],
      swiftSettings: swiftSettings + small),
    // 7: main and the commands.
    .executableTarget(
      name: "RunnelCommand",
      dependencies: [
        "CPlatform", "RunnelAccounts", "RunnelApp", "RunnelBase", "RunnelClient", "RunnelDatabase",
        "RunnelDemo", "RunnelDevices", "RunnelNetwork", "RunnelPostgres", "RunnelServer",
        "RunnelServices",
        "RunnelServicesNetwork", "RunnelServicesTree", "RunnelStorage", "RunnelStore",
        "RunnelStreams", "RunnelSync", "RunnelTerminal", "RunnelTree", "RunnelWorkspace",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings + small,
      // The linker of the toolchain takes a third of the time, and makes a smaller program.
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    // What `make bench` runs. It is no product.
    .executableTarget(
      name: "runnel-bench",
      dependencies: [
        "CPlatform", "RunnelApp", "RunnelBase", "RunnelClient", "RunnelDatabase", "RunnelDemo",
        "RunnelIdentity", "PostgresCluster", "RunnelPostgres", "RunnelServer", "RunnelServices",
        "RunnelServicesNetwork", "RunnelServicesTree",
        "RunnelStore", "RunnelStreams", "RunnelSync", "RunnelTree", "RunnelWorkspace",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Tests/Benchmarks", swiftSettings: swiftSettings,
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    // Programs that use the library as a package of one's own does: see Tests/Samples/Package.swift.
    .executableTarget(
      name: "sample-first-hour", dependencies: ["Runnel"], path: "Tests/Samples/FirstHour",
      packageAccess: false, swiftSettings: swiftSettings),
    .executableTarget(
      name: "sample-first-hour-grdb",
      dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      path: "Tests/Samples/FirstHourGRDB", swiftSettings: swiftSettings),
    .executableTarget(
      name: "sample-presence", dependencies: ["Runnel"], path: "Tests/Samples/Presence",
      packageAccess: false, swiftSettings: swiftSettings),
    // A file system of SQLite that fails when told to; for tests only.
    .target(name: "CFaults", path: "Tests/CFaults", cSettings: cSettings),
    // What several test targets use.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swiftSettings),
    // A cluster of PostgreSQL of the tests' own, and the comparison of what CPostgres declares.
    .target(name: "CPostgresHeader", path: "Tests/CPostgresHeader", cSettings: cSettings),
    .target(name: "PostgresCluster", path: "Tests/PostgresCluster", swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelBaseTests", dependencies: ["RunnelBase"], swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelTreeTests", dependencies: ["RunnelTree", "RunnelBase", "TestSupport"],
      exclude: ["Scenarios"], swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelStreamsTests",
      dependencies: ["RunnelStreams", "RunnelTree", "RunnelBase", "TestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelStoreTests",
      dependencies: ["RunnelBase", "RunnelStore", "RunnelTree", "TestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelTests",
      dependencies: [
        "Runnel", "RunnelBase", "RunnelDatabase", "RunnelStore", "RunnelStreams", "RunnelTree",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      // Examples for users are compiled without access to package symbols.
      packageAccess: false, swiftSettings: swiftSettings),
    .testTarget(
      name: "MainActorTests", dependencies: ["Runnel"], packageAccess: false,
      swiftSettings: swiftSettings + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "RunnelDemoTests", dependencies: ["RunnelBase", "RunnelDemo"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelSyncTests",
      dependencies: ["RunnelBase", "RunnelSync", "RunnelTree", "TestSupport"],
      exclude: ["Fixtures"], swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelServicesTests",
      dependencies: [
        "RunnelBase", "RunnelDatabase", "RunnelServices", "RunnelServicesTree", "RunnelTree",
        "TestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelIdentityTests", dependencies: ["RunnelBase", "RunnelIdentity"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelDatabaseTests",
      dependencies: [
        "CFaults", "CPlatform", "PostgresCluster", "RunnelDatabase", "RunnelPostgres",
        "RunnelStorage", "RunnelStore", "RunnelStreams", "RunnelTree",
        "RunnelBase", "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["Fixtures"], swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelPostgresTests",
      dependencies: [
        "CPostgresHeader", "PostgresCluster", "RunnelBase", "RunnelPostgres", "RunnelStorage",
        "RunnelTree", "TestSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelServerTests",
      dependencies: [
        "CFaults", "PostgresCluster", "RunnelBase", "RunnelClient", "RunnelDatabase",
        "RunnelIdentity", "RunnelNetwork", "RunnelPostgres", "RunnelServer", "RunnelServices",
        "RunnelSync", "RunnelTree",
        "TestSupport",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    // An account service in memory, and a clock that tests move.
    .target(
      name: "AccountSimulation",
      dependencies: [
        "RunnelAccounts", "RunnelBase", "RunnelNetwork",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/AccountSimulation", swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelAccountsTests",
      dependencies: [
        "AccountSimulation", "RunnelAccounts", "RunnelBase", "RunnelClient", "RunnelDatabase",
        "RunnelNetwork",
        "RunnelServer", "RunnelServices", "RunnelServicesNetwork", "RunnelStore", "RunnelSync",
        "RunnelTree", "TestSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelDevicesTests",
      dependencies: [
        "AccountSimulation", "RunnelAccounts", "RunnelBase", "RunnelClient", "RunnelDatabase",
        "RunnelDevices",
        "RunnelNetwork", "RunnelServer", "RunnelStore", "RunnelSync", "RunnelTree", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelTerminalTests",
      dependencies: ["CPlatform", "CTerminal", "RunnelBase", "RunnelTerminal"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RunnelAppTests",
      dependencies: [
        "AccountSimulation", "RunnelAccounts", "RunnelApp", "RunnelDevices", "RunnelTerminal",
        "RunnelDatabase", "RunnelDemo", "RunnelStore", "RunnelStreams", "RunnelTree", "RunnelBase",
        "RunnelWorkspace",
        "TestSupport",
      ],
      exclude: ["Scenarios", "Screens"], swiftSettings: swiftSettings),
    // Clients, servers and a bad network in one thread, and the program that runs many of them.
    .target(
      name: "WireSimulation",
      dependencies: ["RunnelBase", "RunnelPostgres", "RunnelSync", "RunnelTree"],
      path: "Tests/WireSimulation", swiftSettings: swiftSettings),
    .executableTarget(
      name: "runnel-simulate", dependencies: ["WireSimulation"], path: "Tests/Simulate",
      swiftSettings: swiftSettings,
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "RunnelBase", "RunnelDatabase", "RunnelPostgres", "RunnelSync", "RunnelTree", "TestSupport",
        "WireSimulation",
      ],
      path: "Tests/Simulation", swiftSettings: swiftSettings),
    .testTarget(
      name: "TidyTests", exclude: ["public-symbols.txt"], swiftSettings: swiftSettings),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "AccountSimulation", "PostgresCluster", "RunnelBase", "RunnelDatabase", "RunnelNetwork",
        "RunnelServices",
        "RunnelServicesNetwork", "RunnelStreams", "RunnelTree", "TestSupport",
        "RunnelCommand", "sample-first-hour", "sample-first-hour-grdb", "sample-presence",
      ],
      swiftSettings: swiftSettings),
  ]
)
