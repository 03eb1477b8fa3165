#if DEBUG
import Glibc
#endif

/// How many versions later a program of the tests is than this one: upgrades are tried with two builds.
///
/// `RUNNEL_NEWER_TABLES` says it. Each of these versions has a column more, and programs of this version
/// must not use the tables of the second. Programs that are built for use know nothing of it.
enum NewerTables {
  #if DEBUG
  static let count = getenv("RUNNEL_NEWER_TABLES").flatMap { Int(String(cString: $0)) } ?? 0
  #else
  static let count = 0
  #endif

  /// The steps to their tables from those of a version.
  static func steps(from version: Int) -> [PostgresMigration] {
    (0..<count).map { number in
      PostgresMigration(
        from: version + number, oldest: number == 0 ? version : version + number + 1,
        ["ALTER TABLE feed ADD COLUMN newer\(number) text"])
    }
  }
}
