import CStorage

/// Keeps the process alive when another program cuts off the index of a log that is in use.
///
/// SQLite maps the index into memory, where an access to what is gone ends the process by SIGBUS. With the
/// guard, SQLite makes the index anew in this process alone, and the loss is found before a write is
/// committed. It costs nothing while nothing is lost.
package enum IndexGuard {
  /// Installs the handler of the signal, above those that were installed meanwhile.
  package static func install() { runnel_storage_guard_index() }
}
