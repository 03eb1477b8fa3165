// The one import of a program: `import Runnel`. It passes on the libraries of which a program on a
// database of its own consists, and none that opens a socket.

@_exported public import RunnelBase
@_exported public import RunnelDatabase
@_exported public import RunnelStore
@_exported public import RunnelStreams
@_exported public import RunnelTree

// Other libraries have types of the same names. In a file that imports them too, these names are
// free of doubt.

/// `Database`, for files that import another library with a type of that name, such as GRDB.
public typealias TreeDatabase = Database

/// `DatabaseError`, for files that import another library with a type of that name, such as GRDB.
public typealias TreeDatabaseError = DatabaseError

/// `Record`, for files that import another library with a type of that name, such as GRDB.
public typealias TreeRecord = Record

/// `ActionLogEntry`, for files that import another library with a type of that name.
public typealias TreeLogEntry = ActionLogEntry
