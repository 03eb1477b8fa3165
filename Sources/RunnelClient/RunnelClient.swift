// `import RunnelClient` is the one import of a program whose databases are replicas of servers': it passes on
// `Runnel`, with all that a program on a database of its own needs.

@_exported public import Runnel
