import Foundation
import Testing

/// The public symbols of the library: each change is also a change of the list, which reviewers
/// see.
///
/// `make surface` writes the list.
@Suite struct SurfaceTests {
  private static let list = SourceTree.top
    .appendingPathComponent("Tests/TidyTests/public-symbols.txt")

  @Test func allProductsAreRead() throws {
    let targets = try SourceTree.libraries()
    #expect(targets.count > 12 && Set(targets).count == targets.count)
    #expect(targets.contains("RunnelServicesTree") && targets.allSatisfy { $0.hasPrefix("Runnel") })
  }

  private func found() throws -> [String] {
    try SourceTree.libraries().flatMap { target in
      try SourceTree.files(below: "Sources/" + target, extensions: ["swift"]).flatMap { file in
        PublicSymbols(file.lines, target: target).lines
      }
    }.sorted()
  }

  @Test func publicSymbolsAreThoseOfTheList() throws {
    let found = try found()
    if ProcessInfo.processInfo.environment["RUNNEL_UPDATE_SURFACE"] != nil {
      try (found.joined(separator: "\n") + "\n").write(
        to: Self.list, atomically: true, encoding: .utf8)
    }
    let listed = try String(contentsOf: Self.list, encoding: .utf8).split(separator: "\n").map(
      String.init)
    #expect(found.count > 1000, "the declarations are not found any more")
    let difference = found.difference(from: listed)
    for change in difference.prefix(20) {
      switch change {
      case .insert(_, let symbol, _): Issue.record("new: \(symbol)")
      case .remove(_, let symbol, _): Issue.record("gone: \(symbol)")
      }
    }
    #expect(difference.isEmpty, "If that is meant, write the list anew by `make surface`.")
  }

  @Test func theScanFindsPublicDeclarations() {
    let source = """
      public struct A<B>: C {
        public var x: Int { 1 }
        var y = 2
        public func f(
          _ a: Int, b: [String: Int] = [:]
        ) throws -> Int {
          let public1 = 3
        }
        public enum D {
          case e(Int)
          var g: Int { 1 }
        }
      }

      public protocol P {
        func q() -> Int
      }

      extension A.D {
        @discardableResult
        public static func make() -> Self { .e(1) }
        // public func none()
        package func none() {}
      }
      """
    #expect(
      PublicSymbols(source.components(separatedBy: "\n"), target: "T").lines == [
        "T public struct A<B>: C", "T A: public var x: Int",
        "T A: public func f(_ a: Int, b: [String: Int] = [:]) throws -> Int",
        "T A: public enum D", "T A.D: case e(Int)",
        "T public protocol P", "T P: func q() -> Int", "T A.D: public static func make() -> Self",
      ])
  }
}
