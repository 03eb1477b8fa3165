// A program whose databases are replicas of servers' databases needs only `import RunnelClient`,
// which re-exports `Runnel`.

@_exported public import Runnel
