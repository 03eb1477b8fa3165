// swift-tools-version: 6.2
import PackageDescription

// A package that uses the library, as yours may: `swift run --package-path Tests/Samples first-hour FILE`.
// The same programs are built and run with the tests of the library.
let package = Package(
  name: "samples",
  dependencies: [
    .package(name: "runnel", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "first-hour", dependencies: [.product(name: "Runnel", package: "runnel")],
      path: "FirstHour"),
    .executableTarget(
      name: "first-hour-grdb", dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      path: "FirstHourGRDB"),
    .executableTarget(
      name: "presence", dependencies: [.product(name: "Runnel", package: "runnel")],
      path: "Presence"),
  ]
)
