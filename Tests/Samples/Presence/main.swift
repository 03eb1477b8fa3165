// Who is there: `presence FILE NAME` is online until it ends, however it ends, and prints who is.
import Runnel

let database = try await Database.open(file: CommandLine.arguments[1])
let online = try database.reference(withPath: "online")
let me = try online.child(CommandLine.arguments[2])
try await me.onDisconnectRemoveValue()
try await me.setValue(["since": ServerValue.timestamp.json])

for try await snapshot in online.values {
  print(snapshot.children.compactMap(\.key).joined(separator: " "))
  if !snapshot.exists { break }
}
